package page_test

import (
	"encoding/xml"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"prescient/prescient/ops"
)

// visitor is somebody with a browser without JavaScript, who knows what stands on the page before them, and nothing else.
type visitor struct {
	*testing.T
	r      *testRig
	role   ops.Role
	at     reply
	clicks int
}

// visits opens the first page.
func (r *testRig) visits(t *testing.T, role ops.Role) *visitor {
	t.Helper()
	return &visitor{T: t, r: r, role: role, at: r.get(role, "/p/").wants(t, http.StatusOK)}
}

// sees fails where a text is not to be read.
func (v *visitor) sees(texts ...string) {
	v.Helper()
	read := strings.Join(strings.Fields(v.page().text.String()), " ")
	for _, text := range texts {
		if !strings.Contains(read, text) {
			v.Errorf("%q is not to be read in: %s", text, read)
		}
	}
}

// follows clicks the link of a text.
func (v *visitor) follows(text string) {
	v.Helper()
	to, is := v.page().links[text]
	if !is {
		v.Fatalf("no link says %q in %s", text, v.at.Body)
	}
	v.clicks++
	v.at = v.r.get(v.role, to).wants(v.T, http.StatusOK)
}

// presses types into fields of the form that has a button, and clicks that.
func (v *visitor) presses(button string, fields ...string) {
	v.Helper()
	all := v.page().forms
	at := slices.IndexFunc(all, func(f *sheet) bool { return f.buttons[button] != nil })
	if at < 0 {
		v.Fatalf("no button says %q in %s", button, v.at.Body)
	}
	form := all[at]
	for i := 0; i < len(fields); i += 2 {
		if !form.values.Has(fields[i]) {
			v.Fatalf("the form has no field %q: %v", fields[i], form.values)
		}
		form.values.Set(fields[i], fields[i+1])
	}
	if pressed := form.buttons[button]; pressed["name"] != "" {
		form.values.Set(pressed["name"], pressed["value"])
	}
	v.clicks++
	if form.method != "post" {
		v.at = v.r.get(v.role, form.action+"?"+form.values.Encode()).wants(v.T, http.StatusOK)
		return
	}
	v.at = v.r.fills(v.role, form.action, form.values)
	if v.at.Code == http.StatusSeeOther {
		v.at = v.r.get(v.role, v.at.Header.Get("Location"))
	}
	v.at.wants(v.T, http.StatusOK)
}

// seenPage is what there is to read and to click on a page.
type seenPage struct {
	text  strings.Builder
	links map[string]string // addresses by the first link of a text
	forms []*sheet
}

// sheet is a form: what it sends where nothing is changed, and its buttons by their text.
type sheet struct {
	method, action string
	values         url.Values
	buttons        map[string]map[string]string
}

func (v *visitor) page() *seenPage {
	d := xml.NewDecoder(strings.NewReader(v.at.Body))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	p := &seenPage{links: make(map[string]string)}
	var list, area, href string
	var inner *strings.Builder // of the link, button or textarea that is open
	var button map[string]string
	form := new(sheet)
	for {
		token, err := d.Token()
		if err != nil {
			return p
		}
		switch e := token.(type) {
		case xml.StartElement:
			is := attributes(e)
			_, checked := is["checked"]
			_, selected := is["selected"]
			switch e.Name.Local {
			case "td", "th", "p", "li":
				p.text.WriteString(" ")
			case "form":
				form = &sheet{method: is["method"], action: is["action"], values: make(url.Values), buttons: make(map[string]map[string]string)}
				p.forms = append(p.forms, form)
			case "input":
				if is["type"] != "checkbox" || checked {
					form.values.Add(is["name"], is["value"])
				}
			case "select":
				list = is["name"]
			case "option":
				if selected || !form.values.Has(list) {
					form.values.Set(list, is["value"])
				}
			case "a":
				href, inner = is["href"], new(strings.Builder)
			case "button":
				button, inner = is, new(strings.Builder)
			case "textarea":
				area, inner = is["name"], new(strings.Builder)
			}
		case xml.EndElement:
			said := ""
			if inner != nil {
				said = strings.Join(strings.Fields(inner.String()), " ")
			}
			switch e.Name.Local {
			case "a":
				if _, is := p.links[said]; !is {
					p.links[said] = href
				}
				inner = nil
			case "button":
				if form.buttons != nil {
					form.buttons[said] = button
				}
				inner = nil
			case "textarea":
				form.values.Set(area, strings.ReplaceAll(strings.TrimPrefix(inner.String(), "\n"), "\n", "\r\n"))
				inner = nil
			case "form":
				form = new(sheet)
			}
		case xml.CharData:
			p.text.Write(e)
			if inner != nil {
				inner.Write(e)
			}
		}
	}
}
