package worker

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/rig"
)

// called notes which entities were called.
type called struct {
	mu   sync.Mutex
	keys []string
}

func (c *called) note(job prescient.FutureJob) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.keys = append(c.keys, job.EntityKey)
}

func (c *called) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.keys, " ")
}

// formsOf registers a function that settles everything, in each form of a handler.
func formsOf(t *testing.T, c *called, guards prescient.Guards) map[string]*prescient.Registry {
	forms := make(map[string]*prescient.Registry)
	for name, register := range map[string]func(r *prescient.Registry) error{
		"Func": func(r *prescient.Registry) error {
			return r.Register("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
				c.note(job)
				return nil, nil
			}, guards)
		},
		"BatchFunc": func(r *prescient.Registry) error {
			return r.RegisterBatch("check", func(_ context.Context, b *prescient.Batch) error {
				for i, job := range b.Jobs() {
					c.note(job)
					b.Settle(i)
				}
				return nil
			}, guards)
		},
		"TxFunc": func(r *prescient.Registry) error {
			return r.RegisterTx("check", func(_ context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
				c.note(job)
				return nil, nil
			}, guards)
		},
		"TxBatchFunc": func(r *prescient.Registry) error {
			return r.RegisterTxBatch("check", func(_ context.Context, _ *sqlx.Tx, b *prescient.Batch) error {
				for i, job := range b.Jobs() {
					c.note(job)
					b.Settle(i)
				}
				return nil
			}, guards)
		},
	} {
		forms[name] = prescient.NewRegistry()
		rig.Fatal(t, register(forms[name]))
	}
	return forms
}

// expired fails unless the checks of some entities ended as expired, uncalled, and no others.
func (r *testRig) expired(what string, keys ...string) {
	r.T.Helper()
	want := make(map[string]bool)
	for _, key := range keys {
		want[key] = true
	}
	for _, end := range r.History() {
		if !want[end.EntityKey] {
			if end.Outcome == prescient.Expired {
				r.T.Errorf("%s: %s ended as %s (%s)", what, end.EntityKey, end.Outcome, end.Error)
			}
			continue
		}
		delete(want, end.EntityKey)
		if end.Outcome != prescient.Expired || end.StartedAt != nil || end.LatenessMS != nil || end.RunMS != 0 || end.Worker == "" ||
			!strings.HasPrefix(end.Error, "not called: it expired at 2026-11-20T") {
			r.T.Errorf("%s: %s ended as %+v", what, end.EntityKey, end)
		}
		if expiry := prescient.Expiry(end.FutureJob, prescient.Guards{ExpiresAfter: 100 * 365 * 24 * time.Hour}); end.ExpiresAt != nil && end.EndedAt.Before(expiry) {
			r.T.Errorf("%s: %s ended at %s, before it expired at %s", what, end.EntityKey, end.EndedAt, expiry)
		}
	}
	if len(want) > 0 {
		r.T.Errorf("%s: %v did not expire", what, want)
	}
}

// afresh empties the tables, and forgets who was called.
func (r *testRig) afresh(c *called) {
	r.T.Helper()
	r.Clear()
	r.Exec("DELETE FROM p_slot_run")
	c.keys = nil
}

// putExpiring makes checks pending at 13:15 that expire so long after it, by their entity's key; never for 0.
func (r *testRig) putExpiring(after map[string]time.Duration) {
	r.T.Helper()
	var jobs []prescient.NewJob
	for key, d := range after {
		jobs = append(jobs, prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("13:15"), ExpiresAfter: d})
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(rig.At("13:00")), jobs)
	r.Must(err)
}

func TestWhatHasExpiredEndsWithoutACallInEveryForm(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c called
		for form, execs := range formsOf(t, &c, prescient.Guards{}) {
			r.afresh(&c)
			r.putExpiring(map[string]time.Duration{"1": 0, "2": time.Second, "3": 0, "4": 5 * time.Second, "5": time.Hour, "6": 0})
			figures := r.runAt(rig.At("13:15:05"), execs, Options{})
			if figures.Expired != 2 || figures.Done != 4 || figures.Ended() != 6 || len(figures.Troubles) != 1 || len(c.keys) != 4 || strings.ContainsAny(c.String(), "24") {
				t.Errorf("%s: called %s, figures %+v", form, c.String(), figures)
			}
			r.expired(form, "2", "4")
			r.Balanced()
			r.afresh(&c)
			r.putExpiring(map[string]time.Duration{"1": time.Second, "2": time.Second})
			if figures := r.runAt(rig.At("13:16"), execs, Options{}); figures.Expired != 2 || len(c.keys) != 0 {
				t.Errorf("%s, nothing left: called %s, figures %+v", form, c.String(), figures)
			}
			r.expired(form, "1", "2")
			if len(r.Pending()) > 0 {
				t.Errorf("%s: pending %+v", form, r.Pending())
			}
			r.Balanced()
		}
	})
}

