package mend

import (
	"slices"
	"strings"
	"testing"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

func TestWhoMaySeesWhatThePageCanDo(t *testing.T) {
	for _, test := range []struct {
		code     string
		severity doctor.Severity
		role     ops.Role
		about    []string
		want     string
	}{
		{"paused", doctor.SeverityWarn, ops.Viewer, []string{"ship"}, "/execs: What is paused; "},
		{"paused", doctor.SeverityWarn, ops.Operator, []string{"*"}, "/execs: What is paused; /execs/resume job_exec *: Resume everything!; "},
		{"paused", doctor.SeverityOK, ops.Operator, nil, ""},
		{"put_off", doctor.SeverityBad, ops.Operator, []string{"a"}, "/exec job_exec a: More of a; /pending job_exec a: Checks of a; /bulk/new job_exec a deed cancel: Cancel checks of a!; "},
		{"forecast", doctor.SeverityWarn, ops.Viewer, []string{"13:30", "13:45"}, "/slot slot 13:30: Slot 13:30; /slot slot 13:45: Slot 13:45; /slots: The slots to come; "},
		{"schedules.timers", doctor.SeverityBad, ops.Operator, []string{"a", "job/b"}, "/schedule id a: More of a; /job name b: More of job/b; /schedules: The schedules; /schedules/edit id a: Edit a!; /jobs/edit name b: Edit job/b!; "},
		{"events.refused", doctor.SeverityWarn, ops.Operator, nil, "/events: Send them again, or drop them; /events/resend_all: Send all again!; "},
		{"events.refused", doctor.SeverityWarn, ops.Viewer, nil, "/events: The events; "},
		{"agents.slots", doctor.SeverityBad, ops.Viewer, nil, "/agents: The agents; "},
		{"overdue", doctor.SeverityBad, ops.Viewer, nil, "/pending: What is due, the oldest first; /agents: Who works; "}, // where one is leads nowhere
		{"blocking.rows", doctor.SeverityWarn, ops.Admin, []string{"order/7"}, "/find entity order/7: More of order/7; /blocking: Who waits for whom; "},
		{"blocking", doctor.SeverityWarn, ops.Operator, nil, ""},
		{"notify", doctor.SeverityBad, ops.Operator, []string{"team"}, "/told: Who is told, and who cannot be; /told/again: Try again now!; "},
		{"notify", doctor.SeverityBad, ops.Viewer, []string{"team"}, "/told: Who is told, and who cannot be; "},
		{"binlog", doctor.SeverityWarn, ops.Admin, nil, ""},
	} {
		got := ""
		for _, w := range Ways(doctor.Finding{Code: test.code, Severity: test.severity, About: test.about}, test.role, "/") {
			got += strings.Join(append([]string{w.Path}, w.Query...), " ") + ": " + w.Text
			if w.Button {
				got += "!"
			}
			got += "; "
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// A finding whose code nobody gives any more leads nowhere.
func TestEveryWayIsOfAFinding(t *testing.T) {
	var codes []string
	for code, all := range ways {
		codes = append(codes, code)
		if slices.ContainsFunc(all, func(w way) bool { return (w.by != "") != strings.Contains(w.text, "%") }) {
			t.Errorf("%s: %+v", code, all)
		}
	}
	if err := doctor.CheckCodes(codes); err != nil {
		t.Error(err)
	}
}
