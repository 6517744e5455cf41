package api_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"prescient/prescient/api"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation whose API is served to callers whose tokens are the names of their roles.
type testRig struct {
	*served.Rig
	URL string
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := &testRig{Rig: served.New(t, d, 15*time.Minute)}
		r.URL = r.serve(api.Options{Ops: r.OpsAt(rig.At("10:00")), Rate: 1e6})
		test(t, r)
	})
}

func (r *testRig) serve(o api.Options) (url string) {
	o.Authenticate = func(req *http.Request) (ops.Caller, error) {
		role, err := ops.ParseRole(door.Bearer(req))
		if err != nil {
			return ops.Caller{}, fmt.Errorf("%w: %s", ops.ErrUnauthorized, err)
		}
		return served.By(role), nil
	}
	server := httptest.NewServer(api.New(o))
	r.T.Cleanup(server.Close)
	return server.URL + api.Base
}

// reply is what a request was answered.
type reply struct {
	Code   int
	Header http.Header
	Body   string
}

// ask sends a request with the token of a role; a body makes it a POST.
func (r *testRig) ask(role, path, body string, header ...string) reply {
	r.T.Helper()
	method, from := http.MethodGet, io.Reader(nil)
	if body != "" {
		method, from = http.MethodPost, strings.NewReader(body)
	}
	req, err := http.NewRequestWithContext(r.T.Context(), method, r.URL+path, from)
	r.Must(err)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if role != "" {
		req.Header.Set("Authorization", "Bearer "+role)
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(req)
	r.Must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	r.Must(err)
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// want fails where a reply has another code, or where its body lacks a text.
func (r *testRig) want(got reply, code int, texts ...string) {
	r.T.Helper()
	for _, text := range texts {
		if !strings.Contains(got.Body, text) {
			r.T.Errorf("%d %s: want %s", got.Code, got.Body, text)
		}
	}
	if got.Code != code {
		r.T.Errorf("%d %s: want %d", got.Code, got.Body, code)
	}
	if kind := got.Header.Get("Content-Type"); code >= 400 && kind != "application/problem+json" {
		r.T.Errorf("%d is %s", code, kind)
	}
}

func TestAChecksLifeByRequests(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		insert := `{"checks":[{"entity":"order/42","job_exec":"ship","due_at":"2026-11-20T13:01:00Z","payload":{"a":1}}]}`
		r.want(r.ask("operator", "/checks/insert", insert, "Idempotency-Key", "k1"), 200, `"did":"inserted"`, `"slot":"2026-11-20T13:15:00Z"`)
		r.want(r.ask("operator", "/checks/insert", insert, "Idempotency-Key", "k1"), 200, `"did":"inserted"`)
		r.want(r.ask("operator", "/checks/insert", insert), 200, `"did":"kept"`)
		r.want(r.ask("operator", "/checks/insert", strings.ReplaceAll(insert, "42", "43"), "Idempotency-Key", "k1"), 422, "urn:prescient:error:ErrKeyUsed")
		r.want(r.ask("operator", "/checks/get?entity=order/42&job_exec=ship", ""), 200, `"payload":{"a":1}`, `"revision":"`)
		r.want(r.ask("viewer", "/checks/get?entity=order/42&job_exec=ship", ""), 200, `"payload":null`)
		r.want(r.ask("viewer", "/checks/pending?entity=order", ""), 200, `"entity_key":"42"`, `"next":""`)
		r.want(r.ask("operator", "/checks/reschedule", `{"entity":"order/42","job_exec":"ship","due_at":"2030-01-01T00:00:00Z"}`), 422, "urn:prescient:error:ErrBeyondHorizon", "horizon")
		r.want(r.ask("operator", "/checks/cancel", `{"entity":"order/42"}`), 200, `{"count":1}`)
		r.want(r.ask("operator", "/checks/get?entity=order/42&job_exec=ship", ""), 404, "urn:prescient:error:ErrNotFound")
		r.want(r.ask("viewer", "/checks/ended?entity=order/42&outcome=cancelled", ""), 200, `"outcome":"cancelled"`)
	})
}

