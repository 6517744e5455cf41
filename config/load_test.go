package config

import (
	"errors"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/pflag"

	"prescient/slots"

	"prescient/config/value"
	"prescient/prescient"
)

func TestDefaults(t *testing.T) {
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		Connections: 40, Dialect: "auto", Grid: grid,
		Worker: Worker{
			Assignment: slots.All(grid), Concurrency: 32, Batch: 2000, Pace: "needed",
			Lease: 60 * time.Second, StopGrace: 20 * time.Second, Patience: 2 * time.Minute,
		},
		Guards: prescient.Guards{Timeout: 30 * time.Second, MaxChecks: 5, MaxErrors: 5, Horizon: 720 * time.Hour},
		Sweep:  Sweep{Every: time.Minute, Grace: 10 * time.Second, FinishWithin: 5 * time.Minute},
		Doctor: Doctor{Failing: 10, FailingCalls: 10, Clock: time.Second, Partitions: 7 * value.Day, Purge: 1_000_000, Transaction: time.Hour},
		Log:    Log{Level: zerolog.InfoLevel, Format: "auto"},
		Events: Events{Lease: 15 * time.Second, Poll: 250 * time.Millisecond, Concurrency: 256, Source: "prescient"},
		Notify: Notify{Every: time.Minute, Hold: 2 * time.Minute, Gone: 5 * time.Minute, Reminder: value.Day},
		Serve:  Serve{Address: "127.0.0.1:8080", Rate: 20, Concurrent: 32, Connections: 512, Colour: "grey", SessionIdle: 2 * time.Hour, SessionTime: 12 * time.Hour, OIDC: OIDC{NameClaim: "email", RoleClaim: "groups"}},
		Jobs:   Jobs{Orders: OrdersJob{Exec: "order-unshipped", PrimaryAfter: 3 * time.Hour, EscalateAfter: 6 * time.Hour}},
	}
	if got := withoutSources(Default()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %#v\nwant %#v", bare(got), bare(want))
	}
}

func TestEverySourceIsStrongerThanTheOneBefore(t *testing.T) {
	file := "worker: {lease: 30s}"
	env := map[string]string{"PRESCIENT_WORKER_LEASE": "40s"}
	flags := []string{"--worker-lease=50s"}
	for _, test := range []struct {
		name   string
		given  given
		want   time.Duration
		source string
	}{
		{"nothing", given{}, 60 * time.Second, "default"},
		{"file", given{file: file}, 30 * time.Second, "file FILE, line 1"},
		{"environment", given{env: env}, 40 * time.Second, "environment variable PRESCIENT_WORKER_LEASE"},
		{"flag", given{flags: flags}, 50 * time.Second, "flag --worker-lease"},
		{"environment over file", given{file: file, env: env}, 40 * time.Second, "environment variable PRESCIENT_WORKER_LEASE"},
		{"flag over file", given{file: file, flags: flags}, 50 * time.Second, "flag --worker-lease"},
		{"flag over environment", given{env: env, flags: flags}, 50 * time.Second, "flag --worker-lease"},
		{"flag over all", given{file: file, env: env, flags: flags}, 50 * time.Second, "flag --worker-lease"},
		{"an empty variable is none", given{file: file, env: map[string]string{"PRESCIENT_WORKER_LEASE": ""}}, 30 * time.Second, "file FILE, line 1"},
		{"a key without a value is none", given{file: "worker:\n  lease:\nsweep:\n"}, 60 * time.Second, "default"},
		{"a key with dots", given{file: "worker.lease: 30s"}, 30 * time.Second, "file FILE, line 1"},
		{"case does not count", given{file: "Worker:\n  LEASE: 30s"}, 30 * time.Second, "file FILE, line 2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := test.given.mustLoad(t)
			if c.Worker.Lease != test.want {
				t.Errorf("lease is %s, want %s", c.Worker.Lease, test.want)
			}
			for _, s := range c.Describe() {
				want := strings.Replace(test.source, "FILE", c.File, 1)
				if s.Key == "worker.lease" && s.Source != want {
					t.Errorf("source is %q, want %q", s.Source, want)
				}
			}
			if got := c.Given("worker.lease"); got != (test.source != "default") {
				t.Errorf("Given is %t", got)
			}
		})
	}
}

