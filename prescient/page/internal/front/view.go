package front

import (
	"context"
	"html/template"
	"net/http"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// View is something to look at.
type View struct {
	// Path below the base, as in /slots, and / for the first.
	Path string
	// Title is the heading, where Show gives none; Nav is how the navigation calls the view, empty where it is not there.
	Title, Nav string
	// Role is the least that may look.
	Role ops.Role
	// Template is the name of the template that gets what Show returns.
	Template string
	// Show asks for what is shown. It knows the role that looks and nothing else of who it is: others of the role are shown the same.
	Show func(ctx context.Context, a Asked) (Shown, error)
}

// Asked is what a view or a confirmation is asked.
type Asked struct {
	Ops *ops.Ops
	// By has the role alone.
	By ops.Caller
	*Query
	// Now is the clock of this process: what a page says of the database's it has from an operation.
	Now time.Time
}

// Operator says whether those who look may change checks, schedules and jobs; Admin is for what admins do.
func (a Asked) Operator() bool { return a.By.Role.May(ops.Operator) }

// Admin says whether those who look are admins.
func (a Asked) Admin() bool { return a.By.Role.May(ops.Admin) }

// Shown is what a view shows.
type Shown struct {
	// Title is the heading; that of the view where it is empty.
	Title string
	// Again is after how long it is worth looking again; 0 for never.
	Again time.Duration
	// Data is for the template.
	Data any
}

// built is a view as it was made for all of a role.
type built struct {
	title string
	again time.Duration
	body  template.HTML
}

// see serves a view.
func (f *Front) see(v View, t *template.Template) func(w http.ResponseWriter, r *http.Request, by User) error {
	return func(w http.ResponseWriter, r *http.Request, by User) error {
		if err := (ops.Info{ID: v.Title, Role: v.Role}).Allow(ops.Caller{Role: by.Role}); err != nil {
			return err
		}
		q := r.URL.Query()
		said := f.said(q)
		q.Del(didName)
		q.Del(countName)
		is, err := f.shared.get(r.Context(), string(by.Role)+" "+v.Path+"?"+q.Encode(), func(ctx context.Context) (built, error) {
			return f.build(ctx, by.Name, v, t, Asked{Ops: f.ops, By: ops.Caller{Name: "page", Role: by.Role}, Query: NewQuery(q), Now: f.o.Now()})
		})
		f.away.note(err)
		if err != nil {
			return err
		}
		return f.Write(w, http.StatusOK, look.Page{Title: is.title, Here: v.Path, User: by.Name, Role: string(by.Role), Again: is.again, Said: said, Body: is.body})
	}
}

// build makes a view; who is first asks for it in a place of theirs.
func (f *Front) build(ctx context.Context, user string, v View, t *template.Template, a Asked) (is built, err error) {
	leave, err := f.places.take(ctx, user)
	if err != nil {
		return is, err
	}
	defer leave()
	shown, err := v.Show(ctx, a)
	if err != nil {
		return is, err
	}
	if err := a.Err(); err != nil {
		return is, err
	}
	is.title, is.again = shown.Title, shown.Again
	if is.title == "" {
		is.title = v.Title
	}
	is.body, err = look.Body(t, v.Template, shown.Data)
	return is, err
}

// UntilSlot is how long it is from now until a slot has come and its run has begun.
func UntilSlot(now time.Time, resolution time.Duration) time.Duration {
	if resolution <= 0 {
		return time.Minute
	}
	const begun = 3 * time.Second
	now = now.UTC()
	day := now.Truncate(24 * time.Hour)
	return resolution - now.Sub(day)%resolution + begun
}
