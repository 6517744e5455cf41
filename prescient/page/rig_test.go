package page_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/page"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation whose page is served to users whose names are those of their roles.
type testRig struct {
	*served.Rig
	handler http.Handler
}

const base = "https://ops.example.org/p"

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: served.New(t, d, 15*time.Minute)}
		r.serveAt(rig.At("10:00"))
		test(t, r)
	})
}

// serveAt has the page see a server whose clock stands still, and nothing of what it kept.
func (r *testRig) serveAt(now time.Time) {
	r.T.Helper()
	r.handler = handler(r.T, r.OpsAt(now), page.Options{Now: func() time.Time { return now }})
}

func handler(t *testing.T, o *ops.Ops, options page.Options) http.Handler {
	t.Helper()
	options.BaseURL, options.Place, options.Colour, options.Who, options.Rate = base, "shop <test>", "teal", who, max(options.Rate, 1e6)
	h, err := page.New(o, options)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// who takes the header User for the name of a role.
func who(r *http.Request) (page.User, error) {
	name := r.Header.Get("User")
	if name == "" {
		return page.User{}, fmt.Errorf("%w: the header User is missing", page.ErrNobody)
	}
	role, err := ops.ParseRole(name)
	return page.User{Name: name, Role: role}, err
}

// reply is what a request was answered.
type reply struct {
	Code   int
	Header http.Header
	Body   string
}

func send(h http.Handler, r *http.Request) reply {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return reply{w.Code, w.Header(), w.Body.String()}
}

// look asks for a view, and fails where it is not what a page should be.
func (r *testRig) look(role ops.Role, path string, query ...string) reply {
	r.T.Helper()
	values := make(url.Values)
	for i := 0; i < len(query); i += 2 {
		values.Add(query[i], query[i+1])
	}
	return r.get(role, "/p"+path+"?"+values.Encode())
}

func (r *testRig) get(role ops.Role, address string) reply {
	r.T.Helper()
	got := r.asks(role, address)
	checkPage(r.T, address, got.Body)
	return got
}

// asks asks for what may be no page.
func (r *testRig) asks(role ops.Role, address string) reply {
	r.T.Helper()
	req := httptest.NewRequestWithContext(r.T.Context(), http.MethodGet, address, nil)
	req.Header.Set("User", string(role))
	return send(r.handler, req)
}

// sends sends a form to an address.
func (r *testRig) sends(role ops.Role, address string, form map[string]string) reply {
	r.T.Helper()
	values := make(url.Values)
	for name, value := range form {
		values.Set(name, value)
	}
	return r.fills(role, address, values)
}

// wants fails where a reply has another state or not all of these texts.
func (got reply) wants(t *testing.T, code int, texts ...string) reply {
	t.Helper()
	if got.Code != code {
		t.Fatalf("%d: %s; want %d", got.Code, got.Body, code)
	}
	for _, text := range texts {
		if !strings.Contains(got.Body, text) {
			t.Errorf("%q is missing in %s", text, got.Body)
		}
	}
	return got
}

// lacks fails where a reply has one of these texts.
func (got reply) lacks(t *testing.T, texts ...string) reply {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(got.Body, text) {
			t.Errorf("%q is in %s", text, got.Body)
		}
	}
	return got
}

// form is where the form of a page's deed is sent, and the names and values of its fields.
func (got reply) form(t *testing.T) (action string, all map[string]string) {
	t.Helper()
	all = make(map[string]string)
	_, deed, found := strings.Cut(got.Body, `<form class="deed"`)
	if !found {
		t.Fatalf("there is no deed in %s", got.Body)
	}
	deed, _, _ = strings.Cut(deed, "</form>")
	read(t, "<form"+deed+"</form>", func(e xml.StartElement) {
		is := attributes(e)
		if is["name"] != "" {
			all[is["name"]] = is["value"]
		}
		if e.Name.Local == "form" {
			action = is["action"]
		}
	})
	return action, all
}

func attributes(e xml.StartElement) map[string]string {
	all := make(map[string]string)
	for _, a := range e.Attr {
		all[a.Name.Local] = a.Value
	}
	return all
}

// read reads the elements of HTML.
func read(t *testing.T, text string, each func(e xml.StartElement)) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Errorf("%v in %s", err, text)
			return
		}
		if e, is := token.(xml.StartElement); is {
			each(e)
		}
	}
}

// checkPage fails where a page has what the policy forbids, or lacks what those need who do not see it.
func checkPage(t *testing.T, what, text string) {
	t.Helper()
	ids, labels, fields := make(map[string]int), make(map[string]bool), make(map[string]bool)
	var level, tables, captions, mains int
	wrong := func(format string, args ...any) { t.Helper(); t.Errorf("%s: %s", what, fmt.Sprintf(format, args...)) }
	read(t, text, func(e xml.StartElement) {
		is := attributes(e)
		for name, value := range is {
			if name == "style" || strings.HasPrefix(name, "on") {
				wrong("%s has %s", e.Name.Local, name)
			}
			if (name == "href" || name == "src" || name == "action") && !strings.HasPrefix(value, "/p/") && !strings.HasPrefix(value, "#") {
				wrong("%s leads to %q", e.Name.Local, value)
			}
		}
		if id := is["id"]; id != "" {
			if ids[id]++; ids[id] > 1 {
				wrong("two have the id %q", id)
			}
		}
		switch name := e.Name.Local; name {
		case "h1", "h2", "h3", "h4":
			next := int(name[1] - '0')
			if next > level+1 || next == 1 && level > 0 {
				wrong("%s follows h%d", name, level)
			}
			level = next
		case "table":
			tables++
		case "caption":
			captions++
		case "main":
			mains++
		case "th":
			if is["scope"] == "" {
				wrong("a th has no scope")
			}
		case "label":
			labels[is["for"]] = true
		case "input", "select", "textarea":
			if is["type"] != "hidden" {
				fields[is["id"]] = true
			}
		case "script":
			if !strings.HasPrefix(is["src"], "/p/assets/") {
				wrong("there is a script: %v", e)
			}
		case "iframe", "object", "embed", "base", "meta", "style", "img":
			if name != "meta" || is["http-equiv"] != "" {
				wrong("there is a %s: %v", name, e)
			}
		}
	})
	if tables != captions || mains != 1 || level == 0 {
		wrong("%d tables have %d captions, %d mains, headings to h%d", tables, captions, mains, level)
	}
	for id := range maps.Keys(fields) {
		if !labels[id] {
			wrong("the field %q has no label", id)
		}
	}
}
