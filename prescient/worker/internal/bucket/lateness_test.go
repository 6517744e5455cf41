package bucket

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

func TestACallThatStartsLaterThanItsSLAIsCounted(t *testing.T) {
	const sla = 10 * time.Second
	for _, test := range []struct {
		what  string
		sla   time.Duration
		late  time.Duration
		began bool // a long run, which was due a slot before
		want  int
	}{
		{"just in time", sla, sla, false, 0},
		{"a microsecond later", sla, sla + time.Microsecond, false, 1},
		{"hours later, without an SLA", 0, 5 * time.Hour, false, 0},
		{"a long run counts from the slot in which it was due", sla, 0, true, 1},
	} {
		d := newDesk(t)
		d.bucket.Shared.Guards = func(string) prescient.Guards { return prescient.Guards{SLA: test.sla} }
		a := d.batch[0]
		a.Answer.Started, a.Answer.Began = a.NextCheckAt.Add(test.late), test.began
		if test.began {
			a.DueAt = rig.At("13:00")
		}
		d.bucket.noteLateness(a)
		if got := d.bucket.Figures.OverSLA; got != test.want {
			t.Errorf("%s: %d over the SLA, want %d", test.what, got, test.want)
		}
	}
}
