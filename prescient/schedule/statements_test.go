package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// Five statements for each transaction of up to 1000 timers, and what a bucket takes.
func TestASlotOfEventsTakesAtMostSixStatementsFor500(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		const many = 20_000
		for some := range slices.Chunk(make([]schedule.Schedule, many), 5000) {
			for i := range some {
				some[i] = schedule.Schedule{ID: fmt.Sprintf("%p%d", &some[0], i), Crontabs: []string{"0 * * * *"}, Topic: "t"}
			}
			_, err := r.schedules.CreateMany(t.Context(), r.app("10:00"), some)
			r.Must(err)
		}
		var hooks rig.Hooks
		w := r.HookedWorker(rig.At("11:00").Add(time.Second), &hooks, r.registry, worker.Options{})
		before := len(hooks.Log)
		_, err := w.Run(t.Context())
		r.Must(err)
		if n := len(r.events()); n != many {
			t.Fatalf("%d events", n)
		}
		kinds := make(map[string]int)
		work := 0
		for _, statement := range hooks.Log[before:] {
			words := strings.Fields(statement)
			kind := strings.Join(words[:min(len(words), 4)], " ")
			kinds[kind[:min(len(kind), 40)]]++
			switch words[0] {
			case "SELECT", "INSERT", "UPDATE", "DELETE":
				work++
			}
		}
		t.Logf("%d, %.2f for 500: %v", work, float64(work)/many*500, kinds)
		if most := 6 * many / 500; work > most {
			t.Errorf("%d statements for %d events: %v", work, many, kinds)
		}
	})
}
