package config

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"prescient/config/value"
)

func TestExampleIsTheDefaults(t *testing.T) {
	c := given{file: Example}.mustLoad(t)
	if got, want := withoutSources(c), withoutSources(Default()); !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", bare(got), bare(want))
	}
	for i, s := range Default().Describe() {
		if got := c.Describe()[i]; got.Key != s.Key || got.Value != s.Value {
			t.Errorf("the example has %s: %s, the default is %s: %s", got.Key, got.Value, s.Key, s.Value)
		}
	}
}

var comment = regexp.MustCompile(`(?m)^( *)#   ( *(?:- )?[a-z_A-Z-]+:.*)$`)

// uncommented is the example with the items of its lists in force.
func uncommented() string {
	text := comment.ReplaceAllString(Example, "$1  $2")
	for name, begins := range map[string]string{"http": "  # job_execs that ask a URL.", "command": "  # job_execs that run a program.", "sql": "  # job_execs that ask a table", "routes": "  # Where events go:",
		"urls": "  # What is called, by GET:", "receivers": "  # Who is told:"} {
		text = strings.Replace(strings.Replace(text, "  "+name+": []\n", "", 1), begins, "  "+name+":\n"+begins, 1)
	}
	return text
}

func TestExampleHasEveryKey(t *testing.T) {
	var p problems
	written := parseDocument("example", []byte(Example), &p)
	item := parseDocument("example", []byte(uncommented()), &p)
	if len(p.list) > 0 {
		t.Fatalf("%v", p.list)
	}
	lines := strings.Split(Example, "\n")
	last := 0
	for _, f := range fields(new(Config)) {
		v, there := written.values[f.name]
		if !there {
			// a key without a value
			short := f.name[strings.LastIndexByte(f.name, '.')+1:]
			for i, line := range lines {
				if i >= last && strings.TrimSpace(line) == short+":" {
					v.line, there = i+1, true
					break
				}
			}
		}
		if !there || v.line <= last {
			t.Errorf("%s is missing, or not in its order", f.name)
		}
		last = v.line
	}
	for _, f := range httpFields(new(HTTPJob)) {
		if _, there := item.values[itemKey(keyHTTP, 0, f.name)]; !there {
			t.Errorf("%s is missing", itemKey(keyHTTP, 0, f.name))
		}
	}
	var condition []string
	for _, f := range sqlFields(new(SQLJob)) {
		condition = append(condition, f.name)
	}
	for _, name := range append(condition, keyAgain+"[0]", keyTopics+"[0]", keyHeaders+".x-api-version") {
		if _, there := item.values[itemKey(keySQL, 0, name)]; !there {
			t.Errorf("%s is missing", itemKey(keySQL, 0, name))
		}
	}
	for _, f := range routeFields(new(Route)) {
		if _, there := item.values[itemKey(keyRoutes, 0, f.name)]; !there {
			t.Errorf("%s is missing", itemKey(keyRoutes, 0, f.name))
		}
	}
	for _, f := range heartbeatFields(new(Heartbeat)) {
		if _, there := item.values[itemKey(keyHeartbeats, 0, f.name)]; !there {
			t.Errorf("%s is missing", itemKey(keyHeartbeats, 0, f.name))
		}
	}
	for _, f := range receiverFields(new(Receiver)) {
		n := 0
		if f.name == "from" || f.name == "to" {
			n = 1
		}
		if _, there := item.values[itemKey(keyReceivers, n, f.name)]; !there {
			t.Errorf("%s is missing", itemKey(keyReceivers, n, f.name))
		}
	}
	names := []string{keyRun + "[0]", keyEnv + ".BUCKET", keyPassEnv + "[0]"}
	for _, f := range commandFields(new(CommandJob)) {
		names = append(names, f.name)
	}
	for _, name := range names {
		if _, there := item.values[itemKey(keyCommand, 0, name)]; !there {
			t.Errorf("%s is missing", itemKey(keyCommand, 0, name))
		}
	}
	if _, there := item.values["jobs.http[0].headers.x-api-version"]; !there {
		t.Error("headers are missing")
	}
}