// another is a value for each key that is neither its default nor what another key has.
var another = map[string]string{
	"tls.ca_file": "", "tls.server_name": "n2", "tls.cert_file": "", "tls.key_file": "", "tls.public_key_file": "",
	"dsn": "u:p@tcp(h:1)/d", "dsn_file": "", "connections": "41", "table_prefix": "p_", "dialect": "plain", "person": "Ada", "slots.resolution": "5m", "worker.minutes": "0,30",
	"worker.share": "", "worker.name": "n", "worker.concurrency": "3", "worker.buckets": "4", "worker.batch": "5",
	"worker.lease": "6s", "worker.stop_grace": "7s", "worker.patience": "24s", "worker.put_off_purge": "25s", "worker.pools": "heavy=38,EU=39", "worker.pace": "full", "worker.finish_within": "30s", "guards.timeout": "8s", "guards.max_checks": "9",
	"guards.max_errors": "10", "guards.retry_within": "32s", "guards.horizon": "11d", "guards.expires_after": "14s", "guards.concurrency": "12", "guards.sla": "13s",
	"sweep.every": "14s", "sweep.grace": "15s", "sweep.rate": "16", "sweep.finish_within": "17s", "doctor.overdue": "26m", "doctor.missed": "27", "doctor.failing": "32", "doctor.failing_calls": "33", "doctor.clock": "28s", "doctor.partitions": "29d",
	"doctor.purge": "30", "doctor.transaction": "31s",
	"log.level": "error", "log.format": "json",
	"events.lease": "34s", "events.poll": "35ms", "events.concurrency": "36", "events.keep": "true", "events.source": "37", "heartbeats.slots": "", // which names one of the file
	"metrics.listen": "127.0.0.1:9464", "notify.every": "100s", "notify.hold": "101s", "notify.gone": "102s", "notify.reminder": "103s", "notify.ignore": "104",
	"serve.address": "h:81", "serve.open": "operator", "serve.dsn_viewer": "v@tcp(h:1)/d", "serve.dsn_operator": "o@tcp(h:1)/d", "serve.dsn_admin": "a@tcp(h:1)/d", "serve.dsn_door": "d@tcp(h:1)/d",
	"serve.tls_cert_file": "c.pem", "serve.tls_key_file": "k.pem", "serve.rate": "82", "serve.concurrent": "83", "serve.connections": "92",
	"serve.base_url": "https://ops.example.org/84", "serve.place": "85", "serve.colour": "red", "serve.proxies": "10.0.0.86", "serve.session_idle": "98m", "serve.session_time": "99m", "serve.oidc_issuer": "https://id.example.org/87", "serve.oidc_client_id": "88",
	"serve.oidc_secret_file": "", "serve.oidc_name_claim": "89", "serve.oidc_role_claim": "90", "serve.oidc_roles": "91=admin",
	"jobs.orders.enabled": "true", "jobs.orders.exec": "e", "jobs.orders.table_prefix": "o_", "jobs.orders.primary_after": "17s",
	"jobs.orders.escalate_after": "18s", "jobs.orders.timeout": "19s", "jobs.orders.max_checks": "0",
	"jobs.orders.max_errors": "20", "jobs.orders.retry_within": "33s", "jobs.orders.horizon": "21d", "jobs.orders.expires_after": "24s", "jobs.orders.concurrency": "22", "jobs.orders.sla": "23s",
}

func dsnOf(user string) value.Secret {
	return value.SecretShownAs(user+"@tcp(h:1)/d", user+"@tcp(h:1)/d")
}

