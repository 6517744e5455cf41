package mend

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

func TestThePageSaysItsOwnWayWhereItHasOne(t *testing.T) {
	for _, test := range []struct {
		code, do string
		role     ops.Role
		want     string
	}{
		{"paused", "Run `resume ship` once the reason is gone.", ops.Operator, "Resume it once"},
		{"paused", "Run `resume ship` once the reason is gone.", ops.Viewer, "Run `resume ship`"},
		{"overdue", "Run `resume --all` once the reason is gone. The sweeper catches up then.", ops.Admin, "Resume everything once"},
		{"overdue", "See by `agents` whether a worker or a sweep lives.", ops.Admin, "See by `agents`"},
		{"put_off", "Make the job_exec return when its context ends", ops.Operator, "Make the job_exec"},
		{"slower", "See what changed then: `runs` has its calls.", ops.Viewer, "See what changed then: a deployment"},
		{"binlog", "Set binlog_format to ROW.", ops.Admin, "Set binlog_format"},
		{"overdue", "See by `agents` whether it lives. `roll-forward` makes nothing run.", ops.Viewer, "See whether a worker or a sweep lives"},
		{"schema.column", "Run `migrate --repair`, which sends: ALTER", ops.Admin, byOwner + " Run `migrate --repair`"},
		{"grants", "Then run `grants --role x --user y`", ops.Viewer, byOwner + " Then run"},
		{"schedules.timerless", "Run `schedule update ID` for each.", ops.Operator, "Plan each anew"},
		{"schedules.timerless", "Run `schedule update ID` for each.", ops.Viewer, "Run `schedule update ID`"},
		{"blocking.rows", "End session 7. `blocking` shows more.", ops.Admin, "End session 7. The page of blocking, who waits for whom, shows admins more."},
	} {
		if got := Do(doctor.Finding{Code: test.code, Do: test.do}, test.role); !strings.HasPrefix(got, test.want) {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// What the doctor says in other words by now is not put in the page's words any more, and nobody would see that.
func TestTheDoctorStillNamesTheseCommands(t *testing.T) {
	files, err := filepath.Glob("../../../doctor/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	var all strings.Builder
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			all.Write(text)
		}
	}
	var codes []string
	for code, some := range does {
		codes = append(codes, code)
		for _, one := range some {
			if !strings.Contains(all.String(), one.has) || strings.Contains(one.text, "`") {
				t.Errorf("%s: %+v", code, one)
			}
		}
	}
	if err := doctor.CheckCodes(codes); err != nil {
		t.Error(err)
	}
}
