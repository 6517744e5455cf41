package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"testing"
	"time"

	"prescient/prescient/api"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
)

// What asks for tokens is among the requests.
var _ = func() bool {
	maps.Copy(requests, map[string]request{
		"tokens.list":   {},
		"tokens.create": {body: `{"name":"ci","role":"viewer"}`},
		"tokens.rotate": {body: `{"number":"1"}`},
		"tokens.revoke": {body: `{"number":"1"}`},

		"users.list":         {},
		"users.get":          {query: "?name=grace", code: 404},
		"users.sessions":     {},
		"users.add":          {body: `{"name":"ada","role":"viewer","password":"correct horse battery"}`},
		"users.disable":      {body: `{"name":"grace"}`, code: 404},
		"users.enable":       {body: `{"name":"grace"}`, code: 404},
		"users.role":         {body: `{"name":"grace","role":"operator"}`, code: 404},
		"users.password":     {body: `{"name":"grace","password":"correct horse battery"}`, code: 404},
		"users.end_sessions": {body: `{"name":"grace"}`},
	})
	return true
}()

func TestATokenLetsItsCallerInUntilItIsRevoked(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.URL = r.serve(api.Options{Ops: r.Ops, Rate: 1e6}) // by the running clock
		create := `{"name":"ada","role":"admin","expires_after_ms":3600000}`
		r.want(r.ask("admin", "/tokens/create", create, "Idempotency-Key", "k"), 422, "idempotency key", "urn:prescient:error:ErrInvalid")
		r.want(r.ask("admin", "/tokens/create", `{"name":"","role":"admin"}`), 422, "name")
		r.want(r.ask("admin", "/tokens/create", `{"name":"ada","role":"root"}`), 422, "role")
		r.want(r.ask("admin", "/tokens/create", `{"name":"ada","role":"admin","expires_after_ms":999}`), 422, "expires_after_ms")
		r.want(r.ask("admin", "/tokens/revoke", `{"number":"4711"}`), 404, "urn:prescient:error:ErrNotFound")
		r.want(r.ask("admin", "/tokens/revoke", `{"number":"x"}`), 422)
		r.want(r.ask("admin", "/tokens/revoke", `{"number":7}`), 422)
		got := r.ask("admin", "/tokens/create", create)
		r.want(got, 200, `"number":"`, `"token":"pst_`, `"state":"live"`)
		var made ops.MadeToken
		r.Must(json.Unmarshal([]byte(got.Body), &made))

		d, err := door.Open(t.Context(), r.As("serve-door", time.Time{}), door.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		server := httptest.NewServer(api.New(api.Options{Ops: r.Ops, Authenticate: d.Authenticate}))
		t.Cleanup(server.Close)
		r.URL = server.URL + api.Base
		r.want(r.ask("admin", "/tokens/list", ""), 401, "urn:prescient:error:ErrUnauthorized")
		r.want(r.ask(made.Secret, "/tokens/list", ""), 200, `"name":"ada"`, `"last_used_at":"`)
		r.want(r.ask(made.Secret, "/tokens/list?limit=1&after=4711", ""), 200, `"rows":[]`)
		r.want(r.ask(made.Secret, "/tokens/revoke", fmt.Sprintf(`{"number":"%d"}`, made.Number)), 200, `"state":"revoked"`)
		r.want(r.ask(made.Secret, "/tokens/list", ""), 401, "revoked")
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'token' AND person = 'ada' AND host = '127.0.0.1' AND verb = 'revoke'"); n != 1 {
			t.Errorf("%d entries", n)
		}
	})
}
