package cmd_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func TestWrongInputIsRefusedBeforeTheDatabaseIsAsked(t *testing.T) {
	insert := func(args ...string) []string {
		return append([]string{"insert", "--entity", "order/42", "--exec", "unshipped"}, args...)
	}
	faulty := rig.File(t, "prescient.yaml", "jobs: {http: [{exec: a, url: 'ftp://h'}]}\n")
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
		{"negative duration", insert("--in", "-3h"), "--in -3h: 0s and positive times are allowed"},
		{"payload is no JSON", insert("--in", "1h", "--payload", "{"), "payload of order/42 is not JSON"},
		{"payload from a file that is not", insert("--in", "1h", "--payload", "@/nonexistent"), "--payload: open /nonexistent"},
		{"payload from an empty stdin", insert("--in", "1h", "--payload", "-"), "is not JSON"},
		{"wrong policy", insert("--in", "1h", "--on-pending", "later than"), "keep, replace, earlier, later or error are allowed"},
		{"an argument too many", insert("--in", "1h", "rest"), `insert takes no argument, but was given "rest"`},

		// others
		{"cancel of nothing", []string{"cancel"}, "give --entity"},
		{"reschedule without a time", []string{"reschedule", "--entity", "a/b", "--exec", "x"}, "give --at TIME or --in DURATION"},
		{"get without a job_exec", []string{"get", "--entity", "a/b"}, "give --exec"},
		{"limit of 0", []string{"pending", "--limit", "0"}, "--limit 0: 1 to 9999 are allowed"},
		{"wrong window", []string{"pending", "--from", "yesterday"}, `--from: time "yesterday"`},
		{"slot and window", []string{"pending", "--slot", "now", "--from", "now"}, "give either a slot or --from and --before"},
		{"wrong outcome", []string{"history", "--outcome", "dead"}, "done, cancelled, max_checks"},
		{"limit of slots", []string{"slots", "--limit", "10000"}, "--limit 10000"},
		{"two times to round", []string{"slots", "ceil", "2026-03-01", "13:05"}, "takes one time, but was given 2"},
		{"nothing to cover", []string{"slots", "cover"}, "give --minutes or --share"},
		{"assignments that are none", []string{"slots", "cover", "--minutes", "7"}, "--minutes: "},
		{"dropping without a yes", []string{"migrate", "down"}, "give --yes"},
		{"demo of no length", []string{"demo", "--for", "1s"}, "--for 1s: 2s to 1h are allowed"},
		{"demo that escalates first", []string{"demo", "--alert-after", "5s", "--escalate-after", "5s"}, "more than --alert-after"},
		{"demo that keeps nothing", []string{"demo", "--keep"}, "--keep"},
		{"dev for others", []string{"dev", "--listen", "0.0.0.0:8080"}, `--listen: "0.0.0.0:8080": 127.0.0.1, localhost or [::1] is allowed`},
		{"dev on a server of yours", []string{"dev", "--dsn", "root@tcp(127.0.0.1:1)/x"}, "--dsn is not for dev: dev has a server of its own"},
		{"dev on no such server", []string{"dev", "--server", "postgres"}, "want mariadb or mysql"},
		{"dev on a server without a name", []string{"dev", "--server", ""}, "--server is empty"},
		{"dev with the configuration's resolution", []string{"dev", "--slots-resolution", "1s"}, "dev has --resolution"},
		{"dev with slots that divide no day", []string{"dev", "--resolution", "7s"}, "--resolution: "},
		{"dev with a page that the program has not", []string{"dev", "--listen", "127.0.0.1:0"}, "--listen: this program has no page"},
		{"dev by a file with a fault", []string{"dev", "--config", faulty}, "jobs.http[0].url: "},
		{"unknown command", []string{"histor"}, `unknown command "histor" for prescient; did you mean history?`},
		{"misspelt command", []string{"doktor"}, `unknown command "doktor" for prescient; did you mean doctor?`},
		{"a code of doctor", []string{"coverage"}, `unknown command "coverage" for prescient; did you mean doctor?`},
		{"a subcommand at the top", []string{"resend"}, `unknown command "resend" for prescient; did you mean event?`},
		{"misspelt subcommand", []string{"schedule", "lsit"}, `unknown command "lsit" for prescient schedule; did you mean list?`},
		{"unknown subcommand", []string{"migrate", "sideways"}, `unknown command "sideways" for prescient migrate`},
		{"unknown flag", []string{"pending", "--colour"}, "unknown flag: --colour (see prescient pending --help)"},
		{"span by another program's name", []string{"audit", "--since", "now-1h"}, "unknown flag: --since; a span of time is --from and --before (see prescient audit --help)"},
		{"flag without its value", []string{"pending", "--exec"}, "flag needs an argument: --exec"},
		{"flag given twice", []string{"pending", "--exec", "a", "--exec", "b"}, "--exec is given twice; once is allowed"},
		{"configuration given twice", []string{"pending", "--sweep-every", "1m", "--sweep-every", "2m"}, "--sweep-every is given twice"},
		{"DSN given twice", []string{"pending", "--dsn", rig.NoServer, "--dsn", "a:topsecret@tcp(b:1)/c"}, "--dsn is given twice"},
		{"flag that is no number", []string{"pending", "--limit", "ten"}, `"ten"`},

		// configuration
		{"wrong value of a key", []string{"pending", "--worker-lease", "1s"}, "worker.lease 1s: 2s to 1h are allowed"},
		{"file that is not", []string{"pending", "--config", "/nonexistent.yaml"}, "/nonexistent.yaml"},
		{"minutes that are no slots", []string{"work", "--worker-minutes", "7"}, "worker.minutes: "},
	} {
		t.Run(test.about, func(t *testing.T) {
			got := rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", test.args...)
			got.Wants(t, cmd.ExitUsage, "prescient: ", test.says)
			if strings.Count(got.Err, "\n") != 1 || got.Out != "" {
				t.Errorf("%v\nwant one line on stderr, and nothing else", got)
			}
			if strings.Contains(got.Err, "topsecret") {
				t.Errorf("the password is shown: %v", got)
			}
		})
	}
}

