package longrun

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/longrun/internal/ahead"
	text "prescient/sql"
)

func TestNoStatementOfLongRunsScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		f := r.Fill()
		r.Exec("INSERT INTO p_long_run (job_key, pool, agent, token, allocated_until, slot, due_at, inserted_at, check_count) SELECT job_key, ELT(1 + revision % 3, '', 'heavy', 'eu'), 'w', 1, UTC_TIMESTAMP(6) + INTERVAL CAST(revision % 60 AS SIGNED) - 30 MINUTE, next_check_at, due_at, inserted_at, 0 FROM p_future_job LIMIT 6000")
		r.Exec("ANALYZE TABLE p_long_run")
		r.Exec("INSERT INTO p_queue_position (name, version, position, passed, updated_at) SELECT CONCAT('q', LPAD(ROW_NUMBER() OVER (ORDER BY job_key), 5, '0')), 1, '', '', UTC_TIMESTAMP(6) FROM p_future_job LIMIT 2000")
		r.Exec("ANALYZE TABLE p_queue_position")
		runner := &Runner{tables: f.Tables}
		var some []*Run
		var first pendingRow
		rows, err := r.Root.Query("SELECT job.job_key, job.next_check_at, job.revision FROM p_future_job job JOIN p_long_run run USING (job_key) WHERE run.allocated_until > UTC_TIMESTAMP(6) LIMIT ?", runsPerStatement)
		r.Must(err)
		defer rows.Close()
		for rows.Next() {
			var key []byte
			var is pendingRow
			r.Must(rows.Scan(&key, &is.slot, &is.revision))
			if len(some) == 0 {
				first = is
			}
			some = append(some, &Run{row: known{key: prescient.Key(key), token: 1}})
		}
		r.Must(rows.Err())
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, explained(runner, some, first), f.Tables.Stmt, []string{"longrun"})
	})
}

// Those that did not end are read in stretches until the time is over; a page that has not all says where it goes on.
func TestAPageOfLongRunsEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		db := r.As("operator", time.Time{})
		const all = 250
		rows := make([]string, all)
		for i := range rows {
			rows[i] = fmt.Sprintf("(UNHEX('%032X'), '', 'w', 1, UTC_TIMESTAMP(6) + INTERVAL 30 MINUTE, '2026-11-20', '2026-11-20', '2026-11-20', 0)", i+1)
		}
		r.Exec("INSERT INTO p_long_run (job_key, pool, agent, token, allocated_until, slot, due_at, inserted_at, check_count) VALUES " + strings.Join(rows, ","))
		for _, test := range []struct {
			limit  int
			within time.Duration
			pages  []int
		}{
			{1000, time.Nanosecond, []int{100, 100, 50}}, {1000, time.Hour, []int{250}}, {1000, 0, []int{250}}, {250, 0, []int{250}}, {50, time.Nanosecond, []int{50, 50, 50, 50, 50}},
			{240, time.Hour, []int{240, 10}}, {100, time.Nanosecond, []int{100, 100, 50}},
		} {
			var pages []int
			after := ""
			for {
				list, next, err := ListUnderWay(t.Context(), db, r.Tables(), after, test.limit, test.within)
				r.Must(err)
				if pages = append(pages, len(list)); next == "" || len(pages) > all {
					break
				}
				after = next
			}
			if !slices.Equal(pages, test.pages) {
				t.Errorf("%d within %s: pages of %d; want %d", test.limit, test.within, pages, test.pages)
			}
		}
	})
}

// pendingRow is a row of future_job.
type pendingRow struct {
	slot     string
	revision uint64
}

