package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
)

// none is a DSN on which nobody answers, so that what comes before the database is told from what comes after.
const none = "user:topsecret@tcp(127.0.0.1:1)/none"

func TestWrongInputIsRefusedBeforeTheDatabaseIsAsked(t *testing.T) {
	insert := func(args ...string) []string {
		return append([]string{"insert", "--entity", "order/42", "--exec", "unshipped"}, args...)
	}
	for _, test := range []struct {
		about string
		args  []string
		says  string
	}{
		// insert
		{"no entity", []string{"insert"}, "give --entity name/key"},
		{"entity without a key", []string{"insert", "--entity", "order", "--exec", "x", "--in", "1h"}, `--entity: invalid: entity "order": want name/key`},
		{"entity of a wrong name", []string{"insert", "--entity", "or der/1", "--exec", "x", "--in", "1h"}, "only letters, digits and _ . - are allowed"},
		{"no job_exec", []string{"insert", "--entity", "order/42", "--in", "1h"}, "give --exec"},
		{"wrong job_exec", []string{"insert", "--entity", "order/42", "--exec", "x y", "--in", "1h"}, `job_exec "x y"`},
		{"tag too long", insert("--in", "1h", "--tag", strings.Repeat("x", 65)), "at most 64 are allowed"},
		{"no time", insert(), "give --at TIME or --in DURATION"},
		{"two times", insert("--at", "now", "--in", "1h"), "--at and --in exclude each other"},
		{"wrong time", insert("--at", "tomorrow"), `--at: time "tomorrow": want now`},
		{"a day that is not", insert("--at", "2026-02-30 10:00"), "--at: time"},
		{"wrong duration", insert("--in", "3"), "--in: "},
		{"negative duration", insert("--in", "-3h"), "negative"},
		{"payload is no JSON", insert("--in", "1h", "--payload", "{"), "payload of order/42 is not JSON"},
		{"payload from a file that is not", insert("--in", "1h", "--payload", "@/nonexistent"), "--payload: open /nonexistent"},
		{"payload from an empty stdin", insert("--in", "1h", "--payload", "-"), "is not JSON"},
		{"wrong policy", insert("--in", "1h", "--on-pending", "later than"), "keep, replace, earlier, later or error are allowed"},
		{"an argument too many", insert("--in", "1h", "rest"), `insert takes no argument, but was given "rest"`},

		// others
		{"cancel of nothing", []string{"cancel"}, "give --entity"},
		{"reschedule without a time", []string{"reschedule", "--entity", "a/b", "--exec", "x"}, "give --at TIME or --in DURATION"},
		{"get without a job_exec", []string{"get", "--entity", "a/b"}, "give --exec"},
		{"limit of 0", []string{"jobs", "--limit", "0"}, "--limit 0: 1 to 9999 are allowed"},
		{"wrong window", []string{"jobs", "--from", "yesterday"}, `--from: time "yesterday"`},
		{"slot and window", []string{"jobs", "--slot", "now", "--from", "now"}, "give either a slot or --from and --before"},
		{"wrong outcome", []string{"history", "--outcome", "dead"}, "done, cancelled, max_checks"},
		{"limit of slots", []string{"slots", "--limit", "10000"}, "--limit 10000"},
		{"two times to round", []string{"slots", "ceil", "2026-03-01", "13:05"}, "takes one time, but was given 2"},
		{"nothing to cover", []string{"slots", "cover"}, "give --minutes or --share"},
		{"assignments that are none", []string{"slots", "cover", "--minutes", "7"}, "--minutes: "},
		{"dropping without a yes", []string{"migrate", "down"}, "give --yes"},
		{"demo of no length", []string{"demo", "--for", "1s"}, "--for: 1s: 2s to 1h0m0s are allowed"},
		{"demo that escalates first", []string{"demo", "--alert-after", "5s", "--escalate-after", "5s"}, "more than --alert-after"},
		{"demo that keeps nothing", []string{"demo", "--keep"}, "--keep"},
		{"unknown command", []string{"job"}, `unknown command "job" for prescient; did you mean jobs?`},
		{"unknown subcommand", []string{"migrate", "sideways"}, `unknown command "sideways" for prescient migrate`},
		{"unknown flag", []string{"jobs", "--colour"}, "unknown flag: --colour (see prescient jobs --help)"},
		{"flag without its value", []string{"jobs", "--exec"}, "flag needs an argument: --exec"},
		{"flag given twice", []string{"jobs", "--exec", "a", "--exec", "b"}, "--exec is given twice; once is allowed"},
		{"configuration given twice", []string{"jobs", "--sweep-every", "1m", "--sweep-every", "2m"}, "--sweep-every is given twice"},
		{"DSN given twice", []string{"jobs", "--dsn", none, "--dsn", "a:topsecret@tcp(b:1)/c"}, "--dsn is given twice"},
		{"flag that is no number", []string{"jobs", "--limit", "ten"}, `"ten"`},

		// configuration
		{"wrong value of a key", []string{"jobs", "--worker-lease", "1s"}, "worker.lease: "},
		{"file that is not", []string{"jobs", "--config", "/nonexistent.yaml"}, "/nonexistent.yaml"},
		{"minutes that are no slots", []string{"work", "--worker-minutes", "7"}, "worker.minutes: "},
	} {
		t.Run(test.about, func(t *testing.T) {
			got := execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": none}, "", test.args...)
			got.wants(t, cmd.ExitUsage, "prescient: ", test.says)
			if strings.Count(got.err, "\n") != 1 || got.out != "" {
				t.Errorf("%v\nwant one line on stderr, and nothing else", got)
			}
			if strings.Contains(got.err, "topsecret") {
				t.Errorf("the password is shown: %v", got)
			}
		})
	}
}

