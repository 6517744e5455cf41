package serve_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

// A program of the configuration answers: not yet, an error, done.
func TestRunOfAJobThatIsACommand(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("commands run on Linux only")
	}
	rig.EachFlavour(t, func(r *rig.Rig) {
		calls := filepath.Join(r.TempDir(), "calls")
		script := rig.File(r.T, "report", `echo "$1 $PRESCIENT_CHECK_SLOT $PRESCIENT_DSN" >> "$CALLS"
case $PRESCIENT_CHECK_COUNT.$PRESCIENT_CHECK_ERRORS in
0.*) echo '{"next_check_at": "2026-11-20T16:05:00Z"}'; exit 75 ;;
1.0) echo "no paper" >&2; exit 3 ;;
esac`)
		r.Variables["PRESCIENT_CONFIG"] = r.Configure(fmt.Sprintf("jobs:\n  command:\n    - exec: report\n      run: [/bin/sh, %s, '{entity_key}']\n      env: {CALLS: %s}\n", script, calls))
		r.Begin()
		r.OK("insert", "--entity", "order/4 2; rm -rf x", "--exec", "report", "--in", "3h")
		for _, step := range []struct{ now, figure string }{{"13:15:01", `"moved":1`}, {"16:15:02", `"kind":"error"`}, {"16:30:02", `"done":1`}} {
			r.At(step.now)
			if got := r.Execute("run", "--json"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, step.figure) {
				r.Errorf("at %s: %v", step.now, got)
			}
		}
		text, err := os.ReadFile(calls)
		if want := "4 2; rm -rf x 2026-11-20T13:15:00Z \n4 2; rm -rf x 2026-11-20T16:15:00Z \n4 2; rm -rf x 2026-11-20T16:30:00Z \n"; err != nil || string(text) != want {
			r.Errorf("calls: %q, %v; want %q", text, err, want)
		}
		if ends := r.History(); len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].LastError != "command sh: exited with 3: no paper" {
			r.Errorf("ended: %+v", ends)
		}
	})
}

// Who inserts need not have the program; who runs it needs it.
func TestACommandThatIsNotThereIsMissedByWhoRunsIt(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("jobs: {command: [{exec: report, run: [/no/such/program]}, {exec: export, run: [/no/such/program], long: true}]}\n")
		r.Begin()
		r.OK("insert", "--entity", "order/42", "--exec", "report", "--in", "3h")
		r.OK("insert", "--entity", "order/42", "--exec", "export", "--in", "3h")
		r.At("13:15:01")
		got := r.Execute("run")
		if got.Code == cmd.ExitOK || !strings.Contains(got.Err, "jobs.command, exec report: command job_exec: ") || !strings.Contains(got.Err, "/no/such/program") {
			r.Errorf("%v", got)
		}
	})
}
