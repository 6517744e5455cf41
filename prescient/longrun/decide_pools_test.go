package longrun

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// A run of a pool is offered by the slot run that meets it, and starts where an agent of the pool has claimed it, by the same rules.
func TestWhatBecomesOfARunOfAPool(t *testing.T) {
	grid, err := slots.NewGrid(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	job := occurrence()
	offered := known{key: job.Key(), token: 1, check: identityOf(job), allocatedUntil: at("12:00:31"), pending: true}
	lapsed, live, earlier, later := offered, offered, offered, offered
	lapsed.agent, lapsed.startedAt = "w", at("12:00:35")
	live.agent, live.lives = "w", true
	earlier.key, earlier.check.dueAt = prescient.Key{1}, at("11:59:30")
	later.key, later.check.dueAt = prescient.Key{1}, at("12:01:30")
	gone, started := earlier, earlier
	gone.pending = false
	started.startedAt, started.key, started.check.dueAt = at("12:00:31"), prescient.Key{2}, at("11:58:30")
	minute := Terms{Schedule: "a", Overlap: Forbid, Interval: time.Minute, Next: at("12:01:30"), Tolerance: 5 * time.Second}
	soon := minute
	soon.LastStart = at("12:00:20")
	queue := minute
	queue.Overlap = Queue
	waits := prescient.Answer{Cause: prescient.CauseWaits}
	for _, c := range []struct {
		name               string
		run                *known
		others             []*known
		terms              Terms
		elsewhere, claimed bool
		want               ruling
	}{
		{"met for the first time it is offered", nil, nil, Terms{}, true, false, ruling{offers: true, afresh: true}},
		{"met again it still is", &offered, nil, Terms{}, true, false, ruling{offers: true}},
		{"one that lapsed is offered, and counted as taken over", &lapsed, nil, Terms{}, true, false, ruling{offers: true, takesOver: true}},
		{"one that is claimed just then is left alone", &live, nil, Terms{}, true, false, waitUntil(at("12:00:31"))},
		{"not beside another", nil, []*known{&started}, minute, true, false, ruling{answer: prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Overlapped}}},
		{"what is only offered is not under way", nil, []*known{&earlier}, minute, true, false, ruling{offers: true, afresh: true}},
		{"too soon is asked when it is claimed", nil, nil, soon, true, false, ruling{offers: true, afresh: true}},
		{"claimed it starts", &offered, nil, minute, false, true, ruling{starts: true, afresh: true}},
		{"claimed it goes on", &lapsed, nil, minute, false, true, ruling{starts: true, takesOver: true}},
		{"claimed for a pool that is not its own any more", &offered, nil, minute, true, true, ruling{offers: true}},
		{"claimed too soon", &offered, nil, soon, false, true, ruling{answer: prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.TooSoon}}},
		{"claimed before an earlier occurrence", &offered, []*known{&earlier}, minute, false, true, ruling{soon: true, answer: waits}},
		{"whose check is gone", &offered, []*known{&gone}, minute, false, true, ruling{starts: true, afresh: true}},
		{"claimed to queue it waits", &offered, []*known{&started}, queue, false, true, ruling{behind: &started, answer: waits}},
		{"claimed to queue behind one that waits", &offered, []*known{&started, &earlier}, queue, false, true, ruling{answer: prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Overlapped}}},
		{"claimed before a later one", &offered, []*known{&later}, minute, false, true, ruling{starts: true, afresh: true}},
	} {
		got := decide(grid, met{job: job, guards: prescient.DefaultGuards(), terms: c.terms, run: c.run, others: c.others, room: true, elsewhere: c.elsewhere,
			claimed: c.claimed, now: at("12:00:40")})
		got.answer.Err = nil
		if next := got.answer.Next; next != nil && c.want.answer.Next != nil && next.Equal(*c.want.answer.Next) {
			got.answer.Next = c.want.answer.Next
		}
		if got != c.want {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
}
