package audit_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

// filledEntries is how many entries the tests below have: four of each object, and one each second.
const filledEntries = 8000

func filled(t *testing.T, d servertest.Database) (*app.Rig, audit.Log) {
	t.Helper()
	r := app.New(t, d, 15*time.Minute)
	r.Needs(t, rig.OnePool) // rows are without a place, and what was read is counted
	log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	rows := make([]string, filledEntries)
	for i := range rows {
		rows[i] = fmt.Sprintf("('2026-11-20' + INTERVAL %[1]d SECOND, UNHEX('%016[1]X'), 'app@h', %[2]s, 'schedule', 's%[3]d', '%[4]s', %[5]d, '2026-11-20', '%[6]s')", i, audit.StreamOf(audit.Schedule, fmt.Sprint("s", i/4)), i/4, audit.Update, i%4+1,
			[]string{"ada", "bob"}[i/4%2])
	}
	for some := range slices.Chunk(rows, 1000) {
		r.Exec("INSERT INTO p_audit_log (at, entry, account, stream, kind, id, verb, version, incarnation, person) VALUES " + strings.Join(some, ","))
	}
	r.Exec("ANALYZE TABLE p_audit_log")
	return r, log
}

func TestNoStatementOfTheAuditScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r, log := filled(t, d)
		r.Needs(t, rig.ReadPlans)
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		rig.CheckPlans(t, conn, log.Statements(t), log.All(), []string{"audit"})
	})
}

// What no condition bounds, the limit does: a page of the latest entries reads no more than that, and a search no more than it may.
func TestAPageOfTheAuditReadsNoMoreThanItShows(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r, log := filled(t, d)
		db := sqlx.NewDb(r.Pool(time.Time{}).DB, "mysql")
		db.SetMaxOpenConns(1) // the counters are those of a connection
		for name, test := range map[string]struct {
			filter audit.Filter
			want   int // entries
			most   int // reads
		}{
			"the latest":  {audit.Filter{Limit: 50}, 50, 120},
			"behind one":  {audit.Filter{Limit: 50, After: audit.Stored{At: rig.At("01:30")}.Cursor()}, 50, 120},
			"an object":   {audit.Filter{ID: "s7"}, 4, 40},
			"a person":    {audit.Filter{Person: "bob", Limit: 50}, 50, 2200},
			"nobody":      {audit.Filter{Person: "eve", Search: 500}, 0, 1200},
			"some verbs":  {audit.Filter{Kind: audit.Schedule, ID: "s7", Verbs: []string{audit.Create, audit.Update}}, 4, 40},
			"no verb":     {audit.Filter{Kind: audit.Schedule, ID: "s7", Verbs: []string{audit.Pause}, Search: 2}, 0, 20},
			"by the time": {audit.Filter{Since: rig.At("01:00"), Until: rig.At("01:01"), Verb: audit.Update}, 60, 250},
		} {
			var found []audit.Stored
			var err error
			read := rig.ReadsOf(t, db, func() { found, err = log.List(t.Context(), db, test.filter) })
			var early *audit.SearchedError
			if len(found) != test.want || read > test.most || err != nil && !errors.As(err, &early) {
				t.Errorf("%s: %d entries by %d reads, %v; want %d by %d at most", name, len(found), read, err, test.want, test.most)
			}
		}
	})
}

func TestASearchOfTheAuditEndsWhenItsTimeIsOver(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r, log := filled(t, d)
		db := r.As("operator", time.Time{})
		until := rig.At("00:00").AddDate(0, 0, 1) // not what the migration wrote
		for name, test := range map[string]struct {
			filter audit.Filter
			pages  int
		}{
			"no time at all": {audit.Filter{Person: "eve", Until: until, Within: time.Nanosecond}, filledEntries / 1000},
			"time enough":    {audit.Filter{Person: "eve", Until: until, Within: time.Hour}, 0},
			"an object":      {audit.Filter{ID: "s7", Within: time.Nanosecond}, 0},
		} {
			f, pages := test.filter, 0
			for ; pages <= test.pages; pages++ {
				var early *audit.SearchedError
				if _, err := log.List(t.Context(), db, f); err == nil {
					break
				} else if !errors.As(err, &early) || early.Looked != 1000 {
					t.Fatalf("%s: %v", name, err)
				}
				f.After = early.After
			}
			if pages != test.pages {
				t.Errorf("%s: it ended early %d times; want %d", name, pages, test.pages)
			}
		}
	})
}
