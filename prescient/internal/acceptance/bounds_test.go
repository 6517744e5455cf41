package acceptance

import (
	"fmt"
	"testing"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker"
	text "prescient/sql"
)

// checksOf are the CHECKs of future_job that the tables have of those that bound what an insert may give.
func (i installation) checksOf() (n int) {
	i.t.Helper()
	rig.Fatal(i.t, i.db.QueryRow(`SELECT COUNT(*) FROM information_schema.table_constraints WHERE table_schema = DATABASE()
		AND constraint_name IN ('p_future_job_payload_size', 'p_future_job_named')`).Scan(&n))
	return n
}

// A migration that finds rows beyond the bounds goes through without them: the rows run and end, then repair adds them.
func TestRowsOfBeforeTheBoundsComeToTheirEnd(t *testing.T) {
	for name, column := range map[string]string{"entity_key": "''", "payload": "JSON_QUOTE(REPEAT('x', 5000000))"} {
		t.Run(name, func(t *testing.T) {
			eachEmpty(t, func(i installation) {
				i.needs(rig.ColumnDefaults)
				before := i.schema
				before.UpTo = 13
				applied, err := text.Up(i.t.Context(), i.db, before)
				rig.Fatal(i.t, err)
				i.exec(plainInsert("'2001-01-01 13:05:00'", ""))
				i.exec("UPDATE p_future_job SET " + name + " = " + column)
				i.up(i.migrations() - len(applied))
				if n := i.checksOf(); n != 0 {
					i.t.Errorf("%d of the checks are there", n)
				}
				did, err := text.Repair(i.t.Context(), i.db, i.schema)
				if err != nil || len(did.Done) != 1 || len(did.Left) != 1 {
					i.t.Errorf("%+v, %v; want the check added that the row keeps to, and the other left", did, err)
				}
				db, err := connect.Open(i.d.DSN, 0)
				rig.Fatal(i.t, err)
				defer db.Close()
				var c rig.Calls
				execs := rig.Registry("x", c.Count, prescient.Guards{})
				w, err := worker.New(i.t.Context(), db, worker.Options{Prefix: "p_", Registry: execs})
				rig.Fatal(i.t, err)
				swept, err := w.Sweep(i.t.Context())
				if err != nil || len(swept) != 1 || swept[0].Rows() != 1 {
					i.t.Errorf("%+v, %v", swept, err)
				}
				if did, err := text.Repair(i.t.Context(), i.db, i.schema); err != nil || len(did.Done) != 1 || i.checksOf() != 2 {
					i.t.Errorf("%+v, %v; want both checks", did, err)
				}
				if did, err := text.Repair(i.t.Context(), i.db, i.schema); err != nil || len(did.Done)+len(did.Left) != 0 {
					i.t.Errorf("%+v, %v; want nothing to repair", did, err)
				}
			})
		})
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
