package login

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/password"
	"prescient/prescient/internal/store"
	"prescient/prescient/ops"
)

// tryWithin is how long somebody waits for others whose passwords are being tried.
const tryWithin = 5 * time.Second

func (l *Login) login(w http.ResponseWriter, r *http.Request) {
	host := l.site.Address(r)
	if wait := l.throttle.waitAt(l.now(), host); wait > 0 {
		l.log.Warn().Str("from", host).Msg("too many tries to sign in from an address")
		l.slow(w, r, wait)
		return
	}
	if !l.form(w, r) {
		return
	}
	name, next := r.PostForm.Get("name"), l.site.Local(r.PostForm.Get("next"))
	hash, err := l.hashOf(r.Context(), name)
	if err != nil {
		l.failed(w, r, err)
		return
	}
	known := l.knownCookie(r, hash)
	if wait := l.waitOfAccount(name, hash, known); wait > 0 {
		l.warn(host, name, hash).Msg("too many tries to sign in to an account")
		l.slow(w, r, wait)
		return
	}
	passwords := l.passwords
	if known != "" { // however many strangers try
		passwords = l.ofKnown
	}
	is, err := tried(r.Context(), passwords, r.PostForm.Get("password"), hash)
	if err == nil && is {
		is, err = l.begin(w, r, beginning{person: name, host: host, hash: hash})
	}
	switch {
	case err != nil:
		l.failed(w, r, err)
	case !is:
		l.warn(host, name, hash).Msg("somebody could not sign in")
		if !utf8Name(name) {
			name = ""
		}
		l.show(w, r, http.StatusUnauthorized, "Sign in", "login", session{}, l.loginForm(next, name, true))
	default:
		l.setKnown(w, hash)
		http.Redirect(w, r, next, http.StatusSeeOther)
	}
}

func utf8Name(name string) bool { return prescient.ValidText("name", name, 128) == nil }

// logEvent is a line of the log.
type logEvent interface{ Msg(text string) }

// warn begins a line about somebody who tried to sign in. What was given as a name stands in it only where there is such a user: it may be a password.
func (l *Login) warn(host, name, hash string) logEvent {
	e := l.log.Warn().Str("from", host)
	if hash != "" {
		e = e.Str("person", name)
	}
	return e
}

// waitOfAccount is how long one has to wait before trying to sign in to an account.
func (l *Login) waitOfAccount(name, hash, known string) time.Duration {
	switch {
	case known != "":
		return l.throttle.wait(l.now(), ofBrowser, name+"\x00"+known)
	case hash == "":
		return l.throttle.wait(l.now(), ofNobody, name)
	}
	return l.throttle.wait(l.now(), ofAccount, name)
}

// hashOf is what is kept of the password of a user who signs in; empty for nobody.
func (l *Login) hashOf(ctx context.Context, name string) (hash string, err error) {
	if prescient.ValidLabel("name", name, 128) != nil {
		return "", nil
	}
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin)
	defer cancel()
	var disabled bool
	err = store.QueryRow(ctx, l.sessions.db, []any{&hash, &disabled}, l.sessions.tables.Stmt.Get("login/user"), name)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return "", nil
	case err != nil:
		return "", fmt.Errorf("looking a user up: %w", err)
	case disabled:
		return "", nil
	}
	return hash, nil
}

// tried says whether a password is that of which hash is kept; it takes as long where there is none.
func tried(ctx context.Context, by *password.Hasher, text, hash string) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, tryWithin)
	defer cancel()
	return by.Is(ctx, text, hash)
}

// knownCookie is the cookie by which a browser is known to an account; empty where it is not.
func (l *Login) knownCookie(r *http.Request, hash string) string {
	cookie, err := r.Cookie(l.known)
	if err != nil || !isKnown(cookie.Value, hash) {
		return ""
	}
	return cookie.Value
}

func (l *Login) setKnown(w http.ResponseWriter, hash string) {
	http.SetCookie(w, l.cookie(l.known, newKnown(hash), l.site.Path(Path), knownTime))
}

