package longrun_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/longrun"
)

// Together they are more than Vitess passes on in one answer.
func TestRunsWithLongPayloadsAreClaimedTogether(t *testing.T) {
	const runs, length = 12, 3 << 20
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		r.Must(r.runner.RegisterIn("heavy", r.registry, "heavy-export", r.called, prescient.Guards{}))
		for i := range runs {
			r.Put(r.AppAt(rig.At("11:59:00")), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "heavy-export", DueAt: rig.At("12:00:00")})
		}
		r.slot("12:00:00")
		r.Exec("UPDATE p_future_job SET payload = CONCAT('\"', REPEAT('x', ?), '\"')", length-2)
		r.at("12:00:02")
		agent := r.agent("agent-2", longrun.Options{Pools: map[string]int{"heavy": runs}})
		var mu sync.Mutex
		had := make(map[string]int)
		r.Must(agent.RegisterIn("heavy", prescient.NewRegistry(), "heavy-export", func(_ context.Context, run *longrun.Run) (*time.Time, error) {
			mu.Lock()
			defer mu.Unlock()
			had[run.Job().EntityKey] = len(run.Job().Payload)
			return nil, nil
		}, prescient.Guards{}))
		stop := r.serves(agent)
		defer stop()
		r.Eventually("they have ended", func() bool { return r.Count(rig.CountEnded) == runs })
		mu.Lock()
		defer mu.Unlock()
		for key, n := range had {
			if n != length {
				t.Errorf("the run of %s had a payload of %d bytes; want %d", key, n, length)
			}
		}
		r.Balanced()
	})
}

// A page of the most runs is read with one more, by which it knows of the next page: more than Vitess has in an answer.
func TestAPageOfTheMostRunsUnderWay(t *testing.T) {
	eachServer(t, 30*time.Second, longrun.Options{}, func(t *testing.T, r *testRig) {
		r.Exec(`INSERT INTO p_long_run (job_key, pool, agent, token, slot, due_at, inserted_at, check_count, takeovers, allocated_until)
			SELECT UNHEX(LPAD(HEX(n), 32, '0')), 'heavy', 'a', 1, '2026-11-20', '2026-11-20', '2026-11-20', 0, 0, '2026-11-20 12:01:00' FROM ` + rig.Numbers(longrun.MaxPage+1) + ` numbers`)
		page, next, err := longrun.ListUnderWay(t.Context(), r.As("operator", rig.At("12:00")), r.Tables(), "", longrun.MaxPage, 0)
		r.Must(err)
		if len(page) != longrun.MaxPage || next == "" {
			t.Errorf("%d runs, and %q is next", len(page), next)
		}
	})
}