func TestAGuardExpiresTheChecksOfAJobExecThatHaveNoExpiryOfTheirOwn(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c called
		for form, execs := range formsOf(t, &c, prescient.Guards{ExpiresAfter: time.Second}) {
			r.afresh(&c)
			r.putExpiring(map[string]time.Duration{"1": 0, "2": time.Hour, "3": 0})
			if figures := r.runAt(rig.At("13:15:05"), execs, Options{}); figures.Expired != 2 || figures.Done != 1 || c.String() != "2" {
				t.Errorf("%s: called %s, figures %+v", form, c.String(), figures)
			}
			r.expired(form, "1", "3")
		}
	})
}

// A row that is in time when its transaction begins may have expired when its turn comes.
func TestARowThatExpiresWhileOthersOfItsTransactionAreCalledIsNotCalled(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		effects := r.effects()
		var c called
		var first sync.Once
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			c.note(job)
			first.Do(func() { time.Sleep(rig.At("13:15:07.01").Sub(job.CalledAt)) })
			_, err := tx.ExecContext(ctx, "INSERT INTO effects (entity_key) VALUES (?)", job.EntityKey)
			return nil, err
		}, prescient.Guards{}))
		r.putExpiring(map[string]time.Duration{"a": 0, "b": 0, "1": 7 * time.Second, "2": 7 * time.Second, "3": 7 * time.Second, "4": 7 * time.Second})
		figures := r.runAt(rig.At("13:15:05.5"), execs, Options{})
		calls := strings.Fields(c.String())
		want := 2 // those without an expiry, and whichever came first
		if calls[0] != "a" && calls[0] != "b" {
			want++
		}
		if figures.Done != want || figures.Expired != 6-want || len(calls) != want || len(effects()) != want {
			t.Errorf("called %s, effects %v, figures %+v; want %d called", c.String(), effects(), figures, want)
		}
		r.Balanced()
	})
}

func TestARetryThatHasExpiredEndsTheCheck(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New("not yet") }, prescient.Guards{})
		r.putExpiring(map[string]time.Duration{"1": 40 * time.Minute})
		for _, slot := range []string{"13:15", "13:30"} {
			if figures := r.runAt(rig.At(slot), execs, Options{}); figures.Moved != 1 {
				t.Fatalf("at %s: %+v", slot, figures)
			}
			if job := r.One(); !job.ExpiresAt.Equal(rig.At("13:55")) {
				t.Errorf("after the error of %s it expires at %s", slot, job.ExpiresAt)
			}
		}
		if figures := r.runAt(rig.At("14:00"), execs, Options{}); figures.Expired != 1 {
			t.Errorf("%+v", figures)
		}
		r.expired("a retry", "1")
		if end := r.History()[0]; end.ErrorCount != 2 || end.LastError != "not yet" || !end.ExpiresAt.Equal(rig.At("13:55")) {
			t.Errorf("%+v", end)
		}
	})
}

func TestAnAnswerThatMovesACheckMovesItsExpiry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		returns := map[string]time.Time{"1": rig.At("14:00"), "2": rig.At("14:20:00.5"), "3": rig.At("13:20"), "never": rig.At("14:00")}
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			return prescient.At(returns[job.EntityKey]), nil
		}, prescient.Guards{})
		r.putExpiring(map[string]time.Duration{"1": time.Hour, "2": 30 * time.Minute, "3": time.Microsecond + time.Minute, "never": 0})
		if figures := r.runAt(rig.At("13:15:00.5"), execs, Options{}); figures.Moved != 4 {
			t.Fatalf("%+v", figures)
		}
		for _, job := range r.Pending() {
			want := map[string]time.Time{"1": rig.At("15:00"), "2": rig.At("14:50:00.5"), "3": rig.At("13:21:00.000001")}[job.EntityKey]
			if want.IsZero() != (job.ExpiresAt == nil) || job.ExpiresAt != nil && !job.ExpiresAt.Equal(want) || !job.DueAt.Equal(returns[job.EntityKey]) {
				t.Errorf("%s is due at %s and expires at %v; want %s and %s", job.EntityKey, job.DueAt, job.ExpiresAt, returns[job.EntityKey], want)
			}
		}
		// A returned time that is over before its slot comes does not last until then.
		if figures := r.runAt(rig.At("13:30"), execs, Options{}); figures.Expired != 1 {
			t.Errorf("%+v", figures)
		}
		r.expired("moved", "3")
	})
}

