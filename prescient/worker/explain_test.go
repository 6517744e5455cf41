package worker

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/look"
	text "prescient/sql"
)

func TestNoStatementOfAWorkerScansATableOrSorts(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		r.Also("worker", "SELECT", "p_job_history")
		f := r.Fill()
		conn, err := r.As("worker", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, append(slotRunStatements(f), sweepStatements(f)...), f.Tables.Stmt, []string{"slotrun", "sweep", "known"})
		t.Run("overdue slots", func(t *testing.T) { overdueReadsLittle(t, conn, f) })
	})
}

func slotRunStatements(f *rig.Filled) []rig.Explained {
	slot := rig.At("06:00")
	first, last := store.BucketRange(1, 4)
	rows := func(keys string) map[string]string { return map[string]string{"p_future_job": keys} }
	bucket := map[string]string{"p_slot_run": rig.ByBucket}
	fence := append((&books.Counts{}).Args(), slot, 0, "w", 1, 1)
	history := string(store.AppendEnd(nil, store.End{Job: f.Some(0, 1)[0], Outcome: prescient.Done, Worker: "w"}))
	get := f.Tables.Stmt.Get
	list := []rig.Explained{
		{Statement: "slotrun/state", Query: get("slotrun/state"), Args: []any{slot}, Reached: map[string]string{"p_future_job": rig.BySlot, "p_slot_config": rig.ByConfig, "p_job_pause": "PRIMARY 66"}},
		{Statement: "slotrun/ledger", Query: get("slotrun/ledger"), Args: []any{slot}, Reached: map[string]string{"p_slot_run": rig.BySlot}},
		{Statement: "slotrun/purge", Query: get("slotrun/purge"), Args: []any{7, slot}, Reached: map[string]string{"run": rig.BySlot}},
		{Statement: "slotrun/open", Query: f.Tables.Fill("slotrun/open", "{buckets}", ledger.BucketList([]int{0, 1, 2})), Args: []any{slot, 3, "work", slot}, Reached: nil},
		{Statement: "slotrun/open_rest", Query: f.Tables.Fill("slotrun/open_rest", "{buckets}", ledger.BucketList([]int{1, 2})), Args: []any{slot, 3, "work", slot}, Reached: nil},
		{Statement: "slotrun/open_empty", Query: get("slotrun/open_empty"), Args: []any{slot, "w", "work", slot}, Reached: nil},
		{Statement: "slotrun/claim", Query: get("slotrun/claim"), Args: []any{7, "w", 1, true, "sweep", slot, 0, 0, 0, 1},
			Reached: map[string]string{"p_slot_run": rig.ByBucket, "p_slot_config": rig.ByConfig}},
		{Statement: "slotrun/divide", Query: get("slotrun/divide"), Args: []any{4, slot, 0, 1, 1, 4}, Reached: bucket},
		{Statement: "slotrun/count_few", Query: get("slotrun/count_few"), Args: []any{f.Slots[rig.BigSlot], 8000}, Reached: rows(rig.BySlot)},
		{Statement: "slotrun/count_sample", Query: f.Tables.Fill("slotrun/count_sample", "{first}", literal.Of(literal.AppendKey, first), "{last}", literal.Of(literal.AppendKey, last)), Args: []any{f.Slots[rig.BigSlot]}, Reached: rows(rig.BySlotAndKey)},
		{Statement: "slotrun/attempt", Query: get("slotrun/attempt"), Args: []any{first[:], 1, slot, 0, "w", 1, 1}, Reached: bucket},
		{Statement: "slotrun/fence", Query: get("slotrun/fence"), Args: append([]any{1}, fence...), Reached: bucket},
		{Statement: "slotrun/correct", Query: get("slotrun/correct"), Args: append((&books.Counts{}).Args(), slot, 0), Reached: bucket},
		{Statement: "slotrun/committed", Query: get("slotrun/committed"), Args: []any{slot, 0}, Reached: bucket},
		{Statement: "slotrun/release", Query: get("slotrun/release"), Args: []any{true, slot, 0, "w", 1}, Reached: bucket},
		{Statement: "slotrun/give_back", Query: get("slotrun/give_back"), Args: []any{1, 1, first[:], 1, first[:], slot, 0, 1, 0}, Reached: bucket},
		{Statement: "slotrun/renewed", Query: get("slotrun/renewed"), Args: []any{first[:], last[:], slot, "1"}, Reached: rows(rig.ByKey)},
		{Statement: "slotrun/renew", Query: get("slotrun/renew"), Args: []any{1, slot, 0, "w", 1}, Reached: bucket},
		{Statement: "slotrun/history_done", Query: f.Tables.Fill("slotrun/history_done", "{first}", literal.Of(literal.AppendKey, first), "{last}", literal.Of(literal.AppendKey, last)),
			Args: []any{1, "done", slot, slot, 1, 1, "w", f.Slots[rig.BigSlot]}, Reached: rows(rig.BySlotAndKey)},
		{Statement: "known/fresh", Query: f.Tables.Fill("known/fresh", "{job_execs}", "'a','b'"), Args: []any{1}, Reached: map[string]string{"p_exec_known": "PRIMARY 66"}},
		{Statement: "known/tell", Query: f.Tables.Fill("known/tell", "{rows}", "('a',X'0011223344556677','func','{}','w','2026-11-20','2026-11-20')")},
		{Statement: "slotrun/tally", Query: f.Tables.Fill("slotrun/tally", "{rows}", "('2026-11-20 06:00',0,"+rig.Tallied+")")},
		{Statement: "slotrun/tallied", Query: get("slotrun/tallied"), Args: []any{slot, 0}, Reached: map[string]string{"p_exec_run": rig.ByBucket}},
		{Statement: "slotrun/history_insert", Query: f.Tables.Fill("slotrun/history_insert", "{rows}", history), Args: nil, Reached: nil},
	}
	for name, s := range map[string]int{"big": rig.BigSlot, "small": rig.SmallSlot} {
		job := f.Some(s, 1)[0]
		list = append(list, rig.Explained{Statement: "slotrun/history_copy of " + name,
			Query: f.Tables.CopyEnd(store.End{Job: job, Key: job.Key(), Outcome: prescient.Cancelled}), Args: nil, Reached: rows(rig.BySlotAndKey)})
	}
	read := func(filter string) string {
		return f.Tables.Fill("slotrun/read", "{first}", literal.Of(literal.AppendKey, first), "{last}", literal.Of(literal.AppendKey, last), "{filter}", filter)
	}
	for name, s := range map[string]int{"big": rig.BigSlot, "small": rig.SmallSlot, "of 266": 10} {
		list = append(list,
			rig.Explained{Statement: "slotrun/read " + name, Query: read(""),
				Args: []any{prescient.MaxRead, f.Slots[s], 1000}, Reached: rows(rig.BySlotAndKey)},
			rig.Explained{Statement: "slotrun/read one job_exec " + name, Query: read("AND job_exec = ?"),
				Args: []any{prescient.MaxRead, f.Slots[s], "exec1", 1000}, Reached: rows(rig.BySlotAndKey)},
			rig.Explained{Statement: "slotrun/read the other job_execs " + name, Query: read("AND job_exec NOT IN (?, ?)"),
				Args: []any{prescient.MaxRead, f.Slots[s], "exec1", "exec2", 1000}, Reached: rows(rig.BySlotAndKey)})
		for _, n := range []int{1, 3, 100, 500, 999, 1000, 1001, 5000} {
			some := f.Some(s, n)
			if len(some) < n {
				continue
			}
			keys := literal.Keys(some, prescient.FutureJob.Key)
			list = append(list, rangeStatements(f, some, f.Slots[s], name)...)
			if n <= 500 {
				list = append(list, rig.Explained{Statement: fmt.Sprintf("slotrun/by_rule %d of %s", n, name),
					Query: f.Tables.Fill("slotrun/by_rule", "{version}", "2", "{keys}", keys), Args: []any{f.Slots[s]}, Reached: rows(rig.BySlotAndKey)})
			}
			for statement, table := range map[string]string{"slotrun/lock_free": "p_future_job",
				"slotrun/present": "p_future_job", "slotrun/end": "job"} {
				list = append(list, rig.Explained{Statement: fmt.Sprintf("%s %d of %s", statement, n, name),
					Query: f.Tables.Fill(statement, "{keys}", keys), Args: []any{f.Slots[s]}, Reached: map[string]string{table: rig.BySlotAndKey}})
			}
			list = append(list, rig.Explained{Statement: fmt.Sprintf("slotrun/lock_free_unique %d of %s", n, name),
				Query: f.Tables.Fill("slotrun/lock_free_unique", "{keys}", keys), Args: []any{f.Slots[s]}, Reached: map[string]string{"p_future_job": rig.ByKey}})
			moves := make([]*check.Answered, len(some))
			for i, job := range some {
				moves[i] = &check.Answered{Row: check.Row{FutureJob: job, JobKey: job.Key()}, Verdict: prescient.Verdict{Slot: f.Slots[40], DueAt: job.DueAt}}
			}
			m := moves[0]
			list = append(list, rig.Explained{Statement: fmt.Sprintf("slotrun/reschedule_one in %s of %d", name, n), Query: get("slotrun/reschedule_one"),
				Args:    []any{m.Verdict.Slot, m.Verdict.DueAt, 0, 0, 0, 0, nil, nil, f.Slots[s], m.JobKey[:], m.Revision},
				Reached: rows(rig.BySlotAndKey)})
			if f.Tables.Dialect == text.Plain {
				continue
			}
			moved, _ := commit.MovesJSON(moves)
			list = append(list, rig.Explained{Statement: fmt.Sprintf("slotrun/history_each %d of %s", n, name), Query: get("slotrun/history_each"),
				Args: []any{"w", endsOf(some), f.Slots[s]}, Reached: map[string]string{"job": rig.BySlotAndKey}})
			for statement, ofRows := range map[string]string{"slotrun/reschedule": moved, "slotrun/end_each": commit.KeysJSON(moves)} {
				list = append(list, rig.Explained{Statement: fmt.Sprintf("%s %d of %s", statement, n, name), Query: get(statement),
					Args: []any{ofRows, f.Slots[s]}, Reached: map[string]string{"job": rig.BySlotAndKey}})
			}
		}
	}
	return list
}