// A flag that takes a list may be given again, and any flag with what it has already.
func TestFlagsThatMayBeGivenAgain(t *testing.T) {
	for _, args := range [][]string{{"cancel", "--entity", "a/b", "--exec", "x", "--exec", "y"}, {"doctor", "--only", "rows", "--only", "clock"},
		{"jobs", "--json", "--exec", "a", "--json", "--exec", "a"}} {
		execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": none}, "", args...).wants(t, cmd.ExitDatabase)
	}
}

func TestEverythingThatIsWrongWithTheConfigurationHasItsLine(t *testing.T) {
	env := map[string]string{"PRESCIENT_WORKER_LEAS": "5s", "PRESCIENT_GUARDS_TIMEOUT": "soon", "PRESCIENT_DSN": none}
	got := execute(t.Context(), cmd.Options{}, env, "", "work")
	got.wants(t, cmd.ExitUsage, "PRESCIENT_WORKER_LEAS", "guards.timeout: ")
	for line := range strings.Lines(got.err) {
		if !strings.HasPrefix(line, "prescient: ") {
			t.Errorf("line without the name of the program: %s", line)
		}
	}
}

func TestNoDSN(t *testing.T) {
	execute(t.Context(), cmd.Options{}, nil, "", "jobs").wants(t, cmd.ExitUsage, "PRESCIENT_DSN", "--dsn")
}

// What is typed in the wrong place may be the DSN.
func TestSecretsAreNotShown(t *testing.T) {
	const dsn = "dev:topsecret@tcp(127.0.0.1:1)/x"
	for _, args := range [][]string{
		{"jobs", "-dsn=" + dsn}, {"jobs", dsn}, {dsn}, {"jobs", "--dns", dsn}, {"jobs", "--dns=" + dsn}, {"jobs", "--limit", dsn},
		{"jobs", "--dsn", dsn}, {"jobs", "--dsn", "topsecret:x@"}, {"config", "--dsn", dsn}, {"config", "--json", "--dsn", dsn},
		{"run", "--dsn", dsn}, {"migrate", "--dsn", dsn}, {"demo", "--dsn", dsn}, {"slots", "ceil", dsn, dsn},
		{"jobs", "--worker-name", dsn, "--dsn", dsn},
	} {
		got := execute(t.Context(), cmd.Options{}, nil, "", args...)
		if strings.Contains(got.err+got.out, "topsecret") {
			t.Errorf("the password is shown: %v", got)
		}
		if got.code == cmd.ExitOK {
			t.Errorf("%v", got)
		}
	}
}

func TestDatabaseThatCannotBeReached(t *testing.T) {
	for _, args := range append(linesThatAsk("database", "tables"), []string{"demo", "--dsn", none}) {
		got := execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": none}, "", args...)
		got.wants(t, cmd.ExitDatabase, "prescient: database user:***@tcp(127.0.0.1:1)/none: ", "connection refused")
	}
}