// A flag that takes a list may be given again, and any flag with what it has already.
func TestFlagsThatMayBeGivenAgain(t *testing.T) {
	for _, args := range [][]string{{"cancel", "--entity", "a/b", "--exec", "x", "--exec", "y"}, {"doctor", "--only", "rows", "--only", "clock"},
		{"pending", "--json", "--exec", "a", "--json", "--exec", "a"}} {
		rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", args...).Wants(t, cmd.ExitDatabase)
	}
}

func TestEverythingThatIsWrongWithTheConfigurationHasItsLine(t *testing.T) {
	env := map[string]string{"PRESCIENT_WORKER_LEAS": "5s", "PRESCIENT_GUARDS_TIMEOUT": "soon", "PRESCIENT_DSN": rig.NoServer}
	got := rig.Execute(t.Context(), cmd.Options{}, env, "", "work")
	got.Wants(t, cmd.ExitUsage, "PRESCIENT_WORKER_LEAS", "guards.timeout: ")
	for line := range strings.Lines(got.Err) {
		if !strings.HasPrefix(line, "prescient: ") {
			t.Errorf("line without the name of the program: %s", line)
		}
	}
}

func TestNoDSN(t *testing.T) {
	rig.Execute(t.Context(), cmd.Options{}, nil, "", "pending").Wants(t, cmd.ExitUsage, "PRESCIENT_DSN", "--dsn")
}

