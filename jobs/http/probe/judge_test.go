package probe

import (
	"testing"
	"time"

	"prescient/prescient"
)

func TestTheWorstFindingCounts(t *testing.T) {
	of := func(list ...Severity) (findings []Finding) {
		for _, s := range list {
			findings = append(findings, Finding{Severity: s})
		}
		return findings
	}
	for _, test := range []struct {
		findings []Finding
		want     Severity
	}{
		{nil, OK}, {of(OK, Unseen), OK}, {of(Warn, OK), Warn}, {of(Warn, Bad, OK), Bad}, {of(Bad, Warn), Bad},
	} {
		if got := Worst(test.findings); got != test.want {
			t.Errorf("%+v: %s", test.findings, got)
		}
	}
}

func TestAnAnswerThatTakesMoreThanHalfOfItsTimeIsWarnedOf(t *testing.T) {
	o := options(t, "http://127.0.0.1:1/")
	at := time.Date(2026, 3, 1, 13, 5, 0, 0, time.UTC)
	job, err := pending(o, at)
	if err != nil {
		t.Fatal(err)
	}
	for took, want := range map[time.Duration]Severity{0: OK, 15 * time.Second: OK, 15*time.Second + 1: Warn, 30 * time.Second: Warn} {
		if f := judgeSigned(o.Grid, prescient.DefaultGuards(), job, seen{status: 204, took: took, at: at.Add(took)}); f.Severity != want {
			t.Errorf("%s: %+v", took, f)
		}
	}
}

// The check is due in the slot that is now, and was inserted before.
func TestTheCheckIsOneOfTheSlotThatIsNow(t *testing.T) {
	o := options(t, "http://127.0.0.1:1/")
	for _, at := range []time.Time{
		time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), time.Date(2026, 3, 1, 13, 0, 0, 999, time.UTC), time.Date(2026, 3, 1, 13, 14, 59, 999_999_999, time.UTC),
	} {
		job, err := pending(o, at)
		slot := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
		if err != nil || !job.DueAt.Equal(slot) || !job.NextCheckAt.Equal(slot) || !job.FirstCheckAt.Equal(slot) || !job.InsertedAt.Before(slot) {
			t.Errorf("%s: %+v, %v", at, job, err)
		}
	}
}

// A receiver may count from the call, or from what it knows of the entity.
func TestTimesThatFollowFromTheTimeOfTheCallAreTheSameAnswer(t *testing.T) {
	at := time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)
	asked := func(at time.Time, in time.Duration) seen {
		return seen{status: 200, at: at, next: prescient.At(at.Add(in))}
	}
	for _, test := range []struct {
		first, again seen
		want         Severity
	}{
		{asked(at, time.Hour), asked(at.Add(10*time.Minute), time.Hour), OK},
		{asked(at, time.Hour), asked(at.Add(10*time.Minute), 50*time.Minute), OK},
		{asked(at, time.Hour), asked(at.Add(time.Second), time.Hour+2*time.Minute), Warn},
		{asked(at, time.Hour), asked(at.Add(time.Second), 58*time.Minute), Warn},
	} {
		if f := judgeAgain(test.first, test.again); f.Severity != test.want {
			t.Errorf("%+v", f)
		}
	}
}