// endsOf are the ends of rows for slotrun/history_each.
func endsOf(jobs []prescient.FutureJob) string {
	list := make([]string, len(jobs))
	for i, job := range jobs {
		list[i] = string(store.AppendEndOf(nil, store.End{Job: job, Key: job.Key(), Outcome: prescient.Done}))
	}
	return "[" + strings.Join(list, ",") + "]"
}

func sweepStatements(f *rig.Filled) []rig.Explained {
	first, last := store.BucketRange(1, 4)
	rows := func(keys string) map[string]string { return map[string]string{"p_future_job": keys} }
	get := f.Tables.Stmt.Get
	list := []rig.Explained{
		{Statement: "sweep/overdue", Query: get("sweep/overdue"), Args: []any{prescient.EarliestDue, f.Slots[20], look.Page}, Reached: rows(rig.BySlot)},
		{Statement: "sweep/overdue, a page on", Query: get("sweep/overdue"), Args: []any{f.Slots[10].Add(time.Second), f.Slots[20], look.Page}, Reached: rows(rig.BySlot)},
		{Statement: "sweep/overdue, everything", Query: get("sweep/overdue"), Args: []any{prescient.EarliestDue, f.Slots[49], look.Page}, Reached: rows(rig.BySlot)},
		{Statement: "sweep/batch_end", Query: get("sweep/batch_end"), Args: []any{f.Slots[rig.BigSlot], first[:], last[:], 999}, Reached: rows(rig.BySlotAndKey)},
		{Statement: "sweep/others", Query: f.Tables.Fill("sweep/others", "{job_execs}", "?, ?"), Args: []any{f.Slots[rig.BigSlot], "exec1", "exec2"}, Reached: rows(rig.BySlot)},
		{Statement: "sweep/given_back", Query: f.Tables.Fill("sweep/given_back", "{slots}", "?, ?"), Args: []any{f.Slots[rig.BigSlot], f.Slots[rig.BigSlot+1]}, Reached: map[string]string{"p_slot_run": "PRIMARY 5"}},
		{Statement: "sweep/keys", Query: get("sweep/keys"), Args: []any{f.Slots[rig.BigSlot], first[:], last[:], 1000}, Reached: rows(rig.BySlotAndKey)},
	}
	for _, n := range []int{1, 3, 100, 999, 1000, 1001, 5000} {
		list = append(list, rig.Explained{Statement: fmt.Sprintf("sweep/roll_forward %d keys", n),
			Query: f.Tables.Fill("sweep/roll_forward", "{keys}", literal.Keys(f.Some(rig.BigSlot, n), prescient.FutureJob.Key)), Args: []any{f.Slots[40], f.Slots[rig.BigSlot]}, Reached: rows(rig.BySlotAndKey)})
	}
	return list
}
