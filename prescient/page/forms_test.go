package page_test

import (
	"encoding/xml"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"prescient/prescient/ops"
)

// filled is where the form of a page's deed is sent, and what a browser would send that changed nothing and pressed no button with a name.
func (got reply) filled(t *testing.T) (action string, form url.Values) {
	t.Helper()
	form = make(url.Values)
	_, deed, found := strings.Cut(got.Body, `<form class="deed"`)
	if !found {
		t.Fatalf("there is no deed in %s", got.Body)
	}
	deed, _, _ = strings.Cut(deed, "</form>")
	d := xml.NewDecoder(strings.NewReader("<form" + deed + "</form>"))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	var list, text string // the select or textarea that is open
	chosen := true        // a select has a value already
	last := func(name, value string) { form[name][len(form[name])-1] = value }
	for {
		token, err := d.Token()
		if err != nil {
			return action, form
		}
		switch e := token.(type) {
		case xml.StartElement:
			is := attributes(e)
			_, checked := is["checked"]
			_, selected := is["selected"]
			switch e.Name.Local {
			case "form":
				action = is["action"]
			case "input":
				if is["type"] != "checkbox" || checked {
					form.Add(is["name"], is["value"])
				}
			case "select":
				list, chosen = is["name"], false
			case "option":
				switch {
				case !chosen:
					form.Add(list, is["value"])
				case selected:
					last(list, is["value"])
				}
				chosen = true
			case "textarea":
				text = is["name"]
				form.Add(text, "")
			}
		case xml.EndElement:
			if e.Name.Local == "textarea" {
				typed := form[text][len(form[text])-1]
				last(text, strings.ReplaceAll(strings.TrimPrefix(typed, "\n"), "\n", "\r\n"))
				text = ""
			}
		case xml.CharData:
			if text != "" {
				last(text, form[text][len(form[text])-1]+string(e))
			}
		}
	}
}

func set(form url.Values, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		form.Set(pairs[i], pairs[i+1])
	}
}

// fills sends a form to an address.
func (r *testRig) fills(role ops.Role, address string, form url.Values) reply {
	r.T.Helper()
	req := httptest.NewRequestWithContext(r.T.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	req.Header.Set("User", string(role))
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Sec-Fetch-Site", "same-origin")
	got := send(r.handler, req)
	if got.Code != http.StatusSeeOther {
		checkPage(r.T, address, got.Body)
	}
	return got
}
