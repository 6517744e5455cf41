package front

import (
	"context"
	"crypto/rand"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strconv"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// Deed is something to do. It is asked for by a page that says what will happen, and done by what that page sends.
type Deed struct {
	// Path below the base, of the page and of what it sends.
	Path string
	// Title is the heading, and Button says what is done.
	Title, Button string
	// Role is the least that may do it.
	Role ops.Role
	// Of are the values of the address that say what it is done to. They stay in the address, as a field would not keep each character of a key.
	// The template has fields for others.
	Of []string
	// Template is the name of the template that gets what Ask returns.
	Template string
	// Ask looks for what will happen.
	Ask func(ctx context.Context, a Asked) (Shown, error)
	// Review has what was filled in shown once more before it is done; nil for a deed that its first page says all of.
	Review *Review
	// Do does it, and says where to go then.
	Do func(ctx context.Context, d Doing) (Done, error)
	// Told is the name of the template that gets what Do has told once; empty where it tells nothing.
	Told string
	// Said says what was done, to how many.
	Said func(count int) string
}

// Review is a page between the form of a deed and what it does.
type Review struct {
	// Next is the button that leads to it.
	Next string
	// Fields are the values of the form that it takes over, beside those of its address. The template may have others.
	Fields []string
	// Template is the name of the template that gets what Look returns.
	Template string
	// Look says what was filled in comes to. It gets no idempotency key: what it keeps is not the deed.
	Look func(ctx context.Context, d Doing) (Shown, error)
}

// Doing is what a deed works with: its caller has name, role, reason and idempotency key.
type Doing struct {
	Ops *ops.Ops
	By  ops.Caller
	*Query
}

// Done is what came of a deed.
type Done struct {
	// Path below the base of what is shown then, with its query: names and values in turn.
	Path  string
	Query []string
	// Count is to how many it was done.
	Count int
	// Once is for the template Told, a secret that was made: the answer itself has it, which nothing leads to again; nil for none.
	Once any
}

// The names of values that all deeds have, and of those that say what was done.
const (
	keyName, reasonName = "_key", "_reason"
	didName, countName  = "_did", "_count"
)

// StepName is the name of the value that says where a deed with a review is: seen once that was, back for the form again, and what else the
// buttons of its form say, which change the form alone: Ask reads it.
const StepName = "_step"

// Seen is the value of a review that was seen.
const Seen = "seen"

// longestForm is how long the form of a deed may be.
const longestForm = 2 << 20

// confirmation is what the template around that of a deed gets.
type confirmation struct {
	Action, Button, Key, Reason, Place, Problem string
	Query                                       []string // names and values in turn
	// Next is the button to the review of a deed that has one; Reviewed says that this is it, and Hidden are the values of the form then.
	Next     string
	Reviewed bool
	Hidden   []hidden
	Inner    template.HTML
}

type hidden struct{ Name, Value string }

// confirm serves the page that asks whether a deed is to be done.
func (f *Front) confirm(d Deed, t *template.Template) func(w http.ResponseWriter, r *http.Request, by User) error {
	return func(w http.ResponseWriter, r *http.Request, by User) error {
		values := r.URL.Query()
		values.Del(keyName) // with a key of another's choosing a deed might seem to be done already
		return f.ask(w, r, by, d, t, values, http.StatusOK, "")
	}
}

func (f *Front) ask(w http.ResponseWriter, r *http.Request, by User, d Deed, t *template.Template, values url.Values, status int, problem string) error {
	if err := (ops.Info{ID: d.Title, Role: d.Role}).Allow(ops.Caller{Role: by.Role}); err != nil {
		return err
	}
	leave, err := f.places.take(r.Context(), by.Name)
	if err != nil {
		return err
	}
	defer leave()
	a := Asked{Ops: f.ops, By: ops.Caller{Name: "page", Role: by.Role}, Query: NewQuery(values), Now: f.o.Now()}
	shown, err := d.Ask(r.Context(), a)
	f.away.note(err)
	if err != nil {
		return err
	}
	return f.fill(w, by, d, t, values, status, shown, confirmation{Problem: problem})
}

// fill writes the page of a deed around what it shows.
func (f *Front) fill(w http.ResponseWriter, by User, d Deed, t *template.Template, values url.Values, status int, shown Shown, c confirmation) error {
	name := d.Template
	if c.Reviewed {
		name = d.Review.Template
	}
	c.Action, c.Button, c.Key, c.Reason, c.Place = d.Path, d.Button, values.Get(keyName), values.Get(reasonName), f.o.Place
	if c.Key == "" {
		c.Key = rand.Text()
	}
	for _, name := range d.Of {
		for _, value := range values[name] {
			c.Query = append(c.Query, name, value)
		}
	}
	switch {
	case c.Reviewed:
		for _, name := range d.Review.Fields {
			for _, value := range values[name] {
				c.Hidden = append(c.Hidden, hidden{name, value})
			}
		}
	case d.Review != nil:
		c.Next = d.Review.Next
	}
	var err error
	if c.Inner, err = look.Body(t, name, shown.Data); err != nil {
		return err
	}
	body, err := look.Body(f.common, "confirm", c)
	if err != nil {
		return err
	}
	title := shown.Title
	if title == "" {
		title = d.Title
	}
	return f.Write(w, status, look.Page{Title: title, User: by.Name, Role: string(by.Role), Body: body})
}

// do does a deed that its page sent.
func (f *Front) do(d Deed, t *template.Template) func(w http.ResponseWriter, r *http.Request, by User) error {
	return func(w http.ResponseWriter, r *http.Request, by User) error {
		r.Body = http.MaxBytesReader(w, r.Body, longestForm)
		if err := r.ParseForm(); err != nil {
			return fmt.Errorf("%w: the form cannot be read: %w", errForm, err)
		}
		values, of := r.PostForm, r.URL.Query()
		for _, name := range d.Of {
			values[name] = of[name]
		}
		step := values.Get(StepName)
		if d.Review != nil && step != "" && step != Seen {
			return f.ask(w, r, by, d, t, values, http.StatusOK, "")
		}
		doing := Doing{Ops: f.ops, Query: NewQuery(values),
			By: ops.Caller{Name: by.Name, Role: by.Role, Host: f.Address(r), Reason: values.Get(reasonName), Key: values.Get(keyName)}}
		if err := (ops.Info{ID: d.Title, Role: d.Role}).Allow(doing.By); err != nil {
			return err
		}
		review := d.Review != nil && step != Seen
		shown, done, err := f.step(r.Context(), d, doing, review)
		f.away.note(err)
		if err != nil {
			is := kindOf(err)
			if is.Status >= http.StatusInternalServerError || is.Status == http.StatusForbidden || is.Status == http.StatusNotFound {
				return err
			}
			return f.ask(w, r, by, d, t, values, is.Status, is.Detail)
		}
		if review {
			return f.fill(w, by, d, t, values, http.StatusOK, shown, confirmation{Reviewed: true})
		}
		if done.Once != nil {
			body, err := look.Body(t, d.Told, done.Once)
			if err != nil {
				return err
			}
			return f.Write(w, http.StatusOK, look.Page{Title: d.Title, User: by.Name, Role: string(by.Role), Said: d.Said(done.Count), Body: body})
		}
		query := append(append([]string{}, done.Query...), didName, d.Path, countName, strconv.Itoa(done.Count))
		http.Redirect(w, r, f.Path(done.Path, query...), http.StatusSeeOther)
		return nil
	}
}

// step does a deed, or looks what it comes to.
func (f *Front) step(ctx context.Context, d Deed, doing Doing, review bool) (shown Shown, done Done, err error) {
	leave, err := f.places.take(ctx, doing.By.Name)
	if err != nil {
		return shown, done, err
	}
	defer leave()
	if review {
		doing.By.Key = ""
		shown, err = d.Review.Look(ctx, doing)
		return shown, done, err
	}
	defer f.shared.forget()
	done, err = d.Do(ctx, doing)
	return shown, done, err
}

// said is what a deed said that led to this page. Others may make such an address; it says nothing but what deeds say.
func (f *Front) said(q url.Values) string {
	n, err := strconv.Atoi(q.Get(countName))
	say := f.says[q.Get(didName)]
	if err != nil || n < 0 || say == nil {
		return ""
	}
	return say(n)
}

// StillIs refuses a form that was made of another version than there is, with the error for that.
func StillIs(stale error, is, seen uint64) error {
	if seen == 0 || seen == is {
		return nil
	}
	return fmt.Errorf("%w: it has version %d by now, not %d: compare with what it is, and send the form again", stale, is, seen)
}