// What is put off is not called, and does not end while it is; once it would be called it has expired.
func TestAPausedCheckExpiresOnceItIsResumed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		r.putExpiring(map[string]time.Duration{"1": time.Minute})
		r.Exec("INSERT INTO p_job_pause (job_exec) VALUES ('check')")
		if figures := r.runAt(rig.At("13:20"), execs, Options{}); figures.PutOff != 1 {
			t.Errorf("paused: %+v", figures)
		}
		if job := r.One(); !job.ExpiresAt.Equal(rig.At("13:16")) {
			t.Errorf("it expires at %s", job.ExpiresAt)
		}
		// Nor does one end that nobody registered.
		r.Exec("DELETE FROM p_job_pause")
		if figures := r.runAt(rig.At("13:30"), prescient.NewRegistry(), Options{}); figures.PutOff != 1 {
			t.Errorf("unregistered: %+v", figures)
		}
		if figures := r.runAt(rig.At("13:45"), execs, Options{}); figures.Expired != 1 {
			t.Errorf("resumed: %+v", figures)
		}
		r.expired("resumed", "1")
	})
}

func TestARollForwardLeavesTheExpiry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		r.putExpiring(map[string]time.Duration{"1": time.Minute, "2": 24 * time.Hour})
		if _, err := r.worker(rig.At("14:00"), execs, Options{}).RollForward(t.Context(), nil); err != nil {
			t.Fatal(err)
		}
		for _, job := range r.Pending() {
			if want := map[string]time.Duration{"1": time.Minute, "2": 24 * time.Hour}[job.EntityKey]; job.ExpiresAt.Sub(rig.At("13:15")) != want || !job.NextCheckAt.After(rig.At("13:15")) {
				t.Errorf("%s waits for %s and expires at %s", job.EntityKey, job.NextCheckAt, job.ExpiresAt)
			}
		}
		if figures := r.runAt(rig.At("14:15"), execs, Options{}); figures.Expired != 1 || figures.Done != 1 {
			t.Errorf("%+v", figures)
		}
		r.expired("rolled forward", "1")
	})
}

// A payload that travels in no statement is copied with the expiry.
func TestACopiedEndHasItsExpiry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c rig.Calls
		execs := rig.Registry("check", c.Count, prescient.Guards{})
		payload := []byte(`"` + strings.Repeat("x", 100<<10) + `"`)
		for key, after := range map[string]time.Duration{"1": time.Second, "2": time.Hour} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("13:15"), ExpiresAfter: after, Payload: payload})
		}
		if figures := r.runAt(rig.At("13:15:05"), execs, Options{}); figures.Expired != 1 || figures.Done != 1 {
			t.Errorf("%+v", figures)
		}
		r.expired("copied", "1")
		for _, end := range r.History() {
			if end.ExpiresAt == nil || len(end.Payload) != len(payload) {
				t.Errorf("%s: expires at %v, a payload of %d bytes", end.EntityKey, end.ExpiresAt, len(end.Payload))
			}
		}
	})
}

func TestARunOfAScheduleThatComesTooLateIsMissed(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		var c called
		for form, execs := range formsOf(t, &c, prescient.Guards{}) {
			r.afresh(&c)
			for key, by := range map[string]string{"late": "13:15:02", "early": "13:16:00"} {
				run := prescient.NewJob{Entity: prescient.Entity{Name: prescient.ScheduleEntity, Key: key}, JobExec: "check", DueAt: rig.At("13:15"),
					Payload: []byte(`{"missed_after": "2026-11-20T` + by + `Z"}`)}
				r.Must(r.Client.Own(reserved.Schedule()).Insert(t.Context(), r.AppAt(rig.At("13:00")), []prescient.NewJob{run}, rig.At("13:00")))
			}
			if figures := r.runAt(rig.At("13:15:05"), execs, Options{}); figures.Missed != 1 || figures.Done != 1 || c.String() != "early" {
				t.Errorf("%s: called %s, figures %+v", form, c.String(), figures)
			}
			for _, end := range r.History() {
				if end.EntityKey == "late" && (end.Outcome != prescient.Missed || end.StartedAt != nil || !strings.Contains(end.Error, "13:15:02")) {
					t.Errorf("%s: %+v", form, end)
				}
			}
			r.Balanced()
		}
	})
}