func TestHelp(t *testing.T) {
	root := execute(t.Context(), cmd.Options{}, nil, "", "--help")
	root.wants(t, cmd.ExitOK)
	for _, text := range []string{"Exit codes:", "roll-forward", "--worker-lease", "--json"} {
		if !strings.Contains(root.out, text) {
			t.Errorf("no %q in %s", text, root.out)
		}
	}
	if bare := execute(t.Context(), cmd.Options{}, nil, ""); bare.out != root.out || bare.code != cmd.ExitOK {
		t.Errorf("without a command: %v", bare)
	}
	insert := execute(t.Context(), cmd.Options{Program: "shopchecks"}, nil, "", "insert", "--help")
	if strings.Contains(insert.out, "--worker-lease") || !strings.Contains(insert.out, `see "shopchecks --help"`) {
		t.Errorf("%v", insert)
	}
}

func TestConfigShowsWhatIsInEffect(t *testing.T) {
	env := map[string]string{"PRESCIENT_DSN": none, "PRESCIENT_SLOTS_RESOLUTION": "5m"}
	got := execute(t.Context(), cmd.Options{}, env, "", "config", "--worker-lease", "9s")
	got.wants(t, cmd.ExitOK)
	for _, line := range []string{
		"dsn: user:***@tcp(127.0.0.1:1)/none  # environment variable PRESCIENT_DSN\n",
		"slots.resolution: 5m  # environment variable PRESCIENT_SLOTS_RESOLUTION\n",
		"worker.lease: 9s  # flag --worker-lease\n",
	} {
		if !strings.Contains(got.out, line) {
			t.Errorf("no %q in %s", line, got.out)
		}
	}
	type setting struct{ Key, Value, Source string }
	settings := lines[setting](t, execute(t.Context(), cmd.Options{}, env, "", "config", "--json").out)
	if len(settings) < 10 || settings[0].Key != "dsn" || strings.Contains(settings[0].Value, "topsecret") {
		t.Errorf("%+v", settings)
	}
	if got := execute(t.Context(), cmd.Options{}, nil, "", "config", "example"); !strings.Contains(got.out, "slots:\n") {
		t.Errorf("%v", got)
	}
}

func TestVersion(t *testing.T) {
	got := execute(t.Context(), cmd.Options{Program: "shopchecks", Version: "v1.2.3"}, nil, "", "version", "--json")
	type version struct{ Program, Version, Go, Platform string }
	if v := lines[version](t, got.out); len(v) != 1 || v[0].Program != "shopchecks" || v[0].Version != "v1.2.3" || v[0].Go == "" {
		t.Errorf("%v", got)
	}
	if got := execute(t.Context(), cmd.Options{}, nil, "", "version"); !strings.HasPrefix(got.out, "prescient ") {
		t.Errorf("%v", got)
	}
}

func TestSlotArithmetic(t *testing.T) {
	for _, test := range []struct {
		args []string
		code int
		out  string
	}{
		{[]string{"ceil", "2026-03-01 13:05"}, 0, "2026-03-01T13:15:00Z\n"},
		{[]string{"ceil", "2026-03-01 13:15"}, 0, "2026-03-01T13:15:00Z\n"},
		{[]string{"ceil", "2026-03-01T13:15:00.000001Z"}, 0, "2026-03-01T13:30:00Z\n"},
		{[]string{"ceil", "2026-03-01T13:05:00+01:00", "--slots-resolution", "1d"}, 0, "2026-03-02T00:00:00Z\n"},
		{[]string{"ceil", "2026-03-01 13:05", "--json", "--worker-minutes", "0,30"}, 0,
			`{"time":"2026-03-01T13:05:00Z","slot":"2026-03-01T13:15:00Z","served":false}` + "\n"},
		{[]string{"served", "--from", "2026-03-01 13:00", "--limit", "2", "--worker-minutes", "0,30"}, 0,
			"2026-03-01T13:00:00Z\n2026-03-01T13:30:00Z\n"},
		{[]string{"cover", "--minutes", "0,30", "--minutes", "15,45"}, 0, "every slot is served exactly once\n"},
		{[]string{"cover", "--minutes", "0,30", "--share", "1/2"}, 1,
			"nobody serves :15, :45\nserved more than once: :00, :30 by minutes 0,30 and share 1/2\n"},
		{[]string{"cover", "--minutes", "0,30", "--json"}, 1, `{"period_s":3600,"unserved_s":[900,2700],"doubled":[]}` + "\n"},
	} {
		got := execute(t.Context(), cmd.Options{}, nil, "", append([]string{"slots"}, test.args...)...)
		if got.code != test.code || got.out != test.out {
			t.Errorf("%v\nwant exit code %d and %s", got, test.code, test.out)
		}
	}
	if got := execute(t.Context(), cmd.Options{}, nil, "", "slots", "ceil", "13:05"); !strings.HasSuffix(got.out, "T13:15:00Z\n") {
		t.Errorf("%v", got)
	}
}
