package heartbeat

import (
	"testing"

	"prescient/prescient"
)

func TestWhatAnEndTells(t *testing.T) {
	silent := map[prescient.Outcome]bool{prescient.TooSoon: true, prescient.Overlapped: true, prescient.Cancelled: true, prescient.Superseded: true}
	for _, outcome := range prescient.Outcomes() {
		want := Failure
		switch {
		case silent[outcome]:
			want = ""
		case outcome == prescient.Done, outcome == prescient.Quota:
			want = Success
		}
		if got, tells := Of(outcome); got != want || tells != (want != "") {
			t.Errorf("%s tells %q, %v; want %q", outcome, got, tells, want)
		}
	}
	if got, tells := Of(""); tells {
		t.Errorf("a check that did not end tells %q", got)
	}
}
