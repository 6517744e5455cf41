package api_test

import (
	"strings"
	"testing"

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
		r.want(got, 200, "prescient_database_up 1\n", "prescient_backlog_age_seconds 0\n", `prescient_agents{state="live"} 0`, `prescient_pending_checks{within="1d"} 0`, "# TYPE prescient_overdue_checks gauge")
		if kind := got.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/plain") {
			t.Error(kind)
		}
		r.want(r.ask("", "/metrics", ""), 401)
	})
}
