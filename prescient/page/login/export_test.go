package login

import (
	"net/http"
	"time"

	"prescient/prescient/internal/store"
	"prescient/prescient/ops"
)

// SetNow gives it another clock.
func (l *Login) SetNow(now func() time.Time) { l.now = now }

// Tables are those that it has opened.
func (l *Login) Tables() *store.Tables { return l.sessions.tables }

// Cookies are the names of the cookies of sessions and of known browsers.
func (l *Login) Cookies() (session, known string) { return l.manager.Cookie.Name, l.known }

// Begin begins a session for somebody whose password had that hash.
func (l *Login) Begin(w http.ResponseWriter, r *http.Request, person, hash string) (bool, error) {
	return l.begin(w, r, beginning{person: person, host: "10.0.0.7", hash: hash})
}

// Claimed says who has claims.
func Claimed(o OIDC, claims map[string]any) (string, ops.Role, error) { return who(o, claims) }
