package login_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/ops"
)

func TestAStrangerWhoTriesAnAccountLocksNobodyOut(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		known := r.browser()
		r.wants(known.signIn("ada", password), 303)
		r.wants(known.ask("/logout", "x", "y"), 303)
		r.pass(30 * time.Second) // for the first to be forgotten
		stranger := r.browser()
		for range 10 {
			r.wants(stranger.signIn("ada", "wrong wrong wrong"), 401)
		}
		got := stranger.signIn("ada", password)
		r.wants(got, 429, "Too many tries")
		if got.Headers.Get("Retry-After") == "" {
			t.Errorf("%q", got.Headers)
		}
		r.wants(r.browser().signIn("ada", password), 429) // by a browser that is not known
		r.wants(known.signIn("ada", password), 303)
		r.wants(r.browser().signIn("nobody", password), 401) // another account
		r.pass(31 * time.Second)
		r.wants(r.browser().signIn("ada", password), 303)
		// A cookie that was made up is of no use.
		_, name := r.login.Cookies()
		stranger.headers.Set("Cookie", name+"="+strings.Repeat("A", 22)+"."+strings.Repeat("A", 43))
		r.wants(stranger.signIn("ada", "wrong"), 429)
	})
}

func TestAnAddressFromWhichManyAreTriedIsSlowedDown(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.add("ada", ops.Viewer)
		for i := range 3 {
			r.add(fmt.Sprint("x", i), ops.Viewer)
		}
		for i := range 20 {
			r.wants(r.browser().ask("/login", "name", fmt.Sprint("x", i%3)), 401)
		}
		r.wants(r.browser().signIn("ada", password), 429, "Too many tries")
		r.pass(4 * time.Second)
		r.wants(r.browser().signIn("ada", password), 303)
	})
}

func TestNoStatementOfSigningInScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		var users, sessions []string
		for i := range 2000 {
			users = append(users, fmt.Sprintf("('u%d', 'viewer', '$argon2id$v=19$m=%d', '2019-11-20', '2019-11-20')", i, i))
			sessions = append(sessions, fmt.Sprintf("(UNHEX(SHA2('%d', 256)), 'u%d', 'h', '{}', '2020-11-20', '2020-11-20' + INTERVAL %d HOUR)", i, i%500, 50*(i+1)))
		}
		r.Exec("INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES " + strings.Join(users, ","))
		r.Exec("INSERT INTO p_web_session (hash, person, host, data, created_at, ends_at) VALUES " + strings.Join(sessions, ","))
		r.Exec("ANALYZE TABLE p_web_user, p_web_session")
		var hash []byte
		r.Must(r.Root.QueryRowContext(t.Context(), "SELECT hash FROM p_web_session WHERE ends_at > UTC_TIMESTAMP(6) LIMIT 1").Scan(&hash))
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		const years = 700_000_000_000_000 // microseconds
		s := r.login.Tables().Stmt
		user, session := map[string]string{"p_web_user": "PRIMARY 514"}, map[string]string{"p_web_session": "hash 32"}
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "login/user", Query: s.Get("login/user"), Args: []any{"u17"}, Reached: user},
			{Statement: "login/password", Query: s.Get("login/password"), Args: []any{"x", "u17", "$argon2id$v=19$m=17"}, Reached: user},
			{Statement: "login/used_lock", Query: s.Get("login/used_lock"), Args: []any{"u17"}, Reached: user},
			{Statement: "login/used", Query: s.Get("login/used"), Args: []any{"u17"}, Reached: user},
			{Statement: "login/session", Query: s.Get("login/session"), Args: []any{years, years, hash, years}, Reached: map[string]string{"s": "hash 32", "u": "PRIMARY 514"}},
			{Statement: "login/session_insert", Query: s.Get("login/session_insert"), Args: []any{"x", "h", "{}", 1, "u17", "$argon2id$v=19$m=17"}, Reached: user},
			{Statement: "login/session_insert_given", Query: s.Get("login/session_insert_given"), Args: []any{"x", "a", "viewer", "h", "{}", 1, "u17"}, Reached: user},
			{Statement: "login/session_update", Query: s.Get("login/session_update"), Args: []any{"{}", 1, hash}, Reached: session},
			{Statement: "login/session_lock", Query: s.Get("login/session_lock"), Args: []any{hash}, Reached: session},
			{Statement: "login/session_used", Query: s.Get("login/session_used"), Args: []any{1, 1, hash}, Reached: session},
			{Statement: "login/session_delete", Query: s.Get("login/session_delete"), Args: []any{hash}, Reached: session},
		}, s, []string{"login"})
	})
}
