package login

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/alexedwards/scs/v2"
	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/audit"
	"prescient/prescient/internal/bound"
	"prescient/prescient/internal/password"
	"prescient/prescient/internal/store"
	"prescient/prescient/ops"
	"prescient/prescient/page"
	"prescient/prescient/page/internal/look"
	text "prescient/sql"
)

// DefaultLifetime is how long a session is good, whatever is done in it, and DefaultIdle where nothing is.
const (
	DefaultLifetime = 12 * time.Hour
	DefaultIdle     = 2 * time.Hour
)

// Options are for New.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default.
	Dialect text.Dialect
	// BaseURL, Place, Colour and Proxies are those of the page.
	BaseURL, Place, Colour string
	Proxies                []netip.Prefix
	// Lifetime is how long a session is good, and Idle how long it may be unused; DefaultLifetime and DefaultIdle by default.
	Lifetime, Idle time.Duration
	// OIDC is the provider by which others sign in; none by default.
	OIDC OIDC
	// Log gets who signed in, and what went wrong; nothing by default.
	Log zerolog.Logger
}

// Login has people sign in. It is for concurrent use.
type Login struct {
	site      *look.Site
	pages     *template.Template
	sessions  *sessions
	manager   *scs.SessionManager
	passwords *password.Hasher
	ofKnown   *password.Hasher // for browsers that are known, and those signed in
	strangers *bound.Strangers
	audit     audit.Log
	throttle  *throttle
	provider  *provider // nil for none
	known     string    // the name of the cookie of browsers that somebody signed in by
	log       zerolog.Logger
	now       func() time.Time
	handler   http.Handler
}

// New reads slot_config. db is a pool of connect.Open, of the account serve-door. The error wraps prescient.ErrNotMigrated or prescient.ErrInvalid.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Login, error) {
	site, err := look.New(look.Options{BaseURL: o.BaseURL, Place: o.Place, Colour: o.Colour, Proxies: o.Proxies, Account: pathPassword, Logout: pathLogout})
	if err != nil {
		return nil, err
	}
	l := &Login{site: site, passwords: password.NewHasher(), ofKnown: password.NewHasher(), strangers: bound.NewStrangers(), throttle: newThrottle(), log: o.Log, now: time.Now}
	if l.pages, err = site.Parse(templates, "templates/*.html"); err != nil {
		return nil, err
	}
	if l.provider, err = newProvider(o.OIDC, site, o.BaseURL); err != nil {
		return nil, err
	}
	tables, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	l.audit = audit.On(&tables)
	lifetime := cmp.Or(o.Lifetime, DefaultLifetime)
	l.sessions = newSessions(db, &tables, o.Log, func() time.Time { return l.now() })
	l.sessions.lifetime, l.sessions.idle = lifetime, min(cmp.Or(o.Idle, DefaultIdle), lifetime)
	id := sha256.Sum256([]byte(o.BaseURL)) // two installations on one host have cookies of their own: ports do not tell them apart
	name := "prescient-" + hex.EncodeToString(id[:4])
	// Not by scs.New: what that makes has a store in memory, which cleans itself for ever.
	m := &scs.SessionManager{Store: l.sessions, Codec: codec{}, Lifetime: lifetime}
	m.Cookie = scs.SessionCookie{Name: name, Path: cmp.Or(site.Prefix(), "/"), Secure: site.Secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode, Persist: true}
	l.known = name + "-known"
	if site.Secure() {
		m.Cookie.Name, l.known = hardened(site, name), "__Secure-"+l.known
	}
	l.manager = m
	return l, l.route()
}

// hardened is the name of a cookie that a browser takes over TLS alone, and for no host but this where the page has the host for itself.
func hardened(site *look.Site, name string) string {
	if site.Prefix() == "" {
		return "__Host-" + name
	}
	return "__Secure-" + name
}

// The paths below the base.
const (
	// Path is where people sign in; its value next is where they go then.
	Path         = "/login"
	pathProvider = "/login/provider"
	pathCallback = "/login/callback"
	pathLogout   = "/logout"
	pathPassword = "/password"
)

func (l *Login) route() error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET "+Path, l.showLogin)
	mux.HandleFunc("POST "+Path, l.login)
	mux.HandleFunc("POST "+pathLogout, l.logout)
	mux.HandleFunc("GET "+pathPassword, l.showPassword)
	mux.HandleFunc("POST "+pathPassword, l.changePassword)
	if l.provider != nil {
		mux.HandleFunc("GET "+pathProvider, l.toProvider)
		mux.HandleFunc("GET "+pathCallback, l.fromProvider)
	}
	var err error
	l.handler, err = l.site.Handler(mux)
	return err
}

// Handler answers requests for signing in and out and for changing the password, below the base or without its prefix, and hands others to next, as it
// does those for the files that pages have.
func (l *Login) Handler(next http.Handler) http.Handler {
	mine := []string{Path, pathProvider, pathCallback, pathLogout, pathPassword}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if slices.Contains(mine, strings.TrimPrefix(r.URL.Path, l.site.Prefix())) || slices.Contains(mine, r.URL.Path) {
			l.handler.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// Who says who sent a request, by its session. The error wraps ops.ErrUnauthorized where there is none, and page.ErrTooMany where too many that are no good
// came from the address; else it comes from the database.
func (l *Login) Who(r *http.Request) (name string, role ops.Role, err error) {
	s, err := l.session(r)
	return s.person, s.role, err
}

// session is that of a request. The error is that of Who.
func (l *Login) session(r *http.Request) (session, error) {
	cookie, err := r.Cookie(l.manager.Cookie.Name)
	if err != nil {
		return session{}, fmt.Errorf("%w: there is no session", ops.ErrUnauthorized)
	}
	from := bound.NewStranger(l.site.Address(r), cookie.Value)
	if !l.strangers.Wait(r.Context(), from, l.now()) {
		return session{}, fmt.Errorf("%w: too many sessions that are none came from the address", page.ErrTooMany)
	}
	ctx, err := l.manager.Load(r.Context(), cookie.Value)
	if err != nil {
		return session{}, err
	}
	var s session
	is := l.manager.Token(ctx) != ""
	if is {
		s, is, err = l.sessions.find(r.Context(), cookie.Value) // as it is remembered from the look before
	}
	switch {
	case err != nil:
		return session{}, err
	case !is:
		l.strangers.Bad(from)
		return session{}, fmt.Errorf("%w: the session is over", ops.ErrUnauthorized)
	}
	l.strangers.Good(from)
	return s, nil
}

// begin begins a session in the place of the one that the request had, so that nobody has prepared it. is is false where what somebody signed in by is not
// good any more.
func (l *Login) begin(w http.ResponseWriter, r *http.Request, b beginning) (is bool, err error) {
	if old, err := r.Cookie(l.manager.Cookie.Name); err == nil {
		if err := l.sessions.DeleteCtx(r.Context(), old.Value); err != nil {
			return false, err
		}
	}
	ctx, err := l.manager.Load(context.WithValue(r.Context(), beginningKey{}, &b), "")
	if err != nil {
		return false, err
	}
	by := "password"
	if b.role != "" {
		by = "provider"
	}
	l.manager.Put(ctx, "by", by)
	token, ends, err := l.manager.Commit(ctx)
	if errors.Is(err, errNotBegun) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	l.strangers.Good(bound.NewStranger(b.host, token))
	l.manager.WriteSessionCookie(ctx, w, token, ends)
	w.Header().Set("Cache-Control", "no-store")
	l.log.Info().Str("person", b.person).Str("by", by).Str("from", b.host).Msg("signed in")
	return true, nil
}
