package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"prescient/config/value"
	"prescient/prescient"
)

func TestHTTPJobs(t *testing.T) {
	path := write(t, "key", "file key\n")
	c := given{
		file: `
jobs:
  http:
    - exec: a
      url: https://app.example.com/checks/a?x=1
      headers: {X-Api-Version: 2, Host: b}
      secret_file: ` + path + `
      timeout: 10s
      max_checks: 0
      max_errors: 3
      retry_within: 10m
      horizon: 90d
      concurrency: 8
      sla: 20m
    - exec: b
      url: http://localhost:8080
      secret_env: KEY
      long: true
      pool: heavy
`,
		env: map[string]string{"KEY": "variable key"},
	}.mustLoad(t)
	want := []HTTPJob{
		{
			Exec: "a", URL: value.SecretShownAs("https://app.example.com/checks/a?x=1", "https://app.example.com/***"),
			Headers: map[string]value.Secret{"x-api-version": value.NewSecret("2"), "host": value.NewSecret("b")},
			Secret:  value.NewSecret("file key"),
			Guards:  prescient.Guards{Timeout: 10 * time.Second, MaxChecks: prescient.None, MaxErrors: 3, RetryWithin: 10 * time.Minute, Horizon: 90 * value.Day, Concurrency: 8, SLA: 20 * time.Minute},
		},
		{Exec: "b", URL: value.SecretShownAs("http://localhost:8080", "http://localhost:8080"), Secret: value.NewSecret("variable key"), Long: true, Pool: "heavy"},
	}
	if !reflect.DeepEqual(c.Jobs.HTTP, want) {
		t.Errorf("got %+v", c.Jobs.HTTP)
	}
	if got := c.Jobs.HTTP[0].RevealHeaders(); !reflect.DeepEqual(got, map[string]string{"x-api-version": "2", "host": "b"}) {
		t.Errorf("headers are %v", got)
	}
	if got := c.Jobs.HTTP[1].RevealHeaders(); got != nil {
		t.Errorf("headers are %v", got)
	}
}

func TestVariableOfASecretMayHaveOurPrefix(t *testing.T) {
	file := "jobs: {http: [{exec: a, url: 'http://h', secret_env: PRESCIENT_KEY_OF_A}]}"
	given{file: file, env: map[string]string{"PRESCIENT_KEY_OF_A": "x"}}.mustLoad(t)
}

func TestWhatIsWrongInAnHTTPJobIsNamed(t *testing.T) {
	item := func(more string) string {
		return "jobs:\n  http:\n    - exec: a\n      url: http://h/\n      " + more
	}
	onlyURL := func(url string) string { return "jobs: {http: [{exec: a, url: '" + url + "'}]}" }
	const wantURL = "; want http:// or https://, a host, and no fragment (file FILE, line 1)"
	for _, test := range []struct{ name, file, want string }{
		{"nothing in it", "jobs:\n  http:\n    -\n",
			"jobs.http[0].exec: it is missing (file FILE, line 3)\njobs.http[0].url: it is missing (file FILE, line 3)"},
		{"not keys", "jobs: {http: [x]}",
			"jobs.http[0]: it has the wrong form; want keys below it (file FILE, line 1)\njobs.http[0].exec: it is missing (file FILE, line 1)\njobs.http[0].url: it is missing (file FILE, line 1)"},
		{"unknown key", item("timeuot: 3s"), "jobs.http[0].timeuot: unknown key; did you mean jobs.http[].timeout? (file FILE, line 5)"},
		{"the secret itself", item("secret: x"),
			"jobs.http[0].secret: unknown key; a secret does not belong into the file, name it with secret_file or secret_env (file FILE, line 5)"},
		{"name", "jobs: {http: [{exec: a b, url: 'http://h'}]}",
			`jobs.http[0].exec: "a b" is not allowed; only letters, digits and _ . - are (file FILE, line 1)`},
		{"a pool of short checks", "jobs: {http: [{exec: a, url: 'http://h', pool: heavy}]}",
			`jobs.http[0].pool: "heavy" is not allowed without long: true; pools are for long runs (file FILE, line 1)`},
		{"name too long", "jobs: {http: [{exec: " + strings.Repeat("a", 65) + ", url: 'http://h'}]}",
			`jobs.http[0].exec: "` + strings.Repeat("a", 65) + `" has 65 characters; at most 64 are allowed (file FILE, line 1)`},
		{"a name twice", item("\n    - exec: a\n      url: http://h/"),
			`jobs.http[1].exec: "a" is the name of jobs.http[0].exec too; each job_exec needs its own (file FILE, line 6)`},
		{"the name of the orders", item("\n  orders: {enabled: true, exec: a}"),
			`jobs.http[0].exec: "a" is the name of jobs.orders.exec too; each job_exec needs its own (file FILE, line 3)`},
		{"the name of disabled orders", item("\n  orders: {exec: a}"), ""},
		{"a guard", item("max_checks: -1"), `jobs.http[0].max_checks -1: 0 to 1000000 are allowed (file FILE, line 5)`},
		{"an SLA of none", item("sla: 0s"), `jobs.http[0].sla 0s: 1ms to 3660d are allowed (file FILE, line 5)`},
		{"both secrets", item("secret_file: /x\n      secret_env: X"),
			"jobs.http[0].secret_file: secret_env is given too; only one of the two is allowed (file FILE, line 5)"},
		{"no such file", item("secret_file: /nowhere/x"),
			"jobs.http[0].secret_file: file /nowhere/x cannot be read: no such file or directory (file FILE, line 5)"},
		{"no such variable", item("secret_env: NOWHERE"),
			"jobs.http[0].secret_env: the environment has no variable NOWHERE, or an empty one (file FILE, line 5)"},
		{"name of a header", item("headers: {'a b': c}"),
			`"jobs.http[0].headers.a b": the name of a header is not allowed; only letters, digits and !#$%&'*+-.^_` + "`" + `|~ are (file FILE, line 5)`},
		{"value of a header", item(`headers: {A: "b\r\nc: d"}`),
			"jobs.http[0].headers.a: it has a control character, which is not allowed in a header (file FILE, line 5)"},
		{"a header twice", item("headers: {A: b, a: c}"),
			"jobs.http[0].headers.a: it is given twice, first in line 5 (file FILE, line 5)"},
		{"a list of values of a header", item("headers: {A: [b, c]}"),
			"jobs.http[0].headers.a: it has the wrong form; want one value (file FILE, line 5)"},
		{"relative", onlyURL("/checks"), "jobs.http[0].url: its scheme is not allowed" + wantURL},
		{"another scheme", onlyURL("ftp://h/"), "jobs.http[0].url: its scheme is not allowed" + wantURL},
		{"no host", onlyURL("http:///checks"), "jobs.http[0].url: it has no host" + wantURL},
		{"opaque", onlyURL("http:h"), "jobs.http[0].url: it has no host" + wantURL},
		{"fragment", onlyURL("http://h/#x"), "jobs.http[0].url: it has a fragment" + wantURL},
		{"empty fragment", onlyURL("http://h/#"), "jobs.http[0].url: it has a fragment" + wantURL},
		{"port", onlyURL("http://h:65536/"), "jobs.http[0].url: its port is not within 1 to 65535" + wantURL},
		{"no URL", onlyURL("http://h:x/%zz"), "jobs.http[0].url: it is no URL" + wantURL},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, got := (given{file: test.file}).load(t); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}
