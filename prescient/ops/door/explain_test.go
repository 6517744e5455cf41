package door_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

// Of tokens and of idempotency keys, whether the operations or the door send them.
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
		r.Exec("ANALYZE TABLE p_api_token, p_api_key")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		s, hash := r.door.Tables().Stmt, sha256.Sum256([]byte("17"))
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
			{Statement: "ops/key_find", Query: s.Get("ops/key_find"), Args: []any{17, "k17"}, Reached: key},
			{Statement: "ops/key_insert", Query: s.Get("ops/key_insert"), Args: []any{17, "k", "x", "x"}, Reached: nil},
			{Statement: "ops/key_answer", Query: s.Get("ops/key_answer"), Args: []any{"{}", 17, "k17"}, Reached: key},
			{Statement: "ops/key_forget", Query: s.Get("ops/key_forget"), Args: []any{17, "k17"}, Reached: key},
			{Statement: "ops/keys_old", Query: s.Get("ops/keys_old"), Reached: map[string]string{"p_api_key": "at 8"}},
		}, s, []string{"ops"})
	})
}
