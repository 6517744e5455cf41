package look

import (
	"bytes"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"time"
)

// Page is what stands in the layout.
type Page struct {
	// Title names the page in the browser and in its heading; Place stands beside it.
	Title string
	// Here is the path below the base of the view that is shown, as in Options.Nav.
	Here string
	// User and Role are whose page it is; empty before somebody is known.
	User, Role string
	// Again is after how long it is worth looking again; 0 for never.
	Again time.Duration
	// Said is what was done a moment ago; empty for nothing.
	Said string
	// Body is made by templates of Parse.
	Body template.HTML
}

// Parse reads templates that have the functions and parts of ours.
func (s *Site) Parse(files fs.FS, patterns ...string) (*template.Template, error) {
	t, err := s.layout.Clone()
	if err != nil {
		return nil, fmt.Errorf("copying the layout: %w", err)
	}
	if t, err = t.ParseFS(files, patterns...); err != nil {
		return nil, fmt.Errorf("reading templates: %w", err)
	}
	return t, nil
}

// Body makes the body of a page.
func Body(t *template.Template, name string, data any) (template.HTML, error) {
	var text bytes.Buffer
	if err := t.ExecuteTemplate(&text, name, data); err != nil {
		return "", fmt.Errorf("writing the page: %w", err)
	}
	return template.HTML(text.String()), nil //nolint:gosec // html/template has escaped it
}

// laid is what the layout is given.
type laid struct {
	Page
	Place, Colour   string
	Nav             []Link
	Account, Logout string
}

func navOf(all []Link, role string) (nav []Link) {
	for _, l := range all {
		if len(l.Roles) == 0 || slices.Contains(l.Roles, role) {
			nav = append(nav, l)
		}
	}
	return nav
}

// Write answers a page.
func (s *Site) Write(w http.ResponseWriter, status int, p Page) error {
	var text bytes.Buffer
	o := s.options
	if err := s.layout.ExecuteTemplate(&text, "layout", laid{p, o.Place, o.Colour, navOf(o.Nav, p.Role), o.Account, o.Logout}); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(text.Len()))
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a reader that is gone is told nothing
	return nil
}

// Trouble is what went wrong, for the person who looks.
type Trouble struct {
	Status int
	// Title, Text and Do say what happened, to what, and what to do.
	Title, Text, Do string
	// Since is since when, where that is known, and Now when that was said.
	Since, Now time.Time
	// Again has the browser look again after so long: even without the script.
	Again time.Duration
	// User and Role are whose page it is.
	User, Role string
}

// Wrong answers a page that says what went wrong.
func (s *Site) Wrong(w http.ResponseWriter, r *http.Request, t Trouble) {
	if t.Again > 0 && (r.Method == http.MethodGet || r.Method == http.MethodHead) {
		w.Header().Set("Refresh", strconv.Itoa(int(t.Again.Seconds())))
		w.Header().Set("Retry-After", strconv.Itoa(int(t.Again.Seconds())))
	}
	body, err := Body(s.layout, "wrong", t)
	if err == nil {
		err = s.Write(w, t.Status, Page{Title: t.Title, User: t.User, Role: t.Role, Again: t.Again, Body: body})
	}
	if err != nil { // our own templates: a test shows all of them
		http.Error(w, t.Title+": "+t.Text, t.Status)
	}
}
