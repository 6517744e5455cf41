package login

import (
	"embed"
	"errors"
	"net/http"
	"strconv"
	"time"

	"prescient/prescient/internal/password"
	"prescient/prescient/ops"
	"prescient/prescient/page"
	"prescient/prescient/page/internal/look"
)

//go:embed templates/*.html
var templates embed.FS

// mostForm is how long a form may be.
const mostForm = 16 << 10

// form reads the form of a request, and says whether it could.
func (l *Login) form(w http.ResponseWriter, r *http.Request) bool {
	r.Body = http.MaxBytesReader(w, r.Body, mostForm)
	if err := r.ParseForm(); err != nil {
		l.site.Wrong(w, r, look.Trouble{Status: http.StatusBadRequest, Title: "Not a form of ours", Text: "What was sent could not be read.", Do: "Open the page anew, and send it from there."})
		return false
	}
	return true
}

// show answers a page.
func (l *Login) show(w http.ResponseWriter, r *http.Request, status int, title, name string, s session, data any) {
	body, err := look.Body(l.pages, name, data)
	if err == nil {
		err = l.site.Write(w, status, look.Page{Title: title, Here: Path, User: s.person, Role: string(s.role), Body: body})
	}
	if err != nil {
		l.failed(w, r, err)
	}
}

// failed answers that something failed which is nobody's fault who asks: the database, mostly.
func (l *Login) failed(w http.ResponseWriter, r *http.Request, err error) {
	switch {
	case r.Context().Err() != nil:
		return // nobody is there to be told
	case errors.Is(err, page.ErrTooMany):
		l.slow(w, r, 0)
		return
	case errors.Is(err, password.ErrBusy):
		w.Header().Set("Retry-After", "5")
		l.site.Wrong(w, r, look.Trouble{Status: http.StatusServiceUnavailable, Title: "Many sign in", Text: "Too many people sign in at this moment.", Do: "Go back, and try it again in some seconds."})
		return
	}
	l.log.Error().Err(err).Str("path", r.URL.Path).Msg("signing in failed")
	l.site.Wrong(w, r, look.Trouble{Status: http.StatusServiceUnavailable, Title: "The database is away", Text: "The database does not answer as it should, so nobody can sign in.",
		Do: "The log of the server says why.", Again: 5 * time.Second})
}

// slow answers somebody who tries too often.
func (l *Login) slow(w http.ResponseWriter, r *http.Request, wait time.Duration) {
	seconds := int(wait/time.Second) + 1
	w.Header().Set("Retry-After", strconv.Itoa(seconds))
	l.site.Wrong(w, r, look.Trouble{Status: http.StatusTooManyRequests, Title: "Too many tries", Text: "There were too many tries to sign in, so this one was not looked at.",
		Do: "Go back, and try it again in " + look.Duration(time.Duration(seconds)*time.Second) + "."})
}

// loginForm is what the page for signing in shows.
type loginForm struct {
	Next, Name string
	Wrong      bool
	Provider   string // its path; empty for none
}

func (l *Login) loginForm(next, name string, wrong bool) loginForm {
	f := loginForm{Next: next, Name: name, Wrong: wrong}
	if l.provider != nil {
		f.Provider = l.site.Path(pathProvider, "next", next)
	}
	return f
}

func (l *Login) showLogin(w http.ResponseWriter, r *http.Request) {
	next := l.site.Local(r.URL.Query().Get("next"))
	switch _, err := l.session(r); {
	case err == nil:
		http.Redirect(w, r, next, http.StatusSeeOther)
	case !errors.Is(err, ops.ErrUnauthorized) && !errors.Is(err, page.ErrTooMany):
		l.failed(w, r, err)
	default:
		l.show(w, r, http.StatusOK, "Sign in", "login", session{}, l.loginForm(next, "", false))
	}
}

// passwordForm is what the page for changing the password shows.
type passwordForm struct {
	ByProvider, Changed bool
	Wrong               string
	Shortest            int
}

func (l *Login) showPassword(w http.ResponseWriter, r *http.Request) {
	s, is := l.signedIn(w, r)
	if is {
		l.password(w, r, http.StatusOK, s, passwordForm{Changed: r.URL.Query().Get("changed") == "1"})
	}
}

func (l *Login) password(w http.ResponseWriter, r *http.Request, status int, s session, f passwordForm) {
	f.ByProvider, f.Shortest = s.byProvider, password.Shortest
	l.show(w, r, status, "Your password", "password", s, f)
}

// signedIn is the session of a request; is is false where there is none, and the request is answered.
func (l *Login) signedIn(w http.ResponseWriter, r *http.Request) (s session, is bool) {
	s, err := l.session(r)
	switch {
	case err == nil:
		return s, true
	case errors.Is(err, ops.ErrUnauthorized):
		http.Redirect(w, r, l.site.Path(Path, "next", l.site.Path(pathPassword)), http.StatusSeeOther)
	default:
		l.failed(w, r, err)
	}
	return s, false
}
