package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/listing"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

func TestNoStatementOfAClientScansATableOrSorts(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, slices.Concat(clientStatements(r.client, f), listStatements(f), lastStatements(r.client, f)), f.Tables.Stmt, []string{"client"}, "client/cancel") // a CALL has no plan
	})
}

func clientStatements(c *Client, f *rig.Filled) []rig.Explained {
	job := f.Some(rig.BigSlot, 1)[0]
	key := literal.Of(literal.AppendKey, job.Key())
	one := map[string]string{"p_future_job": rig.BySlotAndKey}
	alias := map[string]string{"job": rig.BySlotAndKey}
	found := map[string]string{"job": rig.ByKey}
	where := rowtext.Identity(job)
	write := append(slices.Clone(where), "{due_at}", literal.Of(literal.AppendMicro, job.DueAt), "{next_check_at}",
		literal.Of(literal.AppendSecond, f.Slots[5]), "{payload}", "NULL", "{expires_at}", ", expires_at = NULL", "{trace}", ", trace = NULL", "{rule}", ", rule_version = NULL, occasion_at = NULL", "{new_revision}", "7")
	find := func(condition, lock string) string {
		return c.tables.Fill("client/find", "{columns}", rowtext.Columns, "{keys}", condition, "{lock}", lock)
	}
	entities := make([]prescient.Entity, cancelEntities)
	for i, job := range f.Some(rig.BigSlot, cancelEntities) {
		entities[i] = job.Entity()
	}
	first, last := job.Entity().KeyRange()
	entity := "job.job_key BETWEEN " + literal.Of(literal.AppendKey, first) + " AND " + literal.Of(literal.AppendKey, last)
	row := string(rowtext.Append(nil, &prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "new"}, JobExec: "x"}, prescient.Key{1}, rowtext.TimesOf(c.tables.Dialect, job.DueAt, f.Slots[3], time.Hour), rowtext.More{Text: true, Expires: true, Trace: true, Rule: true}))
	list := []rig.Explained{
		{Statement: "client/now", Query: c.tables.Stmt.Get("client/now"), Args: nil, Reached: map[string]string{"p_slot_config": rig.ByConfig}},
		{Statement: "client/pending", Query: c.tables.Fill("client/pending", "{columns}", rowtext.OneRow(c.tables.Dialect), "{key}", key), Args: nil,
			Reached: map[string]string{"job": rig.ByKey, "config": rig.ByConfig}},
		{Statement: "client/insert", Query: c.insertOf(prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "new"}}, prescient.Key{1}, job.DueAt, f.Slots[3]), Args: nil, Reached: nil},
		{Statement: "client/insert of 1000", Query: c.insertRows([]byte(strings.Repeat(row+",", 999)+row), rowtext.More{Text: true, Expires: true, Trace: true, Rule: true}), Args: nil, Reached: nil},
		{Statement: "client/insert directly", Query: c.directInsertOf(prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "new"}}, prescient.Key{1}, job.DueAt, f.Slots[3]), Args: nil, Reached: nil},
		{Statement: "client/lock", Query: c.tables.Fill("client/lock", where...), Args: nil, Reached: one},
		{Statement: "client/delete", Query: c.tables.Fill("client/delete", "{rows}", rowtext.AsRead(c.tables.Dialect, []prescient.FutureJob{job})), Args: nil, Reached: alias},
		{Statement: "client/delete of 500", Query: c.tables.Fill("client/delete", "{rows}", rowtext.AsRead(c.tables.Dialect, f.Some(rig.BigSlot, cancelRows))), Args: nil, Reached: alias},
		{Statement: "client/cancel_copy", Query: c.tables.Fill("client/cancel_copy", "{rows}", rowtext.AsRead(c.tables.Dialect, []prescient.FutureJob{job}), "{outcome}", "'cancelled'"), Args: nil, Reached: alias},
		{Statement: "client/cancel_copy of 500", Query: c.tables.Fill("client/cancel_copy", "{rows}", rowtext.AsRead(c.tables.Dialect, f.Some(rig.BigSlot, cancelRows)), "{outcome}", "'cancelled'"), Args: nil, Reached: alias},
		{Statement: "client/bookends_away", Query: c.tables.Fill("client/bookends_away", "{slot}", literal.Of(literal.AppendSecond, bookendSlot), "{keys}", literal.KeysOf([]prescient.Key{first, last})), Args: nil, Reached: alias},
		{Statement: "client/replace", Query: c.tables.Fill("client/replace", write...), Args: nil, Reached: one},
		{Statement: "client/renew", Query: c.tables.Fill("client/renew", append([]string{"{job_exec}", "'other'", "{job_key}", "job_key = X'00112233445566778899AABBCCDDEEFF', ", "{payload}", "NULL", "{expires_at}", "NULL"}, where...)...), Args: nil, Reached: one},
		{Statement: "client/renew_copy", Query: c.tables.Fill("client/renew_copy", append([]string{"{job_exec}", "'other'", "{new_key}", "X'00112233445566778899AABBCCDDEEFF'", "{payload}", "NULL", "{expires_at}", "NULL"}, where...)...), Args: nil, Reached: alias},
		{Statement: "client/reschedule", Query: c.tables.Fill("client/reschedule", write...), Args: nil, Reached: one},
		{Statement: "client/reschedule_many of 2", Query: rescheduleMany(c, f, 2), Args: nil, Reached: alias},
		{Statement: "client/reschedule_many of 100", Query: rescheduleMany(c, f, rescheduleRows), Args: nil, Reached: alias},
	}
	for lock, name := range map[string]string{"": "", "FOR UPDATE": ", locking"} {
		list = append(list,
			rig.Explained{Statement: "client/find by key" + name, Query: find("job.job_key = "+key, lock), Args: nil, Reached: found},
			rig.Explained{Statement: "client/find by entity" + name, Query: find(entity, lock), Args: nil, Reached: found},
			rig.Explained{Statement: "client/find by 200 entities" + name, Query: find(rowtext.InRanges(entities, "BETWEEN ", " AND "), lock), Args: nil, Reached: found},
			rig.Explained{Statement: "client/find between bookends" + name, Query: find(rowtext.Inside(c.tables.Dialect, []prescient.Entity{job.Entity()}), lock), Args: nil, Reached: found})
		sizes := []int{2, plainKeys, bulkRows, bulkRows + 1}
		if c.tables.Dialect == text.Plain {
			sizes = sizes[:2]
		}
		for _, n := range sizes {
			keys := literal.Keys(f.Some(rig.BigSlot, n), prescient.FutureJob.Key)
			list = append(list, rig.Explained{Statement: fmt.Sprintf("client/find %d keys%s", n, name), Query: find("job.job_key IN ("+keys+")", lock), Args: nil, Reached: found})
		}
	}
	return list
}

