package cmd_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"prescient/cmd"
	"prescient/prescient"
	"prescient/sql"

	"prescient/prescient/worker/books"
)

// serveJob writes a configuration with a job_exec that a function of this test answers, and makes the rig use it.
func (r *rig) serveJob(exec string, answer func(job prescient.FutureJob) string) {
	r.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		var job prescient.FutureJob
		if err := json.NewDecoder(request.Body).Decode(&job); err != nil {
			r.Errorf("the body of a call: %v", err)
		}
		body := answer(job)
		if body == "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = w.Write([]byte(body))
	}))
	r.Cleanup(server.Close)
	r.env["PRESCIENT_CONFIG"] = r.configure(fmt.Sprintf("jobs:\n  http:\n    - exec: %s\n      url: %s/check\n", exec, server.URL))
}

// configure writes a configuration file.
func (r *rig) configure(text string) (path string) {
	r.Helper()
	path = filepath.Join(r.TempDir(), "prescient.yaml")
	r.must(os.WriteFile(path, []byte(text), 0o600))
	return path
}

// The seed's own case: alerted about at its slot, escalated at a later one, ended.
func TestRunOfAJobThatAnAppAnswers(t *testing.T) {
	eachServer(t, func(r *rig) {
		var mu sync.Mutex
		var calls []string
		r.serveJob("unshipped", func(job prescient.FutureJob) string {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, job.Entity().String()+" at "+job.NextCheckAt.Format("15:04"))
			if job.CheckCount == 0 {
				return `{"next_check_at": "2026-11-20T16:05:00Z"}`
			}
			return ""
		})
		r.at("10:05")
		r.ok("migrate")
		r.ok("insert", "--entity", "order/42", "--exec", "unshipped", "--in", "3h")
		for _, step := range []struct {
			now    string
			figure string
		}{
			{"13:00:01", `"done":0`}, {"13:15:01", `"moved":1`}, {"13:30:01", `"moved":0`}, {"16:00:01", `"done":0`}, {"16:15:02", `"done":1`},
		} {
			r.at(step.now)
			got := r.execute("run", "--json")
			got.wants(r.T, cmd.ExitOK, `"message":"slot run"`)
			if !strings.Contains(got.out, step.figure) || !strings.Contains(got.out, `"assigned":true`) {
				r.Errorf("at %s: %v", step.now, got)
			}
			if n := strings.Count(got.err, "\n"); n != 1 {
				r.Errorf("%d lines of log for one slot run: %s", n, got.err)
			}
		}
		if fmt.Sprint(calls) != "[order/42 at 13:15 order/42 at 16:15]" {
			r.Errorf("calls: %q", calls)
		}
		ends := r.history()
		if len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].CheckCount != 1 || ends[0].LatenessMS == nil || *ends[0].LatenessMS < 2000 {
			r.Errorf("%+v", ends)
		}
		if out := r.ok("run", "--log-format", "console", "--log-level", "warn"); out != "" {
			r.Errorf("run printed %s", out)
		}
	})
}

func TestRunOfASlotThatIsNotAssignedSaysSoAndSucceeds(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		r.ok("insert", "--entity", "order/42", "--exec", "x", "--in", "10m")
		r.at("10:15:01")
		got := r.execute("run", "--worker-minutes", "0,30", "--json")
		got.wants(r.T, cmd.ExitOK, "not assigned to this worker", "minutes 0,30")
		if !strings.Contains(got.out, `"assigned":false,"slot":"2026-11-20T10:15:00Z"`) {
			r.Errorf("%v", got)
		}
		// Nothing is registered: it warns, and the row waits for a worker that knows it.
		r.execute("run", "--worker-minutes", "15,45").wants(r.T, cmd.ExitOK, "no job_exec is registered", `"put_off":1`)
		if jobs := r.jobs(); len(jobs) != 1 || !jobs[0].NextCheckAt.Equal(at("10:30")) || jobs[0].PutOffCount != 1 {
			r.Errorf("%+v", jobs)
		}
	})
}

