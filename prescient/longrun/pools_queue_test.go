package longrun_test

import (
	"testing"

	"prescient/prescient"
	"prescient/prescient/longrun"
)

func TestARunOfAPoolThatIsQueuedStartsOnceTheOneBeforeItHasEndedAndNotASlotLater(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Queue))
		r.serving("agent-2", ofHeavy)
		r.slot("12:00:00")
		r.at("12:00:02")
		r.running("a 12:00:00")
		r.slot("12:01:00")
		r.at("12:01:02")
		if n := r.Count("SELECT COUNT(*) FROM p_long_run WHERE allocated_until IS NULL AND pool = 'heavy' AND started_at IS NULL"); n != 1 {
			t.Fatalf("%d runs wait; want 1", n)
		}
		r.answers("a 12:00:00", "12:01:10", prescient.Answer{})
		r.running("a 12:01:00") // no slot has begun since
		r.answers("a 12:01:00", "12:01:20", prescient.Answer{})
		r.wantOutcome("a 12:01:00", "done")
		r.Balanced()
	})
}

// twoAgentsCome has two agents of the pool come when the slots until then were run, so that what was offered in these is claimed at once.
func (r *testRig) twoAgentsCome(clock string, slots ...string) {
	r.T.Helper()
	for _, slot := range slots {
		r.slot(slot)
	}
	r.at(clock)
	r.serving("agent-2", ofHeavy)
	r.serving("agent-3", ofHeavy)
	r.running("a 12:00:00")
}

// Two occurrences that waited for an agent are claimed at once: the other ends as overlapped.
func TestOfTwoOccurrencesThatWaitedTheEarlierStarts(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Forbid))
		r.twoAgentsCome("12:01:02", "12:00:00", "12:00:30", "12:01:00")
		r.at("12:01:04")
		r.wantOutcome("a 12:01:00", "overlapped")
	})
}

// Three occurrences that are queued waited for an agent: one runs, one waits, and the other ends as overlapped.
func TestOfThreeQueuedOccurrencesThatWaitedOneWaitsOn(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("a", longrun.Queue))
		r.twoAgentsCome("12:02:02", "12:00:00", "12:00:30", "12:01:00", "12:01:30", "12:02:00")
		r.at("12:02:04")
		r.wantOutcome("a 12:02:00", "overlapped")
		r.slot("12:03:00") // an interval after the start of the first
		r.answers("a 12:00:00", "12:03:10", prescient.Answer{})
		r.running("a 12:01:00")
		r.answers("a 12:01:00", "12:03:20", prescient.Answer{})
		r.wantOutcome("a 12:01:00", "done")
		r.Balanced()
	})
}

func TestTheRulesOfAScheduleHoldForClaims(t *testing.T) {
	runs(t, func(t *testing.T, r *testRig) {
		r.create("11:59:00", heavy("forbid", longrun.Forbid))
		r.create("11:59:00", heavy("queue", longrun.Queue))
		r.serving("agent-2", longrun.Options{Pools: map[string]int{"heavy": 9}})
		r.slot("12:00:00")
		r.at("12:00:02")
		r.running("forbid 12:00:00")
		r.running("queue 12:00:00")
		r.slot("12:00:30")
		r.slot("12:01:00")
		r.wantOutcome("forbid 12:01:00", "overlapped")
		r.slot("12:01:30")
		r.answers("queue 12:00:00", "12:01:40", prescient.Answer{})
		r.slot("12:02:00")
		r.at("12:02:02")
		r.running("queue 12:01:00")
		if r.isRunning("forbid 12:01:00") {
			t.Error("two runs of a schedule that forbids it")
		}
	})
}
