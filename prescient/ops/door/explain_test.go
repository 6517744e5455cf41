package door_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// Of tokens, users, sessions and idempotency keys, whether the operations or the door send them.
func TestNoStatementOfOperationsScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		var tokens, keys []string
		for i := range 2000 {
			tokens = append(tokens, fmt.Sprintf("(UNHEX(SHA2('%d', 256)), 'ci', 'viewer', '2026-11-20', '2026-11-20' + INTERVAL %d HOUR)", i, i))
			keys = append(keys, fmt.Sprintf("(%d, 'k%d', 'x', REPEAT('x', 32), '2020-11-20' + INTERVAL %d HOUR)", i%50, i, 50*i))
		}
		r.Exec("INSERT INTO p_api_token (hash, name, role, created_at, expires_at) VALUES " + strings.Join(tokens, ","))
		r.Exec("INSERT INTO p_api_key (token, idempotency_key, operation, body, at) VALUES " + strings.Join(keys, ","))
		var users, sessions []string
		for i := range 2000 {
			users = append(users, fmt.Sprintf("('u%d', 'viewer', '$argon2id$v=19$m=%d', '2026-11-20', '2026-11-20')", i, i))
			sessions = append(sessions, fmt.Sprintf("(UNHEX(SHA2('%d', 256)), 'u%d', 'h', '{}', '2020-11-20', '2020-11-20' + INTERVAL %d HOUR)", i, i%500, 50*(i+1)))
		}
		r.Exec("INSERT INTO p_web_user (name, role, password, created_at, changed_at) VALUES " + strings.Join(users, ","))
		r.Exec("INSERT INTO p_web_session (hash, person, host, data, created_at, ends_at) VALUES " + strings.Join(sessions, ","))
		r.Exec("ANALYZE TABLE p_api_token, p_api_key, p_web_user, p_web_session")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s, hash := r.door.Tables().Stmt, sha256.Sum256([]byte("17"))
		user := map[string]string{"p_web_user": "PRIMARY 514"}
		token, key := map[string]string{"p_api_token": "PRIMARY 8"}, map[string]string{"p_api_key": "PRIMARY 138"}
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "ops/tokens", Query: s.Get("ops/tokens"), Args: []any{17, 100}, Reached: token},
			{Statement: "ops/token", Query: s.Get("ops/token"), Args: []any{17}, Reached: token},
			{Statement: "ops/token_insert", Query: s.Get("ops/token_insert"), Args: []any{"x", "a", "viewer", 1}, Reached: nil},
			{Statement: "ops/token_end", Query: s.Get("ops/token_end"), Args: []any{1, 17}, Reached: token},
			{Statement: "ops/token_revoke", Query: s.Get("ops/token_revoke"), Args: []any{17}, Reached: token},
			{Statement: "ops/caller", Query: s.Get("ops/caller"), Args: []any{hash[:]}, Reached: map[string]string{"p_api_token": "hash 32"}},
			{Statement: "ops/used_lock", Query: s.Get("ops/used_lock"), Args: []any{17}, Reached: token},
			{Statement: "ops/used", Query: s.Get("ops/used"), Args: []any{17}, Reached: token},
			{Statement: "ops/live", Query: s.Get("ops/live"), Reached: map[string]string{"p_api_token": "expires_at 8"}},
			{Statement: "ops/live_user", Query: s.Get("ops/live_user"), Reached: user},
			{Statement: "ops/key_find", Query: s.Get("ops/key_find"), Args: []any{17, "k17"}, Reached: key},
			{Statement: "ops/key_insert", Query: s.Get("ops/key_insert"), Args: []any{17, "k", "x", "x"}, Reached: nil},
			{Statement: "ops/key_answer", Query: s.Get("ops/key_answer"), Args: []any{"{}", 17, "k17"}, Reached: key},
			{Statement: "ops/key_forget", Query: s.Get("ops/key_forget"), Args: []any{17, "k17"}, Reached: key},
			{Statement: "ops/users", Query: s.Get("ops/users"), Args: []any{"u17", 100}, Reached: map[string]string{"u": "PRIMARY 514", "s": "person 514"}},
			{Statement: "ops/user", Query: s.Get("ops/user"), Args: []any{"u17"}, Reached: user},
			{Statement: "ops/user_get", Query: s.Get("ops/user_get"), Args: []any{"u17"}, Reached: map[string]string{"u": "PRIMARY 514", "s": "person 514"}},
			{Statement: "ops/user_insert", Query: s.Get("ops/user_insert"), Args: []any{"a", "viewer", "x"}, Reached: nil},
			{Statement: "ops/user_role", Query: s.Get("ops/user_role"), Args: []any{"viewer", "u17"}, Reached: user},
			{Statement: "ops/user_password", Query: s.Get("ops/user_password"), Args: []any{"x", "u17"}, Reached: user},
			{Statement: "ops/user_disable", Query: s.Get("ops/user_disable"), Args: []any{"u17"}, Reached: user},
			{Statement: "ops/user_enable", Query: s.Get("ops/user_enable"), Args: []any{"u17"}, Reached: user},
			{Statement: "ops/sessions", Query: s.Get("ops/sessions"), Args: []any{17, 100}, Reached: map[string]string{"s": "PRIMARY 8", "u": "PRIMARY 514"}},
			{Statement: "ops/sessions_end", Query: s.Get("ops/sessions_end"), Args: []any{"u17"}, Reached: map[string]string{"p_web_session": "person 514"}},
			{Statement: "ops/sessions_old", Query: s.Get("ops/sessions_old"), Reached: map[string]string{"p_web_session": "ends_at 8"}},
			{Statement: "ops/session_forget", Query: s.Get("ops/session_forget"), Args: []any{17}, Reached: map[string]string{"p_web_session": "PRIMARY 8"}},
			{Statement: "ops/keys_old", Query: s.Get("ops/keys_old"), Reached: map[string]string{"p_api_key": "at 8"}},
		}, s, []string{"ops"})
	})
}