// cookie is one that scripts do not see.
func (l *Login) cookie(name, value, path string, lasts time.Duration) *http.Cookie {
	c := &http.Cookie{Name: name, Value: value, Path: path, MaxAge: int(lasts.Seconds()), Secure: l.site.Secure(), HttpOnly: true, SameSite: http.SameSiteLaxMode}
	if lasts <= 0 {
		c.MaxAge = -1
	}
	return c
}

func (l *Login) logout(w http.ResponseWriter, r *http.Request) {
	if _, err := l.session(r); err == nil {
		cookie, err := r.Cookie(l.manager.Cookie.Name)
		if err == nil {
			err = l.sessions.DeleteCtx(r.Context(), cookie.Value)
		}
		if err != nil {
			l.failed(w, r, err)
			return
		}
	} else if !errors.Is(err, ops.ErrUnauthorized) {
		l.failed(w, r, err)
		return
	}
	l.manager.WriteSessionCookie(r.Context(), w, "", time.Time{})
	w.Header().Set("Cache-Control", "no-store")
	http.Redirect(w, r, l.site.Path(Path), http.StatusSeeOther)
}

func (l *Login) changePassword(w http.ResponseWriter, r *http.Request) {
	s, is := l.signedIn(w, r)
	if !is || !l.form(w, r) {
		return
	}
	if s.byProvider {
		l.password(w, r, http.StatusUnprocessableEntity, s, passwordForm{})
		return
	}
	if wait := l.throttle.wait(l.now(), ofBrowser, s.person+"\x00session"); wait > 0 {
		l.slow(w, r, wait)
		return
	}
	old, wanted := r.PostForm.Get("old"), r.PostForm.Get("new")
	refuse := func(why string) {
		l.password(w, r, http.StatusUnprocessableEntity, s, passwordForm{Wrong: why})
	}
	switch err := password.Check(s.person, wanted); {
	case wanted != r.PostForm.Get("again"):
		refuse("The two new passwords differ.")
		return
	case wanted == old:
		refuse("The new password is the old one.")
		return
	case err != nil:
		refuse(err.Error())
		return
	}
	changed, err := l.change(w, r, s, old, wanted)
	switch {
	case err != nil:
		l.failed(w, r, err)
	case !changed:
		refuse("The old password is another.")
	default:
		http.Redirect(w, r, l.site.Path(pathPassword, "changed", "1"), http.StatusSeeOther)
	}
}

// change changes a password where old is the old one, and begins a session: all others are over.
func (l *Login) change(w http.ResponseWriter, r *http.Request, s session, old, wanted string) (bool, error) {
	before, err := l.hashOf(r.Context(), s.person)
	if err != nil {
		return false, err
	}
	if is, err := tried(r.Context(), l.ofKnown, old, before); err != nil || !is {
		return false, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), tryWithin)
	defer cancel()
	hash, err := l.ofKnown.Hash(ctx, wanted)
	if err != nil {
		return false, err
	}
	host := l.site.Address(r)
	if is, err := l.write(r.Context(), s, host, before, hash); err != nil || !is {
		return false, err
	}
	if is, err := l.begin(w, r, beginning{person: s.person, host: host, hash: hash}); err != nil || !is {
		return false, err
	}
	l.setKnown(w, hash)
	return true, nil
}

// write writes the hash of a new password, with an entry of the audit.
func (l *Login) write(ctx context.Context, s session, host, before, hash string) (bool, error) {
	ctx, cancel := context.WithTimeout(store.Vital(ctx), lookWithin)
	defer cancel()
	tx, err := l.sessions.db.BeginTxx(ctx, nil)
	if err != nil {
		return false, fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	n, err := store.Affected(ctx, tx, l.sessions.tables.Stmt.Get("login/password"), hash, s.person, before)
	if err != nil || n == 0 {
		return false, err
	}
	ctx = audit.With(ctx, audit.By{Person: s.person, Host: host, Command: "password"})
	err = l.audit.Record(ctx, tx, audit.Entry{Kind: audit.User, ID: s.person, Verb: "password", After: map[string]ops.Role{"role": s.role}})
	if err != nil {
		return false, err
	}
	if err := tx.Commit(); err != nil {
		return false, fmt.Errorf("committing: %w", err)
	}
	return true, nil
}