// rescheduleMany moves n rows, each to a time of its own.
func rescheduleMany(c *Client, f *rig.Filled, n int) string {
	rows := f.Some(rig.BigSlot, n)
	var due, slot values
	for i, job := range rows {
		due.add(job.Key(), literal.Of(literal.AppendMicro, job.DueAt.Add(time.Duration(i)*time.Second)))
		slot.add(job.Key(), literal.Of(literal.AppendSecond, f.Slots[5]))
	}
	return c.tables.Fill("client/reschedule_many", "{due_at}", due.text(), "{next_check_at}", slot.text(), "{new_revision}", "7",
		"{expires_at}", "", "{rows}", rowtext.AsRead(c.tables.Dialect, rows))
}

// lastStatements look for the last ends of entities.
func lastStatements(c *Client, f *rig.Filled) (all []rig.Explained) {
	for i, within := range listing.LastParts(rig.At("12:00")) {
		var arms []string
		for _, job := range f.Some(rig.BigSlot, 3) {
			arms = append(arms, c.lastEnd(job.Entity(), "x", within))
		}
		all = append(all, rig.Explained{Statement: fmt.Sprintf("list/last_ends %d", i), Query: c.lastEnds(arms), Reached: map[string]string{"p_job_history": "job_key 24", "job": "PRIMARY 32"}},
			rig.Explained{Statement: fmt.Sprintf("list/last_end %d", i), Query: arms[0], Reached: map[string]string{"p_job_history": "job_key 24"}})
	}
	return all
}

func listStatements(f *rig.Filled) []rig.Explained {
	ledger := func(filter LedgerFilter) string {
		bounds, err := filter.bounds()
		if err != nil {
			panic(err) // it is one of those below
		}
		return f.Tables.Fill("list/ledger", "{ends}", "done", "{bounds}", bounds, "{limit}", "100")
	}
	return []rig.Explained{
		{Statement: "list/ledger of a span", Query: ledger(LedgerFilter{From: f.Slots[1], Before: f.Slots[9]}), Reached: map[string]string{"p_slot_run": rig.BySlot}},
		{Statement: "list/ledger behind a cursor", Query: ledger(LedgerFilter{After: Bucket{Slot: f.Slots[9], Bucket: 1}.Cursor()}), Reached: map[string]string{"p_slot_run": rig.BySlot}},
		{Statement: "list/config", Query: f.Tables.Stmt.Get("list/config"), Args: nil, Reached: map[string]string{"p_slot_config": rig.ByConfig}},
		{Statement: "list/load", Query: store.Together(f.Tables.Stmt.Get("list/load"), 2), Args: []any{0, f.Slots[1], 100, 1, f.Slots[rig.BigSlot], 100}, Reached: map[string]string{"p_future_job": rig.BySlot}},
	}
}
