package health

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

func TestFindingsAreInOrderOfHowBadTheyAre(t *testing.T) {
	found := []doctor.Finding{{Code: "clock", Severity: doctor.SeverityOK}, {Code: "rows", Severity: doctor.SeverityPart}, {Code: "paused", Severity: doctor.SeverityWarn},
		{Code: "blocking", Severity: doctor.SeverityUnseen}, {Code: "missed", Severity: doctor.SeverityBad}}
	for all, want := range map[bool][]string{false: {"missed", "paused", "blocking"}, true: {"missed", "paused", "blocking", "rows", "clock"}} {
		parts, fine := parted(found, ops.Viewer, nil, all)
		var got []string
		for _, p := range parts {
			for _, f := range p.Findings {
				got = append(got, f.Code)
			}
		}
		if fine != 2 || len(got) != len(want) {
			t.Fatalf("%v, %d; want %v", got, fine, want)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Errorf("%v; want %v", got, want)
			}
		}
	}
}

func TestWhoMaySeesWhatThePageCanDo(t *testing.T) {
	pauses := []prescient.Paused{{JobExec: "*"}, {JobExec: "ship"}}
	for _, test := range []struct {
		code     string
		severity doctor.Severity
		role     ops.Role
		want     string
	}{
		{"paused", doctor.SeverityWarn, ops.Viewer, "/execs What is paused; "},
		{"paused", doctor.SeverityWarn, ops.Operator, "/execs What is paused; /execs/resume Resume everything; /execs/resume Resume ship; "},
		{"paused", doctor.SeverityOK, ops.Operator, ""},
		{"events.refused", doctor.SeverityWarn, ops.Operator, "/events Send them again, or drop them; "},
		{"events.refused", doctor.SeverityWarn, ops.Viewer, "/events The events; "},
		{"agents.slots", doctor.SeverityBad, ops.Viewer, "/agents The agents; "},
		{"blocking.rows", doctor.SeverityWarn, ops.Admin, "/blocking Who waits for whom; "},
		{"blocking.rows", doctor.SeverityWarn, ops.Operator, ""},
		{"binlog", doctor.SeverityWarn, ops.Admin, ""},
	} {
		got := ""
		for _, d := range deedsOf(doctor.Finding{Code: test.code, Severity: test.severity}, test.role, pauses) {
			got += d.Path + " " + d.Text + "; "
		}
		if got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
}

// A finding whose code nobody gives any more leads nowhere.
func TestEveryPlaceIsOfAFinding(t *testing.T) {
	var codes []string
	for code := range places {
		codes = append(codes, code)
	}
	if err := doctor.CheckCodes(codes); err != nil {
		t.Error(err)
	}
}
