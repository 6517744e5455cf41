package longrun

import (
	"context"
	"testing"
	"time"

	"prescient/prescient"
)

// A long run is one call, where it is made; what keeps books on its runs, and calls others, has no middleware.
func TestMiddlewareIsAroundLongRuns(t *testing.T) {
	registry, r := prescient.NewRegistry(), &Runner{execs: make(map[string]*exec)}
	var seen []prescient.Call
	registry.Use(func(next func(context.Context, prescient.Call) error) func(context.Context, prescient.Call) error {
		return func(ctx context.Context, call prescient.Call) error {
			seen = append(seen, call)
			return next(ctx, call)
		}
	})
	fn := func(context.Context, *Run) (*time.Time, error) { return prescient.At(time.Unix(7, 0)), nil }
	for _, err := range []error{
		r.Register(registry, "export", fn, prescient.Guards{}),
		r.RegisterWithEnds(registry, "steps", fn, prescient.Guards{}, func(context.Context, prescient.DB, []Ended) error { return nil }),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"export", "steps"} {
		do, _ := r.Function(name)
		if next, err := do(t.Context(), &Run{job: prescient.FutureJob{EntityKey: "42"}}); err != nil || next.Unix() != 7 {
			t.Errorf("%s: %v, %v", name, next, err)
		}
	}
	if len(seen) != 1 || seen[0].JobExec != "export" || seen[0].Form != prescient.LongRun || len(seen[0].Jobs) != 1 || seen[0].Jobs[0].EntityKey != "42" || seen[0].Tx != nil {
		t.Errorf("%+v", seen)
	}
}