func TestExampleOfAnItemIsValid(t *testing.T) {
	secret := write(t, "secret", "x")
	for _, unwanted := range []string{"secret_env", "secret_file"} {
		text := regexp.MustCompile(`(?m)^ *`+unwanted+`:.*\n`).ReplaceAllString(uncommented(), "")
		text = strings.Replace(strings.Replace(text, "/run/secrets/invoice-unpaid", secret, 1), "/run/secrets/orders", secret, 1)
		text = strings.Replace(text, "/run/secrets/notify-team", secret, 1)
		text = strings.Replace(text, "/run/secrets/parcels-calls", secret, 1)
		text = strings.Replace(text, "/run/secrets/parcels", write(t, "dsn", "reader:secret@tcp(db)/shop"), 1)
		for _, of := range [][2]string{{"secret_env", "dsn_env"}, {"secret_file", "dsn_file"}} {
			if of[0] == unwanted {
				text = regexp.MustCompile(`(?m)^ *`+of[1]+`:.*\n`).ReplaceAllString(text, "")
			}
		}
		acts := regexp.MustCompile(`(?ms)^ *topics: \[parcels.*?^ *set: alerts.*?\n`)
		calls := regexp.MustCompile(`(?ms)^ *url: https://app.example.com/parcels\n.*?secret_(file|env): [/A-Za-z].*?\n`)
		if unwanted == "secret_env" {
			text = calls.ReplaceAllString(text, "")
		} else {
			text = acts.ReplaceAllString(text, "")
		}
		c := given{file: text, env: map[string]string{"INVOICE_UNPAID_SECRET": "x", "ORDERS_SECRET": "x", "NOTIFY_TEAM_SECRET": "x", "PARCELS_SECRET": "x", "PARCELS_DSN": "reader:secret@tcp(db)/shop"}}.mustLoad(t)
		if want := (Route{Topics: "orders.*", URL: value.SecretShownAs("nats://127.0.0.1:4222", "nats://***"), Format: "plain", Refused: RefusedSetAside,
			Secret: value.NewSecret("x")}); len(c.Events.Routes) != 1 || !reflect.DeepEqual(c.Events.Routes[0], want) {
			t.Errorf("got %+v", c.Events.Routes)
		}
		if len(c.Notify.Receivers) != 2 || c.Notify.Receivers[0].Secret.Reveal() != "x" || len(c.Notify.Receivers[1].To) != 2 {
			t.Errorf("got %+v", c.Notify.Receivers)
		}
		if len(c.Jobs.Command) != 1 || c.Jobs.Command[0].Limits != (Limits{512 << 20, time.Minute, 10, 64, 256}) {
			t.Errorf("got %+v", c.Jobs.Command)
		}
		if len(c.Jobs.SQL) != 1 || c.Jobs.SQL[0].DSN.Reveal() != "reader:secret@tcp(db)/shop" || len(c.Jobs.SQL[0].Again) != 2 {
			t.Errorf("got %+v", c.Jobs.SQL)
		} else if j := c.Jobs.SQL[0]; (len(j.Topics) == 2 && j.Set != "") == !j.URL.IsZero() || j.URL.IsZero() != j.Secret.IsZero() {
			t.Errorf("got %+v", j)
		}
		if len(c.Jobs.HTTP) != 1 || c.Jobs.HTTP[0].Secret.Reveal() != "x" {
			t.Errorf("got %+v", c.Jobs.HTTP)
		}
	}
}

func TestExampleIsTheFile(t *testing.T) {
	text, err := os.ReadFile("prescient.example.yaml")
	if err != nil || string(text) != Example {
		t.Errorf("the embedded example differs from the file: %v", err)
	}
}