func TestServersDownOverSeveralSlots(t *testing.T) {
	eachServer(t, func(r *rig) {
		var mu sync.Mutex
		var calls []string
		r.serveJob("unshipped", func(job prescient.FutureJob) string {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, job.NextCheckAt.Format("15:04"))
			return ""
		})
		r.at("10:05")
		r.ok("migrate")
		for _, due := range []string{"12:00", "11:00", "11:30", "13:00"} {
			r.ok("insert", "--entity", "order/"+due, "--exec", "unshipped", "--at", "2026-11-20 "+due)
		}
		r.at("11:20")
		if out := r.ok("roll-forward"); out != "moved 1 rows to the next slot\n" {
			r.Error(out)
		}
		r.at("12:00:05")
		if out := r.ok("sweep"); out != "swept 1 slots with 2 rows\n" { // 12:00 is the current slot, in its grace
			r.Error(out)
		}
		r.at("12:20")
		if out := r.ok("roll-forward", "--json"); out != `{"moved":1,"passed_over":0}`+"\n" {
			r.Error(out)
		}
		if jobs := r.jobs("--slot", "2026-11-20 12:30"); len(jobs) != 1 || !jobs[0].DueAt.Equal(at("12:00")) {
			r.Errorf("%+v", jobs)
		}
		r.at("23:00")
		swept := lines[books.Figures](r.T, r.ok("sweep", "--json"))
		if len(swept) != 2 || swept[0].Done != 1 || !swept[0].Slot.Equal(at("12:30")) {
			r.Errorf("%+v", swept)
		}
		if fmt.Sprint(calls) != "[11:30 11:30 12:30 13:00]" {
			r.Errorf("not the oldest first: %q", calls)
		}
	})
}

func TestDemoOnAGivenServer(t *testing.T) {
	eachServer(t, func(r *rig) {
		tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"
		demo := []string{"demo", "--alert-after", "1s", "--escalate-after", "2s", "--seed", "7", "--dsn", r.dsn}
		r.env["PRESCIENT_TABLE_PREFIX"] = "Not allowed: a demo does not read it"
		out := r.ok(append(slices.Clip(demo), "--for", "6s", "--orders", "30")...)
		for _, text := range []string{"placed", "shipped", "ALERT", "ESCALATED", "the books balance", "inserted      30", "lateness  p50"} {
			if !strings.Contains(out, text) {
				r.Errorf("no %q in %s", text, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			r.Error("colours, and no terminal")
		}
		if n := r.count(tables); n != 0 {
			r.Errorf("%d tables are left", n)
		}
		type books struct {
			Inserted, Ended, Pending int
			Balanced                 bool
			TablePrefix              string `json:"table_prefix"`
			Lateness                 struct{ P50, P99, Max int64 }
		}
		got := r.execute(append(slices.Clip(demo), "--json", "--keep", "--orders", "400", "--for", "2s")...)
		got.wants(r.T, cmd.ExitOK)
		b := lines[books](r.T, got.out)
		if len(b) != 1 || !b[0].Balanced || b[0].Inserted == 0 || b[0].Inserted != b[0].Ended+b[0].Pending {
			r.Fatalf("%v", got)
		}
		made, err := sql.Schema{Prefix: b[0].TablePrefix}.Expected()
		r.must(err)
		// Those of the migrations, their versions, and two of the orders.
		if n, want := r.count(tables+" AND table_type = 'BASE TABLE'"), len(made)+3; n != want {
			r.Errorf("--keep left %d tables; want %d", n, want)
		}
		if n := r.count("SELECT COUNT(*) FROM " + b[0].TablePrefix + "job_history"); n != b[0].Ended {
			r.Errorf("%d ends in the table, %d in the books", n, b[0].Ended)
		}
	})
}

func TestDemoWithNothingSetUp(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PRESCIENT_WORKER_LEASE": "nonsense", "PRESCIENT_DSN": none}
	got := execute(t.Context(), cmd.Options{}, env, "", "demo", "--for", "2s")
	got.wants(t, cmd.ExitOK)
	if !strings.Contains(got.out, "the books balance") {
		t.Errorf("%v", got)
	}
}
