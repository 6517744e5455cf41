package page_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/ops"
	"prescient/prescient/worker"
)

// worked makes checks of hostile orders, and has a worker run their slot.
func (r *testRig) worked() {
	r.T.Helper()
	var checks []ops.NewCheck
	for _, key := range hostile {
		checks = append(checks, served.Check(key, "ship", rig.At("13:01")), served.Check(key, "later", rig.At("15:01")))
	}
	_, err := ops.InsertChecks.Do(r.T.Context(), r.OpsAt(rig.At("10:00")), served.By(ops.Operator), ops.Inserting{Checks: checks})
	r.Must(err)
	registry := rig.Registry("ship", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
		return nil, errors.New("refused: " + job.EntityKey)
	}, prescient.Guards{MaxErrors: prescient.None})
	w, err := worker.New(r.T.Context(), r.As("worker", rig.At("13:15:01")), worker.Options{Prefix: "p_", Dialect: r.Setting, Registry: registry, Name: `<b>"w"</b>`})
	r.Must(err)
	_, err = w.Run(r.T.Context())
	r.Must(err)
}

// The views of an installation whose worker has run a slot of checks with hostile names.
func TestViewsOfWhatWorked(t *testing.T) {
	views := map[string]func(t *testing.T, r *testRig){
		"a day of slots says what became of each":    days,
		"a slot says who ran it and what came of it": slots,
		"the life of an entity is on one page":       lives,
		"lists of checks are narrowed and go on":     lists,
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		r.worked()
		r.ManyDue(rig.At("16:00"), "many", 1000, 1150)
		r.serveAt(rig.At("13:40"))
		for name, view := range views {
			t.Run(name, func(t *testing.T) { view(t, &testRig{r.Rig, r.handler}) })
		}
	})
}

// days looks at the first view, too.
func days(t *testing.T, r *testRig) {
	r.look(ops.Admin, "/").wants(t, 200, "refused: ").harmless(t)
	for _, role := range ops.Roles[:2] {
		got := r.look(role, "/slots").wants(t, 200, "From <time datetime=\"2026-11-20T00:00:00Z\"", "/p/slot?slot=2026-11-20T13%3A15%3A00Z", "/p/slots?from=2026-11-21T00%3A00%3A00Z", "No forecast was made yet").harmless(t)
		got.lacks(t, "Wait, counted")
		r.look(role, "/slots", "count", "exact").wants(t, 200, "Wait, counted", `<td class="n">7</td>`)
	}
	r.look(ops.Viewer, "/slots", "from", "yesterday").wants(t, 422, "want a time")
	r.look(ops.Viewer, "/slots", "from", "2026-11-19T22:10").wants(t, 200, "2026-11-19 22:00:00 UTC")
}

func slots(t *testing.T, r *testRig) {
	for _, role := range ops.Roles[:2] {
		got := r.look(role, "/slot", "slot", "2026-11-20T13:15:00Z").wants(t, 200, "7 checks were done", "failed", "<bdi>&lt;b&gt;&#34;w&#34;&lt;/b&gt;</bdi>", "refused: ").harmless(t)
		if role == ops.Viewer {
			got.wants(t, 200, "Operators are told.")
		} else {
			got.wants(t, 200, "<bdi>2026-11-20 13:15: ")
		}
		r.look(role, "/slot", "slot", "2026-11-20T13:30:00Z").wants(t, 200, "The ledger has nothing of this slot")
		r.look(role, "/slot", "slot", "2026-11-20T15:15:00Z").wants(t, 200, "It comes in 1 h 35 min")
	}
	r.look(ops.Viewer, "/slot", "slot", "x").wants(t, 422, "want a time")
}
