package config

import (
	"strings"
	"testing"
)

func TestWhatIsWrongIsNamed(t *testing.T) {
	env := func(pairs ...string) map[string]string {
		m := make(map[string]string)
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, test := range []struct {
		name  string
		given given
		want  string
	}{
		// values
		{"too short", given{file: "worker:\n  lease: 1s"},
			`worker.lease 1s: 2s to 1h are allowed (file FILE, line 2)`},
		{"too long", given{env: env("PRESCIENT_WORKER_LEASE", "1d")},
			`worker.lease 1d: 2s to 1h are allowed (environment variable PRESCIENT_WORKER_LEASE)`},
		{"an address without a port", given{file: "metrics: {listen: localhost}"},
			`metrics.listen: "localhost" is no address; want host:port, such as 127.0.0.1:9464, or :9464 for every address (file FILE, line 1)`},
		{"a port that is none", given{flags: []string{"--metrics-listen=:http!"}},
			`metrics.listen: ":http!" has no port of 0 to 65535; want host:port, such as 127.0.0.1:9464, or :9464 for every address (flag --metrics-listen)`},
		{"no unit", given{flags: []string{"--sweep-every=60"}},
			`sweep.every: "60" is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d; 1s to 1h are allowed (flag --sweep-every)`},
		{"negative", given{file: "guards: {horizon: -1d}"},
			`guards.horizon -1d: 1s to 3660d are allowed (file FILE, line 1)`},
		{"no timeout", given{file: "guards: {timeout: 0s}"},
			`guards.timeout 0s: 1ms to 24h are allowed (file FILE, line 1)`},
		{"empty", given{flags: []string{"--worker-lease="}},
			`worker.lease: "" is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d; 2s to 1h are allowed (flag --worker-lease)`},
		{"a batch too large", given{file: "worker: {batch: 20001}"},
			`worker.batch 20001: 1 to 20000 are allowed (file FILE, line 1)`},
		{"larger than any number", given{file: "worker: {batch: 99999999999999999999}"},
			`worker.batch 99999999999999999999: 1 to 20000 are allowed (file FILE, line 1)`},
		{"not whole", given{file: "worker: {concurrency: 1.0}"},
			`worker.concurrency: "1.0" is no whole number; 1 to 10000 are allowed (file FILE, line 1)`},
		{"not a number", given{env: env("PRESCIENT_WORKER_CONCURRENCY", "many")},
			`worker.concurrency: "many" is no whole number; 1 to 10000 are allowed (environment variable PRESCIENT_WORKER_CONCURRENCY)`},
		{"the library's none", given{file: "guards: {max_checks: -1}"},
			`guards.max_checks -1: 0 to 1000000 are allowed (file FILE, line 1)`},
		{"prefix", given{file: "table_prefix: Shop-"},
			`table_prefix: "Shop-" is not allowed; only a-z, 0-9 and _, without a digit first, are (file FILE, line 1)`},
		{"prefix too long", given{file: "table_prefix: " + strings.Repeat("a", 33)},
			`table_prefix: "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" has 33 characters; at most 32 are allowed (file FILE, line 1)`},
		{"dialect", given{file: "dialect: tidb"},
			`dialect: "tidb" is not known; allowed are auto, plain (file FILE, line 1)`},
		{"prefix of the orders", given{file: "jobs: {orders: {table_prefix: 1_}}"},
			`jobs.orders.table_prefix: "1_" is not allowed; only a-z, 0-9 and _, without a digit first, are (file FILE, line 1)`},
		{"name too long", given{file: "worker: {name: " + strings.Repeat("é", 65) + "}"},
			`worker.name: "` + strings.Repeat("é", 65) + `" has 65 characters; at most 64 are allowed (file FILE, line 1)`},
		{"name with a line break", given{env: env("PRESCIENT_WORKER_NAME", "a\nb")},
			`worker.name: "a\nb" has characters that cannot be printed; they are not allowed (environment variable PRESCIENT_WORKER_NAME)`},
		{"level", given{flags: []string{"--log-level=loud"}},
			`log.level: "loud" is not known; allowed are trace, debug, info, warn, error, disabled (flag --log-level)`},
		{"format", given{file: "log: {format: xml}"},
			`log.format: "xml" is not known; allowed are auto, console, json (file FILE, line 1)`},
		{"truth", given{file: "jobs: {orders: {enabled: 1}}"},
			`jobs.orders.enabled: "1" is neither true nor false (file FILE, line 1)`},
		{"guards of a job begin at 1", given{file: "jobs: {orders: {concurrency: 0}}"},
			`jobs.orders.concurrency 0: 1 to 10000 are allowed (file FILE, line 1)`},
		{"a pool of nothing", given{file: "worker: {pools: {heavy: 0}}"},
			`worker.pools: "heavy" 0: 1 to 10000 are allowed (file FILE, line 1)`},
		{"a pool without a number", given{env: env("PRESCIENT_WORKER_POOLS", "heavy")},
			`worker.pools: "heavy" is no name and number; want some such as heavy=4,eu=2 (environment variable PRESCIENT_WORKER_POOLS)`},
		{"the name of a pool", given{file: "worker: {pools: {'a b': 1}}"},
			`worker.pools: a name: "a b" is not allowed; only letters, digits and _ . - are (file FILE, line 1)`},
		{"a pool twice", given{flags: []string{"--worker-pools=eu=1,eu=2"}},
			`worker.pools: "eu" is given twice (flag --worker-pools)`},
		{"a number that hides another pool", given{file: "worker:\n  pools:\n    heavy: 4,eu=2"},
			`worker.pools.heavy: it has = or a comma, which are not allowed (file FILE, line 3)`},
		{"pools as a list", given{file: "worker: {pools: [heavy]}"},
			`worker.pools: it has the wrong form; want names with a number each (file FILE, line 1)`},
		{"a pool with keys below it", given{file: "worker: {pools: {heavy: {n: 4}}}"},
			`worker.pools: it has the wrong form; want names with a number each (file FILE, line 1)`},

		// values together
		{"a grid that divides no day", given{file: "slots: {resolution: 7m}"},
			`slots.resolution: resolution not allowed: 7m0s does not divide a day; allowed are whole seconds from 1s to 24h0m0s that divide a day exactly, the nearest are 6m40s and 7m12s (file FILE, line 1)`},
		{"an assignment waits for the grid", given{file: "slots: {resolution: often}\nworker: {minutes: 7}"},
			`slots.resolution: "often" is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d (file FILE, line 1)`},
		{"minutes and share", given{file: "worker: {minutes: 0}", flags: []string{"--worker-share=1/2"}},
			`worker.minutes: worker.share is given too (flag --worker-share); only one of the two is allowed (file FILE, line 1)`},
		{"a minute without a slot", given{file: "worker: {minutes: 7}"},
			`worker.minutes: assignment not allowed: minutes "7": no slot begins in minute 7 at a resolution of 15m0s; allowed are 0, 15, 30, 45 (file FILE, line 1)`},
		{"minutes without end", given{env: env("PRESCIENT_WORKER_MINUTES", strings.Repeat("7,", 101))},
			`worker.minutes: "` + strings.Repeat("7,", 40) + `"… has 202 characters; at most 200 are allowed (environment variable PRESCIENT_WORKER_MINUTES)`},
		{"escalation before the first look", given{file: "jobs.orders.escalate_after: 2h"},
			`jobs.orders.escalate_after: "2h" is not allowed; it has to be longer than jobs.orders.primary_after, which is "3h" (file FILE, line 1)`},

		// keys of the file
		{"unknown", given{file: "worker:\n  leese: 30s"},
			`worker.leese: unknown key; did you mean worker.lease? (file FILE, line 2)`},
		{"unknown and unlike any", given{file: "colour: red"},
			`colour: unknown key (file FILE, line 1)`},
		{"unknown with dots", given{file: "worker.batch.size: 7"},
			`worker.batch.size: unknown key (file FILE, line 1)`},
		{"the name of no item", given{file: "'jobs.http[0].exec': x\n'jobs.http[].exec': x"},
			"jobs.http[0].exec: unknown key; did you mean jobs.http[].exec? (file FILE, line 1)\njobs.http[].exec: unknown key; did you mean jobs.http[].exec? (file FILE, line 2)"},
		{"twice", given{file: "worker:\n  lease: 3s\n  Lease: 4s"},
			`worker.lease: it is given twice, first in line 2 (file FILE, line 3)`},
		{"twice, once with a dot", given{file: "worker.lease: 3s\nworker: {lease: 4s}"},
			`worker.lease: it is given twice, first in line 1 (file FILE, line 2)`},
		{"a section twice", given{file: "worker: {batch: 3}\nworker: {lease: 4s}"},
			`worker: it is given twice, first in line 1 (file FILE, line 2)`},
		{"a value for a section", given{file: "worker: 30s"},
			`worker: it has the wrong form; want keys below it (file FILE, line 1)`},
		{"a list for a value", given{file: "worker: {minutes: [0, 30]}"},
			`worker.minutes: it has the wrong form; want one value (file FILE, line 1)`},
		{"keys for a value", given{file: "dsn: {user: root}"},
			`dsn: it has the wrong form; want one value (file FILE, line 1)`},
		{"keys for a list", given{file: "jobs: {http: {exec: a}}"},
			`jobs.http: it has the wrong form; want a list (file FILE, line 1)`},
		{"no keys at all", given{file: "- a\n- b"},
			`config: it has the wrong form; want keys below it (file FILE, line 1)`},
		{"a key that is no text", given{file: "worker: {[a]: b}"},
			`worker: a key has to be a plain text (file FILE, line 1)`},

		// form of the file
		{"no YAML", given{file: "worker: {"},
			`config: line 1: did not find expected node content (file FILE)`},
		{"a star without quotes", given{file: "worker:\n  minutes: */15"},
			`config: line 2: did not find expected alphabetic or numeric character; a value that begins with * or & has to be in quotes (file FILE)`},
		{"an alias", given{file: "table_prefix: &a x\nworker: {name: *a}"},
			"table_prefix: anchors, aliases and tags of YAML are not allowed; a value that begins with *, & or ! has to be in quotes (file FILE, line 1)\n" +
				"worker.name: anchors, aliases and tags of YAML are not allowed; a value that begins with *, & or ! has to be in quotes (file FILE, line 2)"},
		{"a tag", given{file: "table_prefix: !vault x"},
			`table_prefix: anchors, aliases and tags of YAML are not allowed; a value that begins with *, & or ! has to be in quotes (file FILE, line 1)`},
		{"two documents", given{file: "table_prefix: a\n---\ntable_prefix: b"},
			`config: it has more than one document; only one is allowed (file FILE)`},
		{"too large", given{file: strings.Repeat("#\n", 1<<20)},
			`config: file FILE has more than 1048576 bytes, which is the most that is allowed (named explicitly)`},
		{"not there", given{env: env("PRESCIENT_CONFIG", "/nowhere/a.yaml")},
			`config: file /nowhere/a.yaml cannot be read: no such file or directory (environment variable PRESCIENT_CONFIG)`},
		{"a folder", given{env: env("PRESCIENT_CONFIG", "/")},
			`config: file / cannot be read: is a directory (environment variable PRESCIENT_CONFIG)`},

		// the environment
		{"misspelt", given{env: env("PRESCIENT_WORKER_LEESE", "30s")},
			`PRESCIENT_WORKER_LEESE: unknown variable; did you mean PRESCIENT_WORKER_LEASE? (environment)`},
		{"unknown, even if it is empty", given{env: env("PRESCIENT_X", "", "OTHER", "x")},
			`PRESCIENT_X: unknown variable (environment)`},
		{"a list", given{env: env("PRESCIENT_JOBS_HTTP", "[]")},
			`PRESCIENT_JOBS_HTTP: jobs.http is a list, which only the file can have (environment)`},
		{"others of the project", given{env: env("PRESCIENT_CACHE", "a", "PRESCIENT_TEST_DSNS", "b", "PRESCIENT_TEST_DSN", "e", "PRESCIENT_TEST_DIALECT", "plain", "PRESCIENT_TEST_RABBITMQ", "d", "PRESCIENT_SERVER_DIR", "c", "PRESCIENT_CONFIG", "")}, ""},
		{"those of a Kubernetes service", given{env: env("PRESCIENT_SERVICE_HOST", "10.0.0.1", "PRESCIENT_SERVICE_PORT", "80",
			"PRESCIENT_SERVICE_PORT_HTTP", "80", "PRESCIENT_PORT", "tcp://10.0.0.1:80", "PRESCIENT_PORT_80_TCP", "tcp://10.0.0.1:80",
			"PRESCIENT_WORKER_PORT_80_TCP_PROTO", "tcp", "PRESCIENT_PORT_80_TCP_PORT", "80", "PRESCIENT_PORT_80_TCP_ADDR", "10.0.0.1")}, ""},

		// together
		{"all at once", given{
			file:  "worker: {lease: 1s}\nlogg: {}\njobs: {http: [{exec: a}]}",
			env:   env("PRESCIENT_Y", "1", "PRESCIENT_SWEEP_RATE", "fast"),
			flags: []string{"--log-level=loud"},
		}, `logg: unknown key; did you mean log? (file FILE, line 2)
PRESCIENT_Y: unknown variable (environment)
worker.lease 1s: 2s to 1h are allowed (file FILE, line 1)
sweep.rate: "fast" is no whole number; 0 to 10000000 are allowed (environment variable PRESCIENT_SWEEP_RATE)
log.level: "loud" is not known; allowed are trace, debug, info, warn, error, disabled (flag --log-level)
jobs.http[0].url: it is missing (file FILE, line 3)`},
	} {
		t.Run(test.name, func(t *testing.T) {
			if _, got := test.given.load(t); got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestFileThatCannotBeReadIsNotPassedOver(t *testing.T) {
	options := given{}.options(t)
	options.SearchPaths = []string{t.TempDir()}
	if _, err := Load(options); err == nil || !strings.Contains(err.Error(), "is a directory") {
		t.Errorf("got %v", err)
	}
}