// explained are the statements for some runs, whose first has a check.
func explained(r *Runner, some []*Run, is pendingRow) (list []rig.Explained) {
	keys := make([]prescient.Key, len(some))
	for i, run := range some {
		keys[i] = run.row.key
	}
	const byKey = "PRIMARY 16"
	ours, now := map[string]string{"p_long_run": byKey}, rig.At("12:01")
	future := map[string]string{"p_future_job": rig.BySlotAndKey}
	add := func(statement, query string, reached map[string]string, args ...any) {
		list = append(list, rig.Explained{Statement: statement, Query: query, Args: args, Reached: reached})
	}
	get, fill := r.tables.Stmt.Get, r.tables.Fill
	for _, n := range []int{1, 2, len(some)} {
		var ranges []byte
		for i, key := range keys[:n] {
			if i > 0 {
				ranges = append(ranges, " OR "...)
			}
			first, last := rig.Order(fmt.Sprint(i)).KeyRange()
			ranges = literal.AppendKey(append(ranges, "job_key BETWEEN "...), first)
			ranges = literal.AppendKey(append(ranges, " AND "...), last)
			ranges = literal.AppendKey(append(ranges, " OR job_key = "...), key)
		}
		add(fmt.Sprintf("longrun/met %d", n), fill("longrun/met", "{keys}", string(ranges)), map[string]string{"run": byKey, "job": rig.ByKey})
		add(fmt.Sprintf("longrun/there %d", n), fill("longrun/there", "{keys}", string(ranges)), map[string]string{"run": byKey})
		add(fmt.Sprintf("longrun/free %d", n), fill("longrun/free", "{runs}", tokens("", some[:n])), ours)
		add(fmt.Sprintf("longrun/renew %d", n), fill("longrun/renew", "{runs}", tokens("", some[:n])), ours, int64(60e6))
		add(fmt.Sprintf("longrun/held %d", n), fill("longrun/held", "{runs}", tokens("run.", some[:n])), map[string]string{"run": byKey, "job": rig.ByKey})
		add(fmt.Sprintf("longrun/ahead %d", n), fill("longrun/ahead", "{checks}", ahead.List(keys[:n]), "{slot}", "'"+is.slot+"'", "{to}", "'2099-01-01'"), map[string]string{"job": rig.BySlotAndKey})
		add(fmt.Sprintf("longrun/put_off %d", n), fill("longrun/put_off", "{runs}", tokens("", some[:n])), ours, int64(1e6))
		add(fmt.Sprintf("longrun/end_free %d", n), fill("longrun/end_free", "{runs}", tokens("", some[:n])), ours, "cancelled")
		add(fmt.Sprintf("longrun/checks %d", n), fill("longrun/checks", "{keys}", literal.KeysOf(keys[:n])), map[string]string{"run": byKey, "job": rig.ByKey, "p_job_pause": "PRIMARY 66"}, "*", prescient.MaxRead)
		add(fmt.Sprintf("longrun/forget %d", n), fill("longrun/forget", "{keys}", literal.KeysOf(keys[:n])), ours)
	}
	key := keys[0]
	add("longrun/save", get("longrun/save"), ours, []byte("x"), key[:], 1)
	position := map[string]string{"p_queue_position": "PRIMARY 66"}
	add("longrun/position", get("longrun/position"), position, "q00001")
	add("longrun/position_first", get("longrun/position_first"), nil, "queue", []byte("x"), []byte("y"))
	add("longrun/position_next", get("longrun/position_next"), position, []byte("x"), nil, "q00001", 1)
	add("longrun/fence", get("longrun/fence"), ours, now, "w", nil, nil, true, now, 0, key[:], 1, "w")
	add("longrun/find", get("longrun/find"), map[string]string{"config": rig.ByConfig, "job": rig.ByKey}, key[:])
	add("longrun/lock", get("longrun/lock"), future, is.slot, key[:], is.revision)
	add("longrun/move", get("longrun/move"), future, now, now, 0, 0, 0, 0, nil, nil, is.slot, key[:], is.revision)
	add("longrun/history", get("longrun/history"), future, 0, 0, 0, now, "done", nil, now, now, 0, 0, "w", is.slot, key[:], is.revision)
	add("longrun/delete", get("longrun/delete"), map[string]string{"job": rig.BySlotAndKey}, is.slot, key[:], is.revision)
	const until = "run.allocated_until"
	for reach, which := range map[string]string{"over": text.Over(until), "lives": text.Lives(until), "far": text.Far(until)} {
		part := fill("longrun/look_pool", "{pool}", "'heavy'", "{which}", which, "{execs}", "'one','two'", "{limit}", "500")
		add("longrun/look_pool "+reach, part, map[string]string{"run": "pool 75", "job": rig.ByKey})
		add("longrun/look "+reach, fill("longrun/look", "{pools}", "UNION ALL ("+part+")"), map[string]string{"run": "pool 75", "job": rig.ByKey})
	}
	first, last := rig.Order("1").KeyRange()
	add("longrun/offer_next", get("longrun/offer_next"), ours, now, first[:], last[:])
	add("longrun/next", get("longrun/next"), ours, first[:], last[:])
	add("longrun/list", fill("longrun/list", "{limit}", "1000"), map[string]string{"run": byKey, "job": rig.ByKey}, first[:], last[:])
	add("longrun/under_way", get("longrun/under_way"), map[string]string{"run": "ended_at 25", "job": rig.ByKey}, []byte{}, 1000)
	add("longrun/books", fill("longrun/books", "{outcome}", "done"), map[string]string{"p_slot_run": rig.ByBucket}, is.slot)
	add("longrun/tally", fill("longrun/tally", "{values}", rig.Tallied, "{run}", `'$."34"'`, "{lateness}", `'$."0"'`), map[string]string{"p_slot_run": rig.ByBucket}, rig.At("06:00"))
	add("longrun/start", fill("longrun/start", "{rows}", "(X'00112233445566778899AABBCCDDEEFF',NULL,NULL,'','w',1,NULL,'2026-11-20','2026-11-20','2026-11-20',0,NULL,NULL,0,NULL,NULL,NULL)"), nil)
	return list
}
