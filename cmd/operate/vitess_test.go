package operate_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
)

// What a person does with one database, a person does with a shard that the DSN names; what a shard does not show is said, and is no failure.
func TestAShardOfVitessIsOperatedAsADatabaseIs(t *testing.T) {
	// Its MySQL is to be as durable as doctor wants it.
	vschema, err := shards.VSchema("", nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := rig.Vitess(t, vitess.Options{Shards: 1, VSchema: string(vschema), ServerArgs: []string{"--innodb-flush-log-at-trx-commit=1", "--sync-binlog=1"}})
	env := map[string]string{"PRESCIENT_DSN": cluster.Shards[0].DSN(), "PRESCIENT_SLOTS_RESOLUTION": "1m"}
	for _, step := range []struct{ args, says string }{
		{"migrate", "applied 00036"},
		{"insert --entity order/1 --exec x --in 3h", "inserted"},
		{"insert --entity order/2 --exec x --in 3h", "inserted"},
		{"cancel --entity order/1", "cancelled 1"},
		{"pending", "order/2"},
		{"history", "order/1"},
		{"run", ""},
		{"sweep", "swept 0 slots"},
		{"status", ""},
		{"doctor", "blocking: No session waits"},
		{"doctor --only schema", "the VSchema has all lie where they are to"},
		{"prune --keep 90d", "dropped 0 weeks"},
		{"blocking", "No session"},
		{"agents", ""},
		{"slots", ""},
		{"forecast", ""},
		{"stats", ""},
		{"audit", "migrate"},
		{"pause x", "x"},
		{"resume x", "ended 1 pauses"},
		{"schedule list", ""},
		{"event status", ""},
		{"migrate --repair", "nothing to restore"},
		{"reslot --resolution 5m", ""},
	} {
		got := rig.Execute(t.Context(), cmd.Options{}, env, "", strings.Fields(step.args)...)
		if got.Code != cmd.ExitOK || !strings.Contains(got.Out, step.says) || strings.Contains(got.Out, "could not be looked at") {
			t.Errorf("%v", got)
		}
	}
	env["PRESCIENT_SLOTS_RESOLUTION"] = "5m"
	if got := rig.Execute(t.Context(), cmd.Options{}, env, "", "migrate", "status"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, "for slots of 5m") {
		t.Errorf("%v", got)
	}
	rig.Execute(t.Context(), cmd.Options{}, env, "", "grants", "--role", "worker", "--user", "x").Wants(t, cmd.ExitUsage, "no GRANT on Vitess")
}
