package api_test

import (
	"strings"
	"sync"
	"testing"

	"prescient/prescient"
	"prescient/prescient/api"
	"prescient/prescient/internal/rig"
)

func TestWhoeverAsksIsToldOfTheHealth(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.want(r.ask("", "/health", ""), 200, `"status":"ok"`)
		r.want(r.ask("", "/health?ready=true", ""), 200, `"status":"ok"`)
		r.want(r.ask("", "/health?ready=perhaps", ""), 422, "ready")
		r.want(r.ask("", "/health", "{}"), 405)
		r.URL = r.serve(api.Options{Ops: r.OpsAt(rig.At("10:00")), Rate: 1e6})
		r.Exec("UPDATE p_slot_config SET migrated_to = 1")
		r.want(r.ask("", "/health", ""), 200)
		r.want(r.ask("", "/health?ready=true", ""), 503, "urn:prescient:error:ErrNotMigrated", "not migrated")
	})
}

func TestPrometheusIsToldWhatTheDatabaseKnows(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		got := r.ask("viewer", "/metrics", "")
		r.want(got, 200, "prescient_database_up 1\n", "prescient_backlog_age_seconds 0\n", `prescient_agents{kind="work",state="live"} 0`, `prescient_pending_checks{within="1d"} 0`, "# TYPE prescient_overdue_checks gauge")
		if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
			t.Error(kind)
		}
		r.want(r.ask("", "/metrics", ""), 401)
	})
}

// Callers who share an answer read it at the same time.
func TestManyMayReadOneAnswer(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "ship", DueAt: rig.At("13:01")})
		for _, path := range []string{"/status/look", "/doctor/examine", "/slots/load", "/stats/execs", "/attest/run"} {
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					if got := r.ask("operator", path, ""); got.Code != 200 || strings.Contains(got.Body, `"findings":null`) {
						t.Errorf("%s: %d %s", path, got.Code, got.Body)
					}
				})
			}
			all.Wait()
		}
	})
}
