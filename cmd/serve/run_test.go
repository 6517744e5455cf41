package serve_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/worker/books"
)

// serveJob writes a configuration with a job_exec that a function of this test answers, and makes the rig use it.
func serveJob(r *rig.Rig, exec string, answer func(job prescient.FutureJob) string) {
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
	r.Variables["PRESCIENT_CONFIG"] = r.Configure(fmt.Sprintf("jobs:\n  http:\n    - exec: %s\n      url: %s/check\n", exec, server.URL))
}

// The seed's own case: alerted about at its slot, escalated at a later one, ended.
func TestRunOfAJobThatAnAppAnswers(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		var mu sync.Mutex
		var calls []string
		serveJob(r, "unshipped", func(job prescient.FutureJob) string {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, job.Entity().String()+" at "+job.NextCheckAt.Format("15:04"))
			if job.CheckCount == 0 {
				return `{"next_check_at": "2026-11-20T16:05:00Z"}`
			}
			return ""
		})
		r.Begin()
		r.OK("insert", "--entity", "order/42", "--exec", "unshipped", "--in", "3h")
		for _, step := range []struct {
			now    string
			figure string
		}{
			{"13:00:01", `"done":0`}, {"13:15:01", `"moved":1`}, {"13:30:01", `"moved":0`}, {"16:00:01", `"done":0`}, {"16:15:02", `"done":1`},
		} {
			r.At(step.now)
			got := r.Execute("run", "--json")
			got.Wants(r.T, cmd.ExitOK, `"message":"slot run"`)
			if !strings.Contains(got.Out, step.figure) || !strings.Contains(got.Out, `"assigned":true`) {
				r.Errorf("at %s: %v", step.now, got)
			}
			if n := strings.Count(got.Err, "\n"); n != 1 {
				r.Errorf("%d lines of log for one slot run: %s", n, got.Err)
			}
		}
		if fmt.Sprint(calls) != "[order/42 at 13:15 order/42 at 16:15]" {
			r.Errorf("calls: %q", calls)
		}
		ends := r.History()
		if len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].CheckCount != 1 || ends[0].LatenessMS == nil || *ends[0].LatenessMS < 2000 {
			r.Errorf("%+v", ends)
		}
		if out := r.OK("run", "--log-format", "console", "--log-level", "warn"); out != "" {
			r.Errorf("run printed %s", out)
		}
	})
}

func TestRunOfASlotThatIsNotAssignedSaysSoAndSucceeds(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("insert", "--entity", "order/42", "--exec", "x", "--in", "10m")
		r.At("10:15:01")
		got := r.Execute("run", "--worker-minutes", "0,30", "--json")
		got.Wants(r.T, cmd.ExitOK, "not assigned to this worker", "minutes 0,30")
		if !strings.Contains(got.Out, `"assigned":false,"slot":"2026-11-20T10:15:00Z"`) {
			r.Errorf("%v", got)
		}
		// Nothing is registered: it warns, and the row waits for a worker that knows it.
		r.Execute("run", "--worker-minutes", "15,45").Wants(r.T, cmd.ExitOK, "no job_exec is registered", `"put_off":1`)
		if jobs := r.Jobs(); len(jobs) != 1 || !jobs[0].NextCheckAt.Equal(rig.At("10:30")) || jobs[0].PutOffCount != 1 {
			r.Errorf("%+v", jobs)
		}
	})
}

func TestServersDownOverSeveralSlots(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		var mu sync.Mutex
		var calls []string
		serveJob(r, "unshipped", func(job prescient.FutureJob) string {
			mu.Lock()
			defer mu.Unlock()
			calls = append(calls, job.NextCheckAt.Format("15:04"))
			return ""
		})
		r.Begin()
		for _, due := range []string{"12:00", "11:00", "11:30", "13:00"} {
			r.OK("insert", "--entity", "order/"+due, "--exec", "unshipped", "--at", "2026-11-20 "+due)
		}
		r.At("11:20")
		if out := r.OK("roll-forward", "--reason", "the night"); out != "moved 1 row to the next slot\n" {
			r.Error(out)
		}
		if n := r.Count("SELECT COUNT(*) FROM audit_log WHERE verb = 'roll-forward' AND reason = 'the night'"); n != 1 {
			r.Errorf("%d entries in the audit", n)
		}
		r.At("12:00:05")
		if out := r.OK("sweep"); out != "swept 1 slot with 2 rows\n" { // 12:00 is the current slot, in its grace
			r.Error(out)
		}
		r.At("12:20")
		if out := r.OK("roll-forward", "--json"); out != `{"moved":1,"passed_over":0,"held":0}`+"\n" {
			r.Error(out)
		}
		if jobs := r.Jobs("--slot", "2026-11-20 12:30"); len(jobs) != 1 || !jobs[0].DueAt.Equal(rig.At("12:00")) {
			r.Errorf("%+v", jobs)
		}
		r.At("23:00")
		swept := rig.Lines[books.Figures](r.T, r.OK("sweep", "--json"))
		if len(swept) != 2 || swept[0].Done != 1 || !swept[0].Slot.Equal(rig.At("12:30")) {
			r.Errorf("%+v", swept)
		}
		if fmt.Sprint(calls) != "[11:30 11:30 12:30 13:00]" {
			r.Errorf("not the oldest first: %q", calls)
		}
	})
}