func TestEveryKeyIsReadFromEverySource(t *testing.T) {
	var file, flags []string
	env := make(map[string]string)
	flagged := pflag.NewFlagSet("all", pflag.ContinueOnError)
	for _, f := range fields(new(Config)) {
		text, listed := another[f.name]
		if !listed {
			t.Errorf("this test has no value for %s", f.name)
		}
		file = append(file, f.name+": '"+text+"'")
		env[envName(f.name)] = text
		flagged.String(flagName(f.name), "", "")
		flags = append(flags, "--"+flagName(f.name)+"="+text)
	}
	grid, _ := slots.NewGrid(5 * time.Minute)
	minutes, _ := slots.ParseMinutes(grid, "0,30")
	want := Config{
		DSN: value.SecretShownAs("u:p@tcp(h:1)/d", "u:***@tcp(h:1)/d"), TLS: TLS{ServerName: "n2"}, Connections: 41, TablePrefix: "p_", Dialect: "plain", Person: "Ada", Grid: grid,
		Worker: Worker{minutes, "n", 3, 4, 5, "full", 30 * time.Second, 6 * time.Second, 7 * time.Second, 24 * time.Second, 25 * time.Second, map[string]int{"heavy": 38, "EU": 39}},
		Guards: prescient.Guards{Timeout: 8 * time.Second, MaxChecks: 9, MaxErrors: 10, RetryWithin: 32 * time.Second, Horizon: 11 * value.Day, ExpiresAfter: 14 * time.Second, Concurrency: 12, SLA: 13 * time.Second},
		Sweep:  Sweep{14 * time.Second, 15 * time.Second, 16, 17 * time.Second}, Doctor: Doctor{26 * time.Minute, 27, 32, 33, 28 * time.Second, 29 * value.Day, 30, 31 * time.Second}, Log: Log{zerolog.ErrorLevel, "json"},
		Serve: Serve{"h:81", "operator", dsnOf("v"), dsnOf("o"), dsnOf("a"), dsnOf("d"), "c.pem", "k.pem", 82, 83, 92, "https://ops.example.org/84", "85", "red", []netip.Prefix{netip.MustParsePrefix("10.0.0.86/32")}, 98 * time.Minute, 99 * time.Minute,
			OIDC{"https://id.example.org/87", "88", value.Secret{}, "89", "90", map[string]string{"91": "admin"}}},
		Metrics: Metrics{"127.0.0.1:9464"}, Notify: Notify{nil, 100 * time.Second, 101 * time.Second, 102 * time.Second, 103 * time.Second, []string{"104"}}, Events: Events{nil, 34 * time.Second, 35 * time.Millisecond, 36, true, "37"},
		Jobs: Jobs{Orders: OrdersJob{true, "e", "o_", 17 * time.Second, 18 * time.Second,
			prescient.Guards{Timeout: 19 * time.Second, MaxChecks: prescient.None, MaxErrors: 20, RetryWithin: 33 * time.Second, Horizon: 21 * value.Day, ExpiresAfter: 24 * time.Second, Concurrency: 22, SLA: 23 * time.Second}}},
	}
	check := func(name string, c Config) {
		if got := withoutSources(c); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v", name, bare(got))
		}
	}
	check("file", given{file: strings.Join(file, "\n")}.mustLoad(t))
	check("environment", given{env: env}.mustLoad(t))
	if err := flagged.Parse(flags); err != nil {
		t.Fatal(err)
	}
	options := given{}.options(t)
	options.Flags = flagged
	c, err := Load(options)
	if err != nil {
		t.Fatal(err)
	}
	check("flags", c)
}

func TestAssignmentOfTheWorker(t *testing.T) {
	for _, test := range []struct{ file, want string }{
		{"{}", "every slot"},
		{"worker: {minutes: '0,30'}", "minutes 0,30"},
		{"worker: {minutes: 0}", "minutes 0"},
		{"worker: {minutes: '*/15'}", "every slot"},
		{"worker: {share: 1/2}", "share 1/2"},
		{"worker: {share: 2/3}\nslots: {resolution: 24h}", "share 2/3"},
		{"worker: {minutes: 10-50/20}\nslots: {resolution: 10m}", "minutes 10,30,50"},
	} {
		if got := (given{file: test.file}).mustLoad(t).Worker.Assignment.String(); got != test.want {
			t.Errorf("%s serves %s, want %s", test.file, got, test.want)
		}
	}
}

func TestPoolsOfTheWorker(t *testing.T) {
	want := map[string]int{"heavy": 4, "eu.1": 2}
	for _, g := range []given{
		{file: "worker: {pools: {heavy: 4, eu.1: 2}}"}, {file: "worker:\n  pools:\n    eu.1: 2\n    heavy: 4"}, {file: "worker: {pools: 'heavy=4, eu.1 = 2'}"},
		{file: "worker.pools: {heavy: 4, eu.1: 2}"}, {flags: []string{"--worker-pools=heavy=4,eu.1=2"}}, {env: map[string]string{"PRESCIENT_WORKER_POOLS": "heavy=4,eu.1=2"}},
		{file: "worker: {pools: {other: 1}}", flags: []string{"--worker-pools=heavy=4,eu.1=2"}},
	} {
		if got := g.mustLoad(t).Worker.Pools; !reflect.DeepEqual(got, want) {
			t.Errorf("%+v: got %v", g, got)
		}
	}
	for _, file := range []string{"worker: {pools: ''}", "worker: {pools: {}}", "worker: {pools: }"} {
		if got := (given{file: file}).mustLoad(t).Worker.Pools; got != nil {
			t.Errorf("%s: got %v", file, got)
		}
	}
}

