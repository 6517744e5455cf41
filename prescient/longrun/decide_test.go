package longrun

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

func at(clock string) time.Time {
	t, err := time.Parse("15:04:05", clock)
	if err != nil {
		panic(err)
	}
	return t.AddDate(2026, 10, 19)
}

// The check of the occurrence of 12:00:30 of a schedule that has one each minute.
func occurrence() prescient.FutureJob {
	return prescient.FutureJob{EntityName: "schedule", EntityKey: "a", JobExec: "export", Tag: "1", DueAt: at("12:00:30"), NextCheckAt: at("12:00:30"), InsertedAt: at("11:00:00")}
}

func TestWhatASlotRunDoesWithALongRunThatItMeets(t *testing.T) {
	grid, err := slots.NewGrid(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	job := occurrence()
	same := identityOf(job)
	minute := Terms{Schedule: "a", Overlap: Forbid, Interval: time.Minute, Next: at("12:01:30"), Tolerance: 5 * time.Second}
	with := func(t Terms, change func(t *Terms)) Terms { change(&t); return t }
	live := known{key: job.Key(), agent: "w", token: 1, check: same, startedAt: at("12:00:35"), allocatedUntil: at("12:01:35"), lives: true, pending: true}
	lapsed, handedOn, tried, over, changed := live, live, live, live, live
	lapsed.lives = false
	handedOn.lives, handedOn.agent = false, ""
	tried.lives, tried.allocatedUntil = false, time.Time{}
	over.lives, over.allocatedUntil, over.endedAt = false, time.Time{}, at("12:00:40")
	changed.lives, changed.check.dueAt = false, at("11:59:00")
	crashed := lapsed
	crashed.takeovers = 5
	another := live
	another.key = prescient.Key{1}
	lapsedOther, waitingOther := another, another
	lapsedOther.lives = false
	waitingOther.startedAt, waitingOther.allocatedUntil, waitingOther.lives = time.Time{}, time.Time{}, false
	waitingOther.check.dueAt = at("11:59:30")
	cancelledOther := waitingOther
	cancelledOther.pending = false

	offeredOther := waitingOther
	offeredOther.allocatedUntil = at("12:00:00")

	waiting := waitingOther
	waiting.key, waiting.check = job.Key(), same
	renewed := func(k known) *known { k.schedule, k.check.insertedAt = "a", at("11:30:00"); return &k }

	waits := prescient.Answer{Cause: prescient.CauseWaits}
	end := func(o prescient.Outcome) prescient.Answer {
		return prescient.Answer{Cause: prescient.CauseEnds, Outcome: o}
	}
	for _, c := range []struct {
		name   string
		run    *known
		others []*known
		terms  Terms
		now    string
		full   bool
		expire time.Duration
		want   ruling
	}{
		{"an app's check starts", nil, nil, Terms{}, "12:00:35", false, 0, ruling{starts: true, afresh: true}},
		{"without a place it is offered", nil, nil, Terms{}, "12:00:35", true, 0, ruling{offers: true, afresh: true}},
		{"one that is live is moved on", &live, nil, Terms{}, "12:00:40", false, 0, waitUntil(at("12:01:35"))},
		{"also where the app changed the check", func() *known { c := live; c.check.dueAt = at("11:00:00"); return &c }(), nil, Terms{}, "12:00:40", false, 0, waitUntil(at("12:01:35"))},
		{"also where it has expired", &live, nil, Terms{}, "12:00:50", false, 10 * time.Second, waitUntil(at("12:01:35"))},
		{"one that lapsed is taken over", &lapsed, nil, Terms{}, "12:02:00", false, 0, ruling{starts: true, takesOver: true}},
		{"one that was handed on is no takeover", &handedOn, nil, Terms{}, "12:02:00", false, 0, ruling{starts: true}},
		{"one that lapsed too often has crashed", &crashed, nil, Terms{}, "12:02:00", false, 0, ruling{answer: end(prescient.Crashed)}},
		{"one of another check that lapsed is begun afresh", &changed, nil, Terms{}, "12:02:00", false, 0, ruling{starts: true, afresh: true}},
		{"one that lapsed, and whose schedule was changed, is not called again", renewed(lapsed), nil, minute, "12:02:00", false, 10 * time.Second, ruling{answer: end(prescient.Superseded)}},
		{"nor is one that was handed on", renewed(handedOn), nil, minute, "12:02:00", false, 0, ruling{answer: end(prescient.Superseded)}},
		{"a retry goes on after a change", renewed(tried), nil, minute, "12:00:40", false, 0, ruling{starts: true}},
		{"one that waits does", renewed(waiting), []*known{&waitingOther}, with(minute, func(t *Terms) { t.Overlap = Queue }), "12:00:40", false, 0, ruling{starts: true, afresh: true}},
		{"one that ended is begun afresh", &over, nil, Terms{}, "12:02:00", false, 0, ruling{starts: true, afresh: true}},
		{"an expired one is not called", nil, nil, Terms{}, "12:00:40", false, 10 * time.Second, ruling{answer: end(prescient.Expired)}},
		{"nor is its retry", &tried, nil, Terms{}, "12:00:40", false, 10 * time.Second, ruling{answer: end(prescient.Expired)}},

		{"beside another", nil, []*known{&another}, with(minute, func(t *Terms) { t.Overlap = Allow }), "12:00:35", false, 0, ruling{starts: true, afresh: true}},
		{"not beside another", nil, []*known{&another}, minute, "12:00:35", false, 0, ruling{answer: end(prescient.Overlapped)}},
		{"nor beside one that lapsed", nil, []*known{&lapsedOther}, minute, "12:00:35", false, 0, ruling{answer: end(prescient.Overlapped)}},
		{"overlapped also without a place", nil, []*known{&another}, minute, "12:00:35", true, 0, ruling{answer: end(prescient.Overlapped)}},
		{"behind another", nil, []*known{&another}, with(minute, func(t *Terms) { t.Overlap = Queue }), "12:00:35", false, 0, ruling{waits: true, behind: &another, answer: waits}},
		{"one alone waits", nil, []*known{&another, &waitingOther}, with(minute, func(t *Terms) { t.Overlap = Queue }), "12:00:35", false, 0, ruling{answer: end(prescient.Overlapped)}},
		{"nor does it where another was noted before", &waiting, []*known{&another, &waitingOther}, with(minute, func(t *Terms) { t.Overlap = Queue }), "12:00:40", false, 0, ruling{answer: end(prescient.Overlapped)}},
		{"not for one that was cancelled", nil, []*known{&another, &cancelledOther}, with(minute, func(t *Terms) { t.Overlap = Queue }), "12:00:35", false, 0, ruling{waits: true, behind: &another, answer: waits}},
		{"one that waits has nothing before it", nil, []*known{&waitingOther}, minute, "12:00:35", false, 0, ruling{starts: true, afresh: true}},

		{"too soon", nil, nil, with(minute, func(t *Terms) { t.LastStart = at("11:59:35") }), "12:00:29.999999", false, 0, ruling{answer: end(prescient.TooSoon)}},
		{"just not too soon", nil, nil, with(minute, func(t *Terms) { t.LastStart = at("11:59:35") }), "12:00:30", false, 0, ruling{starts: true, afresh: true}},
		{"too soon is asked when it comes up", nil, nil, with(minute, func(t *Terms) { t.LastStart = at("11:59:35") }), "12:00:29", true, 0, ruling{offers: true, afresh: true}},
		{"an earlier one is to be claimed first", nil, []*known{&offeredOther}, minute, "12:00:35", false, 0, ruling{offers: true, afresh: true}},
		{"a takeover without a place is offered", &lapsed, nil, Terms{}, "12:02:00", true, 0, ruling{offers: true, takesOver: true}},
		{"a retry is no start", &tried, nil, with(minute, func(t *Terms) { t.LastStart = at("12:00:35") }), "12:00:40", false, 0, ruling{starts: true}},
		{"a retry when the next occurrence is due", &tried, nil, minute, "12:01:30", false, 0, ruling{answer: end(prescient.Failed)}},
		{"a takeover when the next occurrence is due", &lapsed, nil, minute, "12:01:40", false, 0, ruling{starts: true, takesOver: true}},
		{"a retry after its quota", &tried, nil, with(minute, func(t *Terms) { t.Quota = 30 * time.Second }), "12:01:05", false, 0, ruling{answer: end(prescient.Quota)}},
		{"a takeover waits for another", &lapsed, []*known{&another}, minute, "12:01:40", false, 0, ruling{behind: &another, answer: waits}},
	} {
		m := met{job: job, guards: prescient.DefaultGuards(), terms: c.terms, run: c.run, others: c.others, room: !c.full, now: at(c.now)}
		m.guards.ExpiresAfter = c.expire
		got := decide(grid, m)
		if (got.answer.Err != nil) != (got.answer.Cause == prescient.CauseEnds) {
			t.Errorf("%s: the reason is %v", c.name, got.answer.Err)
		}
		got.answer.Err = nil
		if next := got.answer.Next; next != nil && c.want.answer.Next != nil && next.Equal(*c.want.answer.Next) {
			got.answer.Next = c.want.answer.Next
		}
		if got != c.want {
			t.Errorf("%s: %+v; want %+v", c.name, got, c.want)
		}
	}
}

// It lives for years, and its agents die now and then.
func TestAnEndlessRunIsTakenOverHoweverOftenItLapsed(t *testing.T) {
	grid, err := slots.NewGrid(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	job := occurrence()
	run := known{key: job.Key(), agent: "w", token: 1, check: identityOf(job), startedAt: at("12:00:35"), allocatedUntil: at("12:01:35"), takeovers: 1000, pending: true}
	m := met{job: job, guards: prescient.Guards{Endless: true}.Or(prescient.DefaultGuards()), run: &run, room: true, now: at("12:02:00")}
	if got := decide(grid, m); got != (ruling{starts: true, takesOver: true}) {
		t.Errorf("%+v", got)
	}
}
