package longrun_test

import (
	"context"
	"database/sql"
	"errors"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// An end is in the way of nobody while it is yet to be committed: here a transaction of the app has its check.

// locksCheckOf locks the check of a run, as a transaction of an app does, until let is called.
func (r *testRig) locksCheckOf(run *longrun.Run) (let func()) {
	r.T.Helper()
	tx, err := r.Root.BeginTx(r.T.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	r.Must(err)
	r.T.Cleanup(func() { _ = tx.Rollback() })
	var slot string
	r.Must(tx.QueryRow("SELECT next_check_at FROM p_future_job WHERE job_key = ?", keyOf(run)).Scan(&slot))
	_, err = tx.Exec("SELECT 1 FROM p_future_job FORCE INDEX (PRIMARY) WHERE next_check_at = ? AND job_key = ? FOR UPDATE", slot, keyOf(run))
	r.Must(err)
	return func() {
		r.T.Helper()
		r.Must(tx.Rollback())
	}
}

// cannotEnd has a call return at a time, whose end cannot be committed until let is called.
func (r *testRig) cannotEnd(name, clock string) (let func()) {
	r.T.Helper()
	c := r.forget(name)
	let = r.locksCheckOf(c.run)
	r.at(clock)
	c.answer <- ran
	return let
}

// leaves waits until the agent has looked twice for runs, and has not claimed one.
func (r *testRig) leaves(name string) {
	r.T.Helper()
	before := r.runner.Looks()
	r.Eventually("the agent looks", func() bool { return r.runner.Looks() >= before+2 })
	if as := r.outcomes()[name]; as != "" || r.isRunning(name) {
		r.T.Errorf("%s has run, or ended as %q", name, as)
	}
}

// Else a place would be idle for as long as an end and a start take.
func TestAPlaceIsFreeOnceItsFunctionHasReturnedWhileTheEndIsYetToBeCommitted(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		runs, waits := r.meetsTwo()
		let := r.cannotEnd(runs, "12:00:10")
		r.running(waits)
		if ended := r.outcomes(); len(ended) > 0 {
			t.Errorf("%v ended", ended)
		}
		let()
		r.wantOutcome(runs, "done")
		r.answers(waits, "12:00:20", ran)
		r.Balanced()
	})
}

// Else what cannot end would pile up for as long as an app's transaction is open.
func TestNoMoreEndsThanPlacesWaitToBeCommittedBesideRunsThatHaveAPlace(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		runs, waits := r.meetsTwo()
		r.insert("12:00:02", "c", "12:00:30")
		r.slot("12:00:30") // offers it
		letFirst := r.cannotEnd(runs, "12:00:40")
		r.running(waits)
		letSecond := r.cannotEnd(waits, "12:00:50")
		r.leaves("c")
		if n := r.runner.Running(); n != 2 {
			t.Errorf("%d runs are in hand; want 2", n)
		}
		letSecond()
		r.wantOutcome(waits, "done")
		r.running("c") // in the place of the second
		r.answers("c", "12:00:58", ran)
		if ended := r.outcomes()[runs]; ended != "" {
			t.Errorf("%s has ended as %s", runs, ended)
		}
		letFirst()
		r.wantOutcome(runs, "done")
		r.Balanced()
	})
}

// Else the agent itself would find the run before it under way, and drop an occurrence that waited for nothing but that.
func TestTheNextOfAScheduleIsClaimedOnceTheEndOfTheRunBeforeItIsCommitted(t *testing.T) {
	timeline(t, func(t *testing.T, r *testRig) {
		r.lateFirst()
		r.slot("12:02:00") // nothing
		r.slot("12:02:30") // offers the third, while the second waits
		r.answers("b2", "12:02:37", ran)
		r.running("A 12:01:30")
		let := r.cannotEnd("A 12:01:30", "12:03:35")
		r.leaves("A 12:02:30")
		let()
		r.running("A 12:02:30") // 58 s after the one before it
		r.answers("A 12:02:30", "12:03:40", ran)
		r.wantOutcome("A 12:01:30", "done")
		r.wantOutcome("A 12:02:30", "done")
		r.Balanced()
	})
}

func TestAnAgentThatStopsWaitsForEndsThatAreYetToBeCommitted(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:00", "a", "12:00")
		r.slot("12:00:00")
		c := r.running("a")
		let := r.cannotEnd("a", "12:00:10")
		now, cancel := context.WithCancel(t.Context())
		cancel() // also where its calls have no time left
		drained := make(chan error, 1)
		go func() { drained <- r.runner.Drain(now) }()
		r.Eventually("the agent stops", c.run.Stopping)
		select {
		case err := <-drained:
			t.Errorf("it has stopped before the end is committed: %v", err)
		default:
		}
		let()
		if err := <-drained; err != context.Canceled {
			t.Errorf("%v; want that it had no time left", err)
		}
		r.wantOutcome("a", "done") // and not handed on
		r.Balanced()
	})
}

// As of an agent that was frozen or killed after a function has returned, and before that is committed.
func TestWhatIsTakenOverBeforeItsEndIsCommittedGivesNoPlaceBackASecondTime(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		runs, waits := r.meetsTwo()
		let := r.cannotEnd(runs, "12:00:10")
		has := r.running(waits)
		r.Exec("UPDATE p_long_run SET agent = 'agent-2', token = token + 10 WHERE job_key <> ?", keyOf(has.run)) // it had lapsed
		let()
		r.Eventually("the first agent is rid of it", func() bool { return r.runner.Running() == 1 })
		if n := r.Count(rig.CountEnded); n != 0 {
			t.Errorf("%d ended by an agent that has lost them", n)
		}
		r.insert("12:00:11", "c", "12:00:30")
		r.slot("12:00:30")
		r.leaves("c")
		r.answers(waits, "12:00:40", ran)
		r.answers("c", "12:00:50", ran)
	})
}

// The end of a call that failed was committed, and its answer was lost. A slot run has offered the check anew before the agent tries it again.
func TestAnEndIsNotCommittedAgainOnceTheRunIsOfferedAnew(t *testing.T) {
	one(t, func(t *testing.T, r *testRig) {
		r.insert("11:59:00", "a", "12:00")
		r.slot("12:00:00")
		let := r.locksCheckOf(r.running("a").run)
		r.at("12:00:10")
		r.forget("a").answer <- prescient.Answer{Err: errors.New("busy")}
		r.Exec("UPDATE p_long_run SET agent = ''")
		let()
		r.Eventually("the agent is rid of it", func() bool { return r.runner.Running() == 0 })
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE error_count > 0"); n != 0 {
			t.Error("it has failed once more")
		}
	})
}

func keyOf(run *longrun.Run) []byte {
	key := run.Job().Key()
	return key[:]
}