func TestZeroOfACountIsNone(t *testing.T) {
	c := given{file: "guards: {max_checks: 0, max_errors: 0}"}.mustLoad(t)
	if c.Guards.MaxChecks != None || c.Guards.MaxErrors != None {
		t.Errorf("got %+v, want None for both", c.Guards)
	}
}

func TestFileIsFound(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	for _, name := range []string{"first", "second"} {
		if err := os.WriteFile(at(name), []byte("table_prefix: "+name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		name  string
		file  string
		env   string
		paths []string
		want  string
	}{
		{"the first that exists", "", "", []string{at("none"), at("first/below"), at("second"), at("first")}, "second"},
		{"none has to exist", "", "", []string{at("none")}, ""},
		{"the variable before these", "", at("first"), []string{at("second")}, "first"},
		{"the explicit one before all", at("second"), at("first"), []string{at("first")}, "second"},
	} {
		t.Run(test.name, func(t *testing.T) {
			env := map[string]string{"PRESCIENT_CONFIG": test.env}
			options := given{env: env}.options(t)
			options.File, options.SearchPaths = test.file, test.paths
			c, err := Load(options)
			if err != nil {
				t.Fatal(err)
			}
			if c.TablePrefix != test.want || (c.File != "") != (test.want != "") {
				t.Errorf("read %q from %q, want %q", c.TablePrefix, c.File, test.want)
			}
		})
	}
}

func TestUsualPaths(t *testing.T) {
	for _, test := range []struct {
		env  map[string]string
		want []string
	}{
		{nil, []string{"prescient.yaml", "/etc/prescient/prescient.yaml"}},
		{map[string]string{"HOME": "/home/a"}, []string{"prescient.yaml", "/home/a/.config/prescient/prescient.yaml", "/etc/prescient/prescient.yaml"}},
		{map[string]string{"HOME": "/home/a", "XDG_CONFIG_HOME": "/x"}, []string{"prescient.yaml", "/x/prescient/prescient.yaml", "/etc/prescient/prescient.yaml"}},
		{map[string]string{"XDG_CONFIG_HOME": "relative"}, []string{"prescient.yaml", "/etc/prescient/prescient.yaml"}},
	} {
		options := Options{Env: func(name string) (string, bool) { v, ok := test.env[name]; return v, ok }}.complete()
		if !reflect.DeepEqual(options.SearchPaths, test.want) {
			t.Errorf("%v: got %q, want %q", test.env, options.SearchPaths, test.want)
		}
	}
}

func TestErrorsCanBeToldApart(t *testing.T) {
	_, err := Load(given{file: "slots: {resolution: 7m}"}.options(t))
	var one *Error
	if !errors.As(err, &one) || one.Key != "slots.resolution" || !errors.Is(err, slots.ErrResolution) {
		t.Errorf("got %v", err)
	}
	_, err = Default().RequireDSN()
	if !errors.As(err, &one) || one.Key != "dsn" || !strings.Contains(err.Error(), "--dsn-file") {
		t.Errorf("got %v", err)
	}
	dsn, err := given{flags: []string{"--dsn", "u:p@tcp(h)/d"}}.mustLoad(t).RequireDSN()
	if dsn != "u:p@tcp(h)/d" || err != nil {
		t.Errorf("got %q, %v", dsn, err)
	}
}

func TestProcessEnvironmentIsTheDefault(t *testing.T) {
	t.Setenv("PRESCIENT_TABLE_PREFIX", "real_")
	t.Setenv("PRESCIENT_TABEL_PREFIX", "")
	c, err := Load(Options{SearchPaths: []string{}})
	if err == nil || !strings.Contains(err.Error(), "PRESCIENT_TABEL_PREFIX: unknown variable; did you mean PRESCIENT_TABLE_PREFIX?") {
		t.Errorf("got %v", err)
	}
	if !reflect.DeepEqual(c, Config{}) {
		t.Error("a Config came with the error")
	}
	os.Unsetenv("PRESCIENT_TABEL_PREFIX")
	if c, err = Load(Options{SearchPaths: []string{}}); err != nil || c.TablePrefix != "real_" {
		t.Errorf("got %q, %v", c.TablePrefix, err)
	}
}
