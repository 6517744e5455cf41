package acceptance

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
	"prescient/sql/migrate"
)

// The doctor finds what lies elsewhere than it is to, once: on the keyspace, or the first of its shards.
func TestADoctorComparesTheVSchema(t *testing.T) {
	good, err := shards.VSchema("p_", nil)
	rig.Fatal(t, err)
	by := func(table, column, vindex string) string {
		return fmt.Sprintf(`"p_%s":{"column_vindexes":[{"column":"%s","name":"%s"}]}`, table, column, vindex)
	}
	broken := strings.NewReplacer(by("future_job", "job_key", "prescient_key"), by("future_job", "job_key", "hashed"), by("schedule", "place", "prescient_key")+",", "",
		by("audit_log", "place", "prescient_key"), `"p_audit_log":{"type":"reference"}`, `"p_slot_run":{"type":"reference"}`, by("slot_run", "bucket", "hashed"),
		`"vindexes":{`, `"vindexes":{"hashed":{"type":"xxhash"},`).Replace(string(good))
	cluster := startVitess(t, vitess.Options{Shards: 2, VSchema: broken})
	found := func(target string) (wrong, ok string) {
		t.Helper()
		db := sqlx.NewDb(servertest.Open(t, target, "parseTime=true"), "mysql")
		all, err := doctor.Examine(t.Context(), db, doctor.Options{Prefix: "p_", Only: []string{"schema"}})
		rig.Fatal(t, err)
		for _, f := range all {
			switch {
			case f.Code == "schema.vschema":
				wrong += f.Text + " " + f.Do
			case f.Severity == doctor.SeverityOK:
				ok += f.Text
			default:
				t.Errorf("%+v", f)
			}
		}
		var now string
		if rig.Fatal(t, db.GetContext(t.Context(), &now, "SELECT DATABASE()")); !strings.HasSuffix(target, now) && !strings.Contains(target, now+"?") {
			t.Errorf("a pool of %s has a session on %s", target, now)
		}
		return wrong, ok
	}
	for _, shard := range cluster.Shards {
		_, err := migrate.Up(t.Context(), servertest.Open(t, shard.DSN(), ""), migrate.Schema{Prefix: "p_", Resolution: time.Minute})
		rig.Fatal(t, err)
	}
	wrong, _ := found(cluster.Shards[0].DSN())
	for _, want := range []string{"VSchema of shop", "p_future_job lies by job_key (xxhash), and is to lie by job_key (binary)", "there is no p_schedule.",
		"p_audit_log lies on each shard for itself, and is to lie by place (binary)", "p_slot_run lies by bucket (xxhash), and is to lie on each", "`vschema --apply shop`"} {
		if !strings.Contains(wrong, want) || strings.Count(wrong, "p_") != 4 {
			t.Errorf("no %q in %s", want, wrong)
		}
	}
	if wrong, ok := found(cluster.Shards[1].DSN()); wrong != "" || strings.Contains(ok, "VSchema") {
		t.Errorf("on the second shard it says %q and %q", wrong, ok)
	}
	rig.Fatal(t, cluster.Control(t.Context(), "ApplyVSchema", "--vschema="+string(good), vitess.Keyspace))
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // the gate hears of it a moment later
		wrong, ok := found(cluster.Shards[0].DSN())
		if wrong == "" && strings.Contains(ok, "the VSchema has all") {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("%q, %q", wrong, ok)
		}
	}
}
