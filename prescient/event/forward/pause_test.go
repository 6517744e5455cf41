package forward_test

import (
	"context"
	"testing"

	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
)

// Under the pause of everything, and under that of events, nothing goes to a broker: not by a forwarder that begins then, nor by a pass, nor by
// one that has events in memory.
func TestForwardersPublishNothingUnderAPause(t *testing.T) {
	for name, what := range map[string]string{"of everything": prescient.AllExecs, "of events": prescient.AllEvents} {
		t.Run(name, func(t *testing.T) {
			eachServer(t, func(t *testing.T, r *testRig) {
				pause := func() {
					t.Helper()
					r.Must(r.Client.Pause(t.Context(), r.Root, prescient.Paused{JobExec: what, By: "ann", Reason: "a clone"}))
				}
				resume := func() {
					t.Helper()
					_, err := r.Client.Resume(t.Context(), r.Root, what)
					r.Must(err)
				}
				r.hooks = &rig.Hooks{}
				pause()
				r.publishes("t", "k", "1", "k", "2", "l", "3")
				r.Must(r.passes(r.forwarder(forward.Options{})))
				began := make(chan struct{}, 1)
				goOn := make(chan struct{})
				r.broker.answers(func(m broker.Message) error {
					if m.ID == "1" {
						began <- struct{}{}
						<-goOn
					}
					return nil
				})
				stop := r.start(forward.Options{})
				r.Eventually("it has the shards", func() bool {
					return r.Count("SELECT COUNT(*) FROM p_event_shard WHERE allocated_until > UTC_TIMESTAMP(6)") == 64
				})
				r.holds()
				resume()
				<-began // with the one behind it in memory
				r.Eventually("the other key is published", func() bool { return len(r.broker.ids("l")) == 1 })
				pause()
				r.holds()
				close(goOn)
				r.Eventually("what was under way is over", func() bool { return r.waits() == 1 })
				wantIDs(t, r.broker.ids("k"), "1")
				resume()
				r.untilEmpty()
				wantIDs(t, r.broker.ids("k"), "1", "2")
				stop()
			})
		})
	}
}

// A pause of job_execs is not one of events.
func TestForwardersGoOnUnderOtherPauses(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Must(r.Client.Pause(t.Context(), r.Root, prescient.Paused{JobExec: "events"}))
		r.publishes("t", "k", "1")
		r.Must(r.passes(r.forwarder(forward.Options{})))
		wantIDs(t, r.broker.ids("k"), "1")
	})
}

// holds waits for looks of the forwarder, and wants that they changed nothing.
func (r *testRig) holds() {
	r.T.Helper()
	before := r.broker.all()
	until := r.hooks.Count(steps["waiting"]) + 3
	r.Eventually("the forwarder looks", func() bool { return r.hooks.Count(steps["waiting"]) >= until })
	if now := r.broker.all(); now != before {
		r.T.Errorf("%d events were tried under a pause", now-before)
	}
}

// A process that is drained, and works again, has one forwarder.
func TestAForwarderRunsAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		f := r.forwarder(forward.Options{})
		for i, id := range []string{"first", "second", "third"} {
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() { ended <- f.Run(ctx) }()
			r.publishes("t", "k", id)
			r.untilEmpty()
			cancel()
			r.Must(<-ended)
			if n := len(r.broker.ids("k")); n != i+1 {
				t.Errorf("%d events are published; want %d", n, i+1)
			}
		}
	})
}