// What is typed in the wrong place may be the DSN.
func TestSecretsAreNotShown(t *testing.T) {
	const dsn = "dev:topsecret@tcp(127.0.0.1:1)/x"
	for _, args := range [][]string{
		{"pending", "-dsn=" + dsn}, {"pending", dsn}, {dsn}, {"pending", "--dns", dsn}, {"pending", "--dns=" + dsn}, {"pending", "--limit", dsn},
		{"pending", "--dsn", dsn}, {"pending", "--dsn", "topsecret:x@"}, {"config", "--dsn", dsn}, {"config", "--json", "--dsn", dsn},
		{"run", "--dsn", dsn}, {"migrate", "--dsn", dsn}, {"demo", "--dsn", dsn}, {"slots", "ceil", dsn, dsn},
		{"pending", "--worker-name", dsn, "--dsn", dsn},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, nil, "", args...)
		if strings.Contains(got.Err+got.Out, "topsecret") {
			t.Errorf("the password is shown: %v", got)
		}
		if got.Code == cmd.ExitOK {
			t.Errorf("%v", got)
		}
	}
}

func TestDatabaseThatCannotBeReached(t *testing.T) {
	for _, args := range append(rig.LinesThatAsk("database", "tables"), []string{"demo", "--dsn", rig.NoServer}) {
		got := rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", args...)
		got.Wants(t, cmd.ExitDatabase, "prescient: database user:***@tcp(127.0.0.1:1)/none: ", "connection refused")
	}
}

func TestHelp(t *testing.T) {
	root := rig.Execute(t.Context(), cmd.Options{}, nil, "", "--help")
	root.Wants(t, cmd.ExitOK)
	for _, text := range []string{"Exit codes:", "roll-forward", "--worker-lease", "--json"} {
		if !strings.Contains(root.Out, text) {
			t.Errorf("no %q in %s", text, root.Out)
		}
	}
	if bare := rig.Execute(t.Context(), cmd.Options{}, nil, ""); bare.Out != root.Out || bare.Code != cmd.ExitOK {
		t.Errorf("without a command: %v", bare)
	}
	insert := rig.Execute(t.Context(), cmd.Options{Program: "shopchecks"}, nil, "", "insert", "--help")
	if strings.Contains(insert.Out, "--worker-lease") || !strings.Contains(insert.Out, `see "shopchecks --help"`) {
		t.Errorf("%v", insert)
	}
}

func TestConfigShowsWhatIsInEffect(t *testing.T) {
	env := map[string]string{"PRESCIENT_DSN": rig.NoServer, "PRESCIENT_SLOTS_RESOLUTION": "5m"}
	got := rig.Execute(t.Context(), cmd.Options{}, env, "", "config", "--worker-lease", "9s")
	got.Wants(t, cmd.ExitOK)
	for _, line := range []string{
		"dsn: user:***@tcp(127.0.0.1:1)/none  # environment variable PRESCIENT_DSN\n",
		"slots.resolution: 5m  # environment variable PRESCIENT_SLOTS_RESOLUTION\n",
		"worker.lease: 9s  # flag --worker-lease\n",
	} {
		if !strings.Contains(got.Out, line) {
			t.Errorf("no %q in %s", line, got.Out)
		}
	}
	type setting struct{ Key, Value, Source string }
	settings := rig.Lines[setting](t, rig.Execute(t.Context(), cmd.Options{}, env, "", "config", "--json").Out)
	if len(settings) < 10 || settings[0].Key != "dsn" || strings.Contains(settings[0].Value, "topsecret") {
		t.Errorf("%+v", settings)
	}
	if got := rig.Execute(t.Context(), cmd.Options{}, nil, "", "config", "example"); !strings.Contains(got.Out, "slots:\n") {
		t.Errorf("%v", got)
	}
}

func TestVersion(t *testing.T) {
	got := rig.Execute(t.Context(), cmd.Options{Program: "shopchecks", Version: "v1.2.3"}, nil, "", "version", "--json")
	type version struct{ Program, Version, Go, Platform string }
	if v := rig.Lines[version](t, got.Out); len(v) != 1 || v[0].Program != "shopchecks" || v[0].Version != "v1.2.3" || v[0].Go == "" {
		t.Errorf("%v", got)
	}
	if got := rig.Execute(t.Context(), cmd.Options{}, nil, "", "version"); !strings.HasPrefix(got.Out, "prescient ") {
		t.Errorf("%v", got)
	}
}
