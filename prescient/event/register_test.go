package event_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// answering is an app whose job_exec tell answers what a test says.
type answering struct {
	*whole.Rig
	registry *prescient.Registry
	answer   event.Func
}

func eachAnswering(t *testing.T, test func(t *testing.T, r *answering)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := &answering{Rig: whole.New(t, d, 15*time.Minute), registry: prescient.NewRegistry()}
		r.Must(event.New(r.Client).Register(r.registry, "tell", func(ctx context.Context, job prescient.FutureJob) (*time.Time, []event.Event, error) {
			return r.answer(ctx, job)
		}, prescient.Guards{}))
		test(t, r)
	})
}

// check puts a check of an order into the slot of a time, before that begins.
func (r *answering) check(order, clock string) {
	r.T.Helper()
	_, err := r.Client.Insert(r.T.Context(), r.AppAt(rig.At(clock).Add(-time.Minute)), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: order}, JobExec: "tell", DueAt: rig.At(clock)})
	r.Must(err)
}

func (r *answering) run(clock string) {
	r.T.Helper()
	r.RunAt(rig.At(clock).Add(time.Second), r.registry, worker.Options{})
}

// ids are those of the events in the outbox, in their order.
func (r *answering) ids() (ids []string) {
	r.T.Helper()
	r.Must(r.Pool(time.Time{}).Select(&ids, "SELECT id FROM p_event_outbox ORDER BY seq"))
	return ids
}

func TestEventsCommitWithTheAnswer(t *testing.T) {
	eachAnswering(t, func(t *testing.T, r *answering) {
		told := []event.Event{{Topic: "t"}, {Topic: "t", Key: "mine", ID: "mine"}, {Topic: "t"}}
		failing := errors.New("not now")
		var jobs []prescient.FutureJob
		r.answer = func(_ context.Context, job prescient.FutureJob) (*time.Time, []event.Event, error) {
			jobs = append(jobs, job)
			switch len(jobs) {
			case 1:
				return nil, told, failing
			case 2:
				return prescient.At(rig.At("13:45")), told, nil // the same slice again and again
			}
			return nil, told, nil
		}
		r.check("42", "13:15")
		r.run("13:15")
		if ids := r.ids(); len(ids) != 0 {
			t.Errorf("events of an error are published: %q", ids)
		}
		r.run("13:30")
		r.run("13:45")
		if len(jobs) != 3 {
			t.Fatalf("%d calls; want 3", len(jobs))
		}
		want := []string{event.IDOf(jobs[1]), "mine", event.IDOf(jobs[1], "3"), event.IDOf(jobs[2]), "mine", event.IDOf(jobs[2], "3")}
		ids := r.ids()
		if len(ids) != len(want) {
			t.Fatalf("events %q; want %q", ids, want)
		}
		for i := range want {
			if ids[i] != want[i] {
				t.Errorf("event %d is %s; want %s", i, ids[i], want[i])
			}
		}
		if told[0].ID != "" || told[0].Key != "" {
			t.Errorf("the function's own slice was changed: %+v", told[0])
		}
		if n := r.Count("SELECT COUNT(*) FROM p_event_outbox WHERE event_key = 'order/42'"); n != 4 {
			t.Errorf("%d events have the entity as key; want 4", n)
		}
	})
}

// A check that is done, and inserted again into the same slot, as plain SQL can, is another one: a consumer that drops repeats must not drop
// its event.
func TestTheIDIsOfOneRowInOneSlot(t *testing.T) {
	eachAnswering(t, func(t *testing.T, r *answering) {
		r.answer = func(context.Context, prescient.FutureJob) (*time.Time, []event.Event, error) {
			return nil, []event.Event{{Topic: "t"}}, nil
		}
		r.check("42", "13:15")
		r.run("13:15")
		r.check("42", "13:15")
		r.run("13:15")
		ids := r.ids()
		if len(ids) != 2 || ids[0] == ids[1] {
			t.Errorf("ids %q; want two", ids)
		}
	})
}

func TestACallThatIsRepeatedMakesTheSameID(t *testing.T) {
	job := prescient.FutureJob{EntityName: "order", EntityKey: "42", JobExec: "tell", NextCheckAt: rig.At("13:15"), Revision: 1}
	again, moved, another := job, job, job
	again.ErrorCount, again.LastError = 1, "killed"
	moved.NextCheckAt, moved.Revision = rig.At("13:30"), 2
	another.Revision = 2
	id := event.IDOf(job)
	if event.IDOf(again) != id {
		t.Error("it is another id")
	}
	for _, other := range []string{event.IDOf(moved), event.IDOf(another), event.IDOf(job, "2")} {
		if other == id || len(other) > event.MaxID {
			t.Errorf("%s beside %s", other, id)
		}
	}
}
