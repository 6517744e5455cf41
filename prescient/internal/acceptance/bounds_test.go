package acceptance

import (
	"fmt"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// checksOf are the CHECKs of future_job that the tables have of those that bound what an insert may give.
func (i installation) checksOf() (n int) {
	i.t.Helper()
	rig.Fatal(i.t, i.db.QueryRow(`SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = DATABASE()
		AND constraint_name IN ('p_future_job_payload_size', 'p_future_job_named')`).Scan(&n))
	return n
}

// A migration that finds rows beyond its bounds goes through without them: the rows run and end, then repair adds them.
func TestRowsOfBeforeTheBoundsComeToTheirEnd(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		i.up(released)
		i.exec(plainInsert("'2001-01-01 13:05:00'", ""))
		i.exec("UPDATE p_future_job SET tag = 'before'")
		i.schema.Set = laterSet(i.t, further)
		i.up(1)
		did, err := migrate.Repair(i.t.Context(), i.db, i.schema)
		if err != nil || len(did.Done) != 0 || len(did.Left) != 1 || did.Left[0].Name != "p_future_job_further" || !strings.Contains(did.Left[0].Lost, "there are rows that it refuses") {
			i.t.Errorf("%+v, %v; want the check left", did, err)
		}
		i.sweepsOne()
		if did, err := migrate.Repair(i.t.Context(), i.db, i.schema); err != nil || len(did.Done) != 1 || len(did.Left) != 0 {
			i.t.Errorf("%+v, %v; want the check", did, err)
		}
		i.nothingToRepair()
	})
}

// What was written while a CHECK was away keeps it from being put back, and runs and ends.
func TestRowsBeyondTheBoundsComeToTheirEnd(t *testing.T) {
	for name, column := range map[string]string{"entity_key": "''", "payload": "JSON_QUOTE(REPEAT('x', 5000000))"} {
		t.Run(name, func(t *testing.T) {
			eachEmpty(t, func(i installation) {
				i.needs(rig.ColumnDefaults)
				i.up(released)
				i.exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_payload_size, DROP CONSTRAINT p_future_job_named")
				i.exec(plainInsert("'2001-01-01 13:05:00'", ""))
				i.exec("UPDATE p_future_job SET " + name + " = " + column)
				did, err := migrate.Repair(i.t.Context(), i.db, i.schema)
				if err != nil || len(did.Done) != 1 || len(did.Left) != 1 {
					i.t.Errorf("%+v, %v; want the check added that the row keeps to, and the other left", did, err)
				}
				i.sweepsOne()
				if did, err := migrate.Repair(i.t.Context(), i.db, i.schema); err != nil || len(did.Done) != 1 || i.checksOf() != 2 {
					i.t.Errorf("%+v, %v; want both checks", did, err)
				}
				i.nothingToRepair()
			})
		})
	}
}

// sweepsOne runs the one check that there is.
func (i installation) sweepsOne() {
	i.t.Helper()
	db, err := connect.Open(i.d.DSN, 0)
	rig.Fatal(i.t, err)
	defer db.Close()
	var c rig.Calls
	w, err := worker.New(i.t.Context(), db, worker.Options{Prefix: "p_", Registry: rig.Registry("x", c.Count, prescient.Guards{})})
	rig.Fatal(i.t, err)
	swept, err := w.Sweep(i.t.Context())
	if err != nil || len(swept) != 1 || swept[0].Rows() != 1 {
		i.t.Errorf("%+v, %v", swept, err)
	}
}

func (i installation) nothingToRepair() {
	i.t.Helper()
	if did, err := migrate.Repair(i.t.Context(), i.db, i.schema); err != nil || len(did.Done)+len(did.Left) != 0 {
		i.t.Errorf("%+v, %v; want nothing to repair", did, err)
	}
}

// The longest payload that the client takes is within the bound of the tables.
func TestTheLongestPayloadIsTaken(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		payload := fmt.Appendf(nil, `"%0*d"`, prescient.MaxPayload-2, 7)
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "check", DueAt: rig.At("13:15"), Payload: payload})
		var c rig.Calls
		if f := r.RunAt(rig.At("13:15"), rig.Registry("check", c.Count, prescient.Guards{}), worker.Options{}); f.Done != 1 {
			t.Errorf("%+v", f)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE LENGTH(payload) = ?", len(payload)); n != 1 {
			t.Error("history lacks the payload")
		}
	})
}