func TestWhatIsWrongWithARequestIsSaid(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, test := range []struct {
			role, path, body string
			code             int
			says             string
		}{
			{"", "/checks/pending", "", 401, "ErrUnauthorized"},
			{"root", "/checks/pending", "", 401, "role"},
			{"viewer", "/checks/cancel", `{"entity":"order/42"}`, 403, "urn:prescient:error:ErrForbidden"},
			{"viewer", "/nothing", "", 404, "openapi.json"},
			{"viewer", "/checks/cancel", "", 405, ""},
			{"viewer", "/checks/pending?limit=x", "", 422, "query.limit"},
			{"viewer", "/checks/pending?limit=1001", "", 422, "1000"},
			{"viewer", "/checks/pending?colour=red", "", 422, "colour"},
			{"viewer", "/checks/pending?after=x", "", 422, "cursor"},
			{"viewer", "/checks/pending?slot=yesterday", "", 422, "query.slot"},
			{"viewer", "/checks/get?entity=order", "", 422, "job_exec"},
			{"viewer", "/checks/get?entity=order&job_exec=ship", "", 422, "name/key"},
			{"viewer", "/checks/ended?outcome=perfect", "", 422, "perfect"},
			{"operator", "/checks/cancel", `{"entity":"order/42","colour":"red"}`, 422, "colour"},
			{"operator", "/checks/cancel", `{"entity":`, 400, "JSON"},
			{"operator", "/checks/cancel", `{"entity":"schedule/x"}`, 422, "schedule"},
			{"operator", "/checks/insert", `{"checks":[]}`, 422, "checks"},
			{"operator", "/checks/insert", `{"checks":[{"entity":"order/42","job_exec":"a b","due_at":"2026-11-20T13:01:00Z"}]}`, 422, "check 1"},
		} {
			t.Run(test.role+test.path+test.body, func(t *testing.T) {
				r.want(r.ask(test.role, test.path, test.body), test.code, test.says)
			})
		}
		r.want(r.ask("operator", "/checks/cancel", `{"entity":"order/42"}`, "Content-Type", "text/plain"), 415)
		r.want(r.ask("operator", "/checks/cancel", `{"entity":"`+strings.Repeat("x", 9<<20)+`"}`), 413)
	})
}

// What huma and net/http answer by themselves is a problem, too.
func TestOpenAPIIsServedToEverybody(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		got := r.ask("", "/openapi.json", "")
		if got.Code != 200 || got.Body != string(api.Description()) {
			t.Errorf("%d %.100s", got.Code, got.Body)
		}
	})
}

// openapi.json is what the code makes; UPDATE=1 go test -run Description ./prescient/api writes it.
func TestTheDescriptionIsOfThisCode(t *testing.T) {
	made := api.Description()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("openapi.json", made, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile("openapi.json")
	if err != nil || !bytes.Equal(kept, made) {
		t.Errorf("openapi.json is not what the code makes (%v): UPDATE=1 go test -run Description ./prescient/api", err)
	}
}

// The API has each operation, and each needs the role that is its own: by an account that lacks the rights nothing would be done either.
func TestEveryOperationAsEveryRole(t *testing.T) {
	var description struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
	}
	if err := json.Unmarshal(api.Description(), &description); err != nil {
		t.Fatal(err)
	}
	delete(description.Paths, api.Base+"/health") // which has no caller
	eachServer(t, func(t *testing.T, r *testRig) {
		if len(ops.All()) != len(description.Paths) {
			t.Errorf("%d operations, %d paths", len(ops.All()), len(description.Paths))
		}
		for _, op := range ops.All() {
			path, method := "/"+strings.ReplaceAll(op.ID, ".", "/"), "get"
			if op.Deed {
				method = "post"
			}
			if _, is := description.Paths[api.Base+path][method]; !is {
				t.Errorf("%s is not %s %s", op.ID, method, path)
			}
			for _, role := range ops.Roles {
				asked, is := requests[op.ID]
				if !is {
					t.Errorf("%s is not asked for", op.ID)
					continue
				}
				got := r.ask(string(role), path+asked.query, asked.body)
				switch may := role.May(op.Role); {
				case !may && (got.Code != 403 || !strings.Contains(got.Body, "ErrForbidden")):
					t.Errorf("%s as %s: %d %s", op.ID, role, got.Code, got.Body)
				case may && got.Code != 200 && got.Code != asked.code:
					t.Errorf("%s as %s: %d %s", op.ID, role, got.Code, got.Body)
				}
			}
		}
	})
}

// request is one of an operation.
type request struct {
	query, body string
	code        int
}

// requests are good ones of each operation, and what else than 200 they may be answered.
var requests = map[string]request{
	"checks.get":        {query: "?entity=order/1&job_exec=ship", code: 404},
	"checks.pending":    {query: "?entity=order/1"},
	"checks.ended":      {query: "?entity=order/1"},
	"checks.insert":     {body: `{"checks":[{"entity":"order/1","job_exec":"ship","due_at":"2026-11-20T13:01:00Z"}]}`},
	"checks.cancel":     {body: `{"entity":"order/1"}`},
	"checks.reschedule": {body: `{"entity":"order/1","job_exec":"ship","due_at":"2026-11-20T13:01:00Z"}`, code: 404},
}

func TestACallerWhoSendsTooMuchIsToldToWait(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.URL = r.serve(api.Options{Ops: r.Ops, Rate: 0.001})
		r.want(r.ask("viewer", "/checks/pending", ""), 200)
		got := r.ask("viewer", "/checks/pending", "")
		r.want(got, 429, "Too many")
		if got.Header.Get("Retry-After") == "" {
			t.Error(got.Header)
		}
		r.want(r.ask("operator", "/checks/pending", ""), 200) // another caller
	})
}
