package dev_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/page/login"
)

// said is what a line of dev --json has.
type said struct {
	What, Says, DSN, Page, Folder, Insert string
	JobExec                               string `json:"job_exec"`
	Entity, Topic, Key, ID                string
	Status                                int
	TookMS                                *int64 `json:"took_ms"`
}

// developing is a dev at work, in this process.
type developing struct {
	*testing.T
	out, err rig.Buffer
	ended    chan int
}

func develop(t *testing.T, args ...string) (d *developing, stop func() (code int)) {
	d = &developing{T: t, ended: make(chan int, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		d.ended <- cmd.Run(ctx, cmd.Options{Args: append([]string{"dev", "--json"}, args...), Stdout: &d.out, Stderr: &d.err, ConfigPaths: []string{}, Page: login.Serve,
			Env: func(name string) (string, bool) { return "", false }})
	}()
	stop = func() int {
		cancel()
		code := <-d.ended
		d.ended <- code
		return code
	}
	t.Cleanup(func() {
		stop()
		if t.Failed() {
			t.Logf("stdout:\n%s\nstderr:\n%s", d.out.String(), d.err.String())
		}
	})
	return d, stop
}

// says waits for a line.
func (d *developing) says(about string, is func(said) bool) (found said) {
	d.Helper()
	rig.Eventually(d.T, about, func() bool {
		select {
		case code := <-d.ended:
			d.ended <- code
			d.Fatalf("it ended with %d before it said: %s", code, about)
		default:
		}
		for text := range strings.Lines(d.out.String()) {
			var one said
			if json.Unmarshal([]byte(text), &one) == nil && is(one) {
				found = one
				return true
			}
		}
		return false
	})
	return found
}

// An app is developed against it: it inserts by plain SQL, is asked, and sees what goes out; a check that is added to the file is asked from then on. Two do so at once,
// at addresses of their own, and nothing is left of either.
func TestDevelopingOnAPrivateServer(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"mariadb", "mysql"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			testDeveloping(t, server)
		})
	}
}

func testDeveloping(t *testing.T, server string) {
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	t.Cleanup(app.Close)
	const none = "http://127.0.0.1:1/none"
	file := filepath.Join(t.TempDir(), "shop.yaml")
	has := func(checks string) {
		t.Helper()
		// By another's name first, as editors do.
		if err := os.WriteFile(file+".new", []byte("dsn_file: /nonexistent\nevents: {routes: [{topics: orders.*, url: 'nats://127.0.0.1:1'}]}\njobs:\n  http:\n"+checks), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(file+".new", file); err != nil {
			t.Fatal(err)
		}
	}
	paid := fmt.Sprintf("  - {exec: paid, url: '%s'}\n", app.URL)
	has("  - {exec: down, url: '" + none + "'}\n" + paid)
	d, stop := develop(t, "--config", file, "--server", server, "--resolution", "1s")
	ready := d.says("it is ready", func(s said) bool { return s.What == "ready" })
	db := servertest.Open(t, ready.DSN, "")
	insert := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	check := func(exec, key string) {
		t.Helper()
		insert("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '" + key + "', '" + exec + "', UTC_TIMESTAMP(6))")
	}
	insert(ready.Insert)
	check("paid", "2")
	check("sent", "3")
	for _, topic := range []string{"orders.late", "else"} {
		insert("INSERT INTO event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at) VALUES (7, 'id-" + topic + "', '" + topic + "', 'order/2', UTC_TIMESTAMP(6), '{\"order\":2}', UTC_TIMESTAMP(6))")
	}
	d.says("an endpoint that is down", func(s said) bool {
		return s.What == "http" && s.JobExec == "down" && s.Entity == "order/1" && s.Status == 0 && strings.Contains(s.Says, "connection refused")
	})
	d.says("it is asked again", func(s said) bool { return s.What == "again" && s.JobExec == "down" })
	d.says("a call", func(s said) bool {
		return s.What == "http" && s.JobExec == "paid" && s.Entity == "order/2" && s.Status == 204 && s.TookMS != nil && s.Says == ""
	})
	d.says("an end", func(s said) bool { return s.What == "ended" && s.Entity == "order/2" && s.Says == "done" })
	d.says("a check that nobody has", func(s said) bool {
		return s.What == "waits" && s.Entity == "order/3" && strings.Contains(s.Says, "not registered")
	})
	d.says("an event", func(s said) bool {
		return s.What == "event" && s.Topic == "orders.late" && s.Key == "order/2" && s.ID == "id-orders.late" && s.Says == `{"order":2}`
	})
	d.says("an event that no route takes", func(s said) bool {
		return s.What == "event" && s.Topic == "else" && strings.HasPrefix(s.Says, "no route")
	})
	if status, text := rig.Get(t, ready.Page+"/ends"); status != http.StatusOK || !strings.Contains(text, "order/2") {
		t.Errorf("the page: %d %s", status, text)
	}

	has(paid + "  - {exec: sent, url: 'ftp://x'}\n")
	rig.Eventually(t, "a fault is told of", func() bool {
		text := d.err.String()
		return strings.Contains(text, "jobs.http[1].url: ") && strings.Contains(text, "line 6") && strings.Contains(text, "the checks of before go on")
	})
	has(paid + "  - {exec: sent, url: '" + app.URL + "'}\n")
	d.says("the file was read again", func(s said) bool { return s.What == "read" && strings.HasSuffix(s.Says, "shop.yaml: paid, sent") })
	check("sent", "4")
	check("down", "5")
	d.says("a check that was added", func(s said) bool {
		return s.What == "http" && s.JobExec == "sent" && s.Entity == "order/4" && s.Status == 204
	})
	d.says("a check that was taken away", func(s said) bool { return s.What == "waits" && s.JobExec == "down" && s.Entity == "order/5" })

	if code := stop(); code != cmd.ExitOK {
		t.Errorf("exit code %d", code)
	}
	if _, err := os.Stat(ready.Folder); !os.IsNotExist(err) {
		t.Errorf("%s is left: %v", ready.Folder, err)
	}
	if db.PingContext(t.Context()) == nil {
		t.Error("the server is left")
	}
}
