package rig

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Filled is an installation with 20,000 pending rows in 50 slots, the second of which has a third of them and the third
// a handful, 5,000 ends, and a ledger of 4,000 rows.
type Filled struct {
	Tables store.Tables
	Slots  []time.Time
	Jobs   map[time.Time][]prescient.FutureJob // by slot
}

const (
	FilledRows  = 20000
	BigSlot     = 1
	SmallSlot   = 2
	filledSlots = 50
)

// Fill fills the tables.
func (r *Rig) Fill() *Filled {
	r.T.Helper()
	pool := r.Pool(time.Time{})
	t, err := store.OpenTables(r.T.Context(), pool, "p_", 0, r.Setting)
	r.Must(err)
	f := &Filled{Tables: t, Jobs: make(map[time.Time][]prescient.FutureJob)}
	for i := range filledSlots {
		f.Slots = append(f.Slots, At("06:00").Add(time.Duration(i)*15*time.Minute))
	}
	all := make([]prescient.FutureJob, FilledRows)
	keys := make(map[string]prescient.Key, FilledRows) // sorting asks for each many times
	for i := range all {
		slot := i % filledSlots
		if slot == SmallSlot && i > 8*filledSlots || i%3 == 0 {
			slot = BigSlot
		}
		all[i] = prescient.FutureJob{EntityName: "order", EntityKey: fmt.Sprint(i), JobExec: fmt.Sprint("exec", i%5), Revision: uint64(i + 1),
			DueAt: f.Slots[slot], FirstCheckAt: f.Slots[slot], NextCheckAt: f.Slots[slot], InsertedAt: At("05:00")}
		keys[all[i].EntityKey] = all[i].Key()
	}
	slices.SortFunc(all, func(a, b prescient.FutureJob) int {
		x, y := keys[a.EntityKey], keys[b.EntityKey]
		return cmp.Or(a.NextCheckAt.Compare(b.NextCheckAt), bytes.Compare(x[:], y[:]))
	})
	for part := range slices.Chunk(all, 1000) {
		var rows []string
		for _, job := range part {
			f.Jobs[job.NextCheckAt] = append(f.Jobs[job.NextCheckAt], job)
			slot := job.NextCheckAt.Format(literal.SecondLayout)
			rows = append(rows, fmt.Sprintf("('order', '%s', '%s', '', X'%s', '%s', '%s', '%s', %d)", job.EntityKey, job.JobExec, job.Key(), slot, slot, slot, job.Revision))
		}
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, tag, job_key, due_at, first_check_at, next_check_at, revision) VALUES " + strings.Join(rows, ","))
	}
	for i := range 5 {
		var rows []byte
		for n := range 1000 {
			job := all[i*1000+n]
			end := At("04:00").Add(time.Duration(n) * time.Second)
			if n > 0 {
				rows = append(rows, ',')
			}
			rows = store.AppendEnd(rows, store.End{Job: job, Key: job.Key(), Outcome: prescient.Done, Started: end, Ended: end, Worker: "w"})
		}
		r.Exec(f.Tables.Fill("slotrun/history_insert", "{rows}", string(rows)))
	}
	var ledger []string
	for i := range 2000 {
		slot := At("06:00").Add(-time.Duration(i) * 15 * time.Minute).Format(literal.SecondLayout)
		ledger = append(ledger, fmt.Sprintf("('%s',0,2),('%s',1,2)", slot, slot))
	}
	r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES " + strings.Join(ledger, ","))
	r.Exec("INSERT INTO p_exec_run (slot, bucket, job_exec, entity_name, run_buckets, lateness_buckets) SELECT slot, bucket, 'check', 'order', '{}', '{}' FROM p_slot_run")
	for _, table := range []string{"future_job", "job_history", "slot_run", "exec_run", "slot_config"} {
		rows, err := pool.QueryContext(r.T.Context(), "ANALYZE TABLE p_"+table)
		r.Must(err)
		r.Must(rows.Close())
	}
	return f
}

// Some returns n rows of a slot, or as many as it has.
func (f *Filled) Some(slot, n int) []prescient.FutureJob {
	all := f.Jobs[f.Slots[slot]]
	return all[:min(n, len(all))]
}

// Reads returns how many entries of tables and indexes a query read.
func Reads(t *testing.T, conn *sql.Conn, query string, args ...any) int {
	t.Helper()
	return ReadsOf(t, conn, func() {
		rows, err := conn.QueryContext(t.Context(), query, args...)
		Fatal(t, err)
		for rows.Next() {
		}
		Fatal(t, rows.Close())
	})
}

// ReadsOf returns how many entries of tables and indexes are read meanwhile on one connection, or a pool of one.
func ReadsOf(t *testing.T, db querier, do func()) int {
	t.Helper()
	sum := func() (n int) {
		for v := range maps.Values(tally(t, db, "SHOW SESSION STATUS LIKE 'Handler_read%'")) {
			n += v
		}
		return n
	}
	sum()
	before := sum()
	idle := sum() - before // what SHOW STATUS itself reads
	do()
	return sum() - before - 2*idle
}
