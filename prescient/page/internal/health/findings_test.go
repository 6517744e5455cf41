package health

import (
	"testing"

	"prescient/prescient/doctor"
	"prescient/prescient/ops"
)

func TestFindingsAreInOrderOfHowBadTheyAre(t *testing.T) {
	found := []doctor.Finding{{Code: "clock", Severity: doctor.SeverityOK}, {Code: "rows", Severity: doctor.SeverityPart}, {Code: "paused", Severity: doctor.SeverityWarn},
		{Code: "blocking", Severity: doctor.SeverityUnseen}, {Code: "missed", Severity: doctor.SeverityBad}}
	for all, want := range map[bool][]string{false: {"missed", "paused", "blocking"}, true: {"missed", "paused", "blocking", "rows", "clock"}} {
		parts, fine := parted(found, ops.Viewer, all)
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
