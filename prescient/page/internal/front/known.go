package front

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"prescient/prescient/internal/bound"
	"prescient/prescient/ops/kind"
	"prescient/prescient/page/internal/look"
)

// Errors of the page itself.
var (
	errNoView = errors.New("there is no such page")
	errForm   = errors.New("no form")
	errQuery  = errors.New("no query")
)

// answerWithin is how long all of an answer may take.
const answerWithin = 2 * time.Minute

// known hands a request on with who sent it, and says what went wrong.
func (f *Front) known(next func(w http.ResponseWriter, r *http.Request, by User) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_ = http.NewResponseController(w).SetWriteDeadline(time.Now().Add(answerWithin)) // where the server lets it
		var by User
		_, err := guarded(r.Context(), func(context.Context) (_ struct{}, err error) {
			if by, err = f.o.Who(r); err != nil {
				f.away.note(err) // who somebody is stands in the database, too
				return struct{}{}, err
			}
			if wait := f.rates.Take(f.sender(r, by), time.Now()); wait > 0 {
				return struct{}{}, ErrTooMany
			}
			if _, err := url.ParseQuery(r.URL.RawQuery); err != nil { // what is left out of a filter would widen it
				return struct{}{}, errQuery
			}
			return struct{}{}, next(w, r, by)
		})
		switch {
		case errors.Is(err, ErrTooMany):
			f.o.Counts.Refused(bound.ByRate)
		case errors.Is(err, errBusy):
			f.o.Counts.Refused(bound.ByPlace)
		}
		if err != nil {
			f.wrong(w, r, by, err)
		}
	})
}

// sender is whose requests are counted together.
type sender struct {
	name string
	site netip.Prefix
}

func (f *Front) sender(r *http.Request, by User) sender {
	is := sender{name: by.Name}
	if by.Anyone {
		is.site = bound.Site(bound.Proxies(f.o.Proxies).Address(r))
	}
	return is
}

// kindOf is kind.Of, for errors of the page too.
func kindOf(err error) kind.Kind {
	switch {
	case errors.Is(err, errNoView):
		return kind.Kind{Title: "There is no such page", Detail: "Nothing is at this address.", Status: http.StatusNotFound}
	case errors.Is(err, errForm):
		return kind.Kind{Title: "The form cannot be read", Detail: "It may be too long.", Status: http.StatusBadRequest}
	case errors.Is(err, errQuery):
		return kind.Kind{Title: "The address cannot be read", Detail: "What stands behind its ? is not as it should be.", Status: http.StatusBadRequest}
	case errors.Is(err, ErrTooMany):
		return kind.Kind{Title: "Too many requests", Detail: "More requests came than may come from one.", Status: http.StatusTooManyRequests}
	case errors.Is(err, errBusy):
		return kind.Kind{Title: "Busy", Detail: "As many pages as are made at a time are under way.", Status: http.StatusServiceUnavailable, Again: true}
	case errors.Is(err, ErrNobody):
		return kind.Kind{Title: "Nobody is logged in", Detail: "This page is for those who are.", Status: http.StatusUnauthorized}
	}
	return kind.Of(err)
}

// lookAgain is how often a browser looks again where that may help.
const lookAgain = 5 * time.Second

// longestNext is how long an address may be that one comes back to by logging in.
const longestNext = 4000

// wrong answers what went wrong.
func (f *Front) wrong(w http.ResponseWriter, r *http.Request, by User, err error) {
	is := kindOf(err)
	if is.Status == http.StatusUnauthorized && f.o.Login != "" && (r.Method == http.MethodGet || r.Method == http.MethodHead) && r.Header.Get("Prescient-Refresh") == "" {
		next := f.Path(r.URL.Path) + queryOf(r)
		if len(next) > longestNext {
			next = f.Path(r.URL.Path)
		}
		http.Redirect(w, r, f.Path(f.o.Login, "next", next), http.StatusSeeOther)
		return
	}
	t := look.Trouble{Status: is.Status, Title: is.Title, Text: is.Detail, User: by.Name, Role: string(by.Role), Now: f.o.Now()}
	if is.Again {
		t.Again = lookAgain
	}
	if is.Status == http.StatusTooManyRequests {
		w.Header().Set("Retry-After", "1")
	}
	switch {
	case is.Away:
		t.Status, t.Title, t.Since = http.StatusServiceUnavailable, "The database is away", f.away.since()
		t.Do = "Checks are pending in the database, and are served when it is back."
	case is.Status == http.StatusUnprocessableEntity:
		t.Title = "This cannot be done"
	case is.Status == http.StatusForbidden:
		t.Title, t.Do = "Not allowed", "Ask somebody with that role, or an admin for it."
	}
	if is.Status >= http.StatusInternalServerError && !errors.Is(err, errBusy) {
		f.o.Log.Error().Err(err).Str("path", r.URL.Path).Msg("a page failed")
	}
	f.Wrong(w, r, t)
}

func queryOf(r *http.Request) string {
	if r.URL.RawQuery == "" {
		return ""
	}
	return "?" + r.URL.RawQuery
}

// away remembers since when the database does not answer.
type away struct {
	now func() time.Time
	mu  sync.Mutex
	at  time.Time
}

// note takes note of how a look went.
func (a *away) note(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.at = time.Time{}
	case a.at.IsZero() && kind.Of(err).Away:
		a.at = a.now()
	}
}

func (a *away) since() time.Time {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.at
}
