package attest

import (
	"math"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
)

func TestNoStatementOfAnAttestScansATable(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		r.Exec("INSERT INTO p_job_pause (job_exec) VALUES ('*')")
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		from, before := rig.At("01:00"), rig.At("04:10")
		rig.CheckPlans(t, conn, []rig.Explained{
			{Statement: "attest/state", Query: f.Tables.Stmt.Get("attest/state"), Reached: map[string]string{"p_slot_config": rig.ByConfig, "p_job_pause": "PRIMARY 66"}},
			{Statement: "attest/ledger", Query: f.Tables.Stmt.Get("attest/ledger"), Args: []any{from, before, ledgerPage}, Reached: map[string]string{"run": rig.BySlot}},
			{Statement: "attest/ends", Query: f.Tables.Stmt.Get("attest/ends"),
				Args:    []any{rig.At("04:05"), before, rig.At("04:05"), make([]byte, 16), make([]byte, 16), math.MaxInt64, endsPage},
				Reached: map[string]string{"p_job_history": "PRIMARY 8"}},
		}, f.Tables.Stmt, []string{"attest"})
	})
}

// However much there is, a look at a window reads it alone.
func TestAnAttestReadsNoMoreThanItsSpan(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		// 13 slots of 2 buckets.
		if read := rig.Reads(t, conn, f.Tables.Stmt.Get("attest/ledger"), rig.At("01:00"), rig.At("04:10"), ledgerPage); read > 60 {
			t.Errorf("a page of the ledger reads %d entries", read)
		}
		none := make([]byte, 16)
		if read := rig.Reads(t, conn, f.Tables.Stmt.Get("attest/ends"), rig.At("04:05"), rig.At("05:00"), rig.At("04:05"), none, none, math.MaxInt64, 50); read > 70 {
			t.Errorf("a page of 50 ends reads %d entries", read)
		}
	})
}
