package cmd_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	checks "prescient/jobs/http"
	"prescient/jobs/http/probe"
)

// verifying is an app that settles each call that is signed by a secret, and refuses the others.
func verifying(t *testing.T, secret string) (url string) {
	t.Helper()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case err != nil || !checks.Verify([]byte(secret), body, r.Header.Get(checks.SignatureHeader), time.Now(), checks.Tolerance):
			w.WriteHeader(http.StatusUnauthorized)
		case !strings.Contains(string(body), `"entity_name":"order","entity_key":"42"`) || !strings.Contains(string(body), `"payload":{"total":7}`):
			http.Error(w, "no such order", http.StatusNotFound)
		default:
			w.WriteHeader(http.StatusNoContent)
		}
	}))
	t.Cleanup(app.Close)
	return app.URL
}

func TestCheckEndpointSaysByItsExitCodeHowBadItIs(t *testing.T) {
	url := verifying(t, canary)
	open := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(open.Close)
	file := rig.File(t, "secret", canary+"\n")
	env := map[string]string{"CHECK_SECRET": canary}
	configured := rig.File(t, "prescient.yaml", "jobs:\n  http:\n    - {exec: unpaid, url: \""+url+"\", secret_env: CHECK_SECRET}\n    - {exec: paid, url: \""+open.URL+"\"}\n")
	order := []string{"--entity", "order/42", "--payload", `{"total": 7}`}
	for _, test := range []struct {
		about string
		args  []string
		code  int
		says  string
	}{
		{"all is well, by a variable", append(order, url, "--secret-env", "CHECK_SECRET"), cmd.ExitOK, "ok    signed: settled: the check ends\n"},
		{"by a file", append(order, url, "--secret-file", file), cmd.ExitOK, "ok    changed: a body that is not the signed one is refused\n"},
		{"by the configuration", append(order, "--config", configured, "--exec", "unpaid"), cmd.ExitOK, "ok    signed: "},
		{"without a secret", append(order, open.URL), cmd.ExitWarn, "warn  unsigned: calls are not signed: whoever knows the URL can make calls\n      → give a secret\n"},
		{"a signature that is not looked at", append(order, open.URL, "--secret-file", file), cmd.ExitBad, "bad   forged: a signature by another secret is taken (204)"},
		{"another secret", append(order, url), cmd.ExitBad, "bad   signed: answered 401 Unauthorized: a worker takes that for an error"},
		{"another entity", []string{url, "--secret-file", file}, cmd.ExitBad, "where it is test/check-endpoint that is not known give --entity"},
		{"nobody listens", []string{"http://127.0.0.1:1/"}, cmd.ExitBad, "bad   signed: no answer: cannot connect to 127.0.0.1:1: connection refused: a worker takes that"},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, env, "", append([]string{"check-endpoint"}, test.args...)...)
		if got.Code != test.code || !strings.Contains(got.Out, test.says) || got.Err != "" {
			t.Errorf("%s: %v\nwant exit code %d and %q", test.about, got, test.code, test.says)
		}
		silent(t, test.about, got.Out)
	}
	got := rig.Execute(t.Context(), cmd.Options{}, env, `{"total": 7}`, "check-endpoint", url, "--secret-env", "CHECK_SECRET", "--entity", "order/42", "--payload", "-", "--json")
	found := rig.Lines[probe.Finding](t, got.Out)
	if len(found) != 10 || found[0].Code != probe.CodeSigned || found[0].Severity != probe.OK || found[0].Status != http.StatusNoContent || found[9].Status != http.StatusUnauthorized {
		t.Errorf("%v", got)
	}
}

func TestCheckEndpointRefusesWhatItCannotCall(t *testing.T) {
	configured := rig.File(t, "prescient.yaml", "jobs:\n  http:\n    - {exec: unpaid, url: \"http://127.0.0.1:1/\"}\n    - {exec: paid, url: \"http://127.0.0.1:1/\"}\n")
	const url = "http://127.0.0.1:1/"
	for _, test := range []struct {
		args []string
		says string
	}{
		{nil, "give a URL, http:// or https://, or --exec with a job_exec of jobs.http; it has none"},
		{[]string{"--exec", "due", "--config", configured}, "it has unpaid and paid"},
		{[]string{url, url}, "takes one URL, but was given 2"},
		{[]string{"127.0.0.1:3000"}, "URL cannot be parsed: first path segment in URL cannot contain colon; want http://host/"},
		{[]string{"ftp://a/b"}, `URL has the scheme "ftp": want http or https`},
		{[]string{"http://user:" + canary + "@127.0.0.1:1/"}, "let jobs.http of the configuration say it"},
		{[]string{url, "--secret-env", "NO_SUCH"}, "the environment has no variable NO_SUCH, or an empty one"},
		{[]string{url, "--secret-file", "/nonexistent"}, "--secret-file: file /nonexistent cannot be read"},
		{[]string{url, "--secret-file", "a", "--secret-env", "B"}, "exclude each other"},
		{[]string{url, "--secret-env", ""}, "--secret-env is empty"},
		{[]string{url, "--entity", "order"}, "want name/key"},
		{[]string{url, "--payload", "{"}, "is not JSON"},
		{[]string{url, "--exec", "not a name"}, "job_exec"},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"check-endpoint"}, test.args...)...)
		got.Wants(t, cmd.ExitUsage, test.says)
		silent(t, test.says, got.Err+got.Out)
	}
}
