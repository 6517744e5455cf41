package prescient

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// searched reads a listing to its end, over pages that are full and searches that ended early.
func searched[T interface{ Cursor() string }](t *testing.T, f ListFilter, list func(ListFilter) ([]T, error)) (all []T, early int) {
	t.Helper()
	for {
		page, err := list(f)
		var ended *SearchedError
		switch {
		case errors.As(err, &ended):
			if !errors.Is(err, ErrSearched) || ended.Rows != f.Search || len(page) >= f.Limit || ended.Reached.IsZero() {
				t.Fatalf("%+v: %d rows, %+v", f, len(page), ended)
			}
			early++
			f.After = ended.After
		case err != nil:
			t.Fatalf("%+v: %v", f, err)
		case len(page) < f.Limit:
			return append(all, page...), early
		default:
			f.After = page[len(page)-1].Cursor()
		}
		all = append(all, page...)
	}
}

func TestASearchThatEndsEarlyGoesOnWhereItWas(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.shelf()
		db := r.pool(time.Time{})
		listPending := func(f ListFilter) ([]FutureJob, error) { return r.client.Pending(t.Context(), db, f) }
		listHistory := func(f ListFilter) ([]Ended, error) { return r.client.History(t.Context(), db, f) }
		wholePending, wholeHistory := r.pending(), r.history()
		for _, f := range []ListFilter{
			{JobExec: "ship"}, {JobExec: "none"}, {Entity: Entity{Name: "invoice"}}, {Slot: at("12:30")},
			{Slot: at("12:30"), JobExec: "ship", Entity: Entity{Name: "order"}}, {JobExec: "pay", From: at("11:00"), Before: at("12:45")},
			{Outcome: Done}, {Outcome: Crashed}, {Outcome: Cancelled, JobExec: "ship", From: at("10:00:00.000001")},
		} {
			matches := func(j FutureJob, at time.Time) bool {
				return (f.JobExec == "" || j.JobExec == f.JobExec) && (f.Entity.Name == "" || j.EntityName == f.Entity.Name) &&
					(f.Slot.IsZero() || j.NextCheckAt.Equal(f.Slot)) && (f.From.IsZero() || !at.Before(f.From)) && (f.Before.IsZero() || at.Before(f.Before))
			}
			var wantPending, wantHistory []string
			for _, job := range wholePending {
				if matches(job, job.NextCheckAt) {
					wantPending = append(wantPending, identityOf(job))
				}
			}
			for _, end := range wholeHistory {
				if matches(end.FutureJob, end.EndedAt) && (f.Outcome == "" || f.Outcome == end.Outcome) {
					wantHistory = append(wantHistory, identityOf(end.FutureJob))
				}
			}
			for _, f.Search = range []int{9, 140, 5000} {
				for _, f.Limit = range []int{5, 350} {
					ends, early := searched(t, f, listHistory)
					if got := identities(ends, func(e Ended) FutureJob { return e.FutureJob }); !slices.Equal(got, wantHistory) {
						t.Errorf("history, %+v: %q; want %q", f, got, wantHistory)
					}
					if want := f.Search < f.Limit && f.From.IsZero(); want && early == 0 {
						t.Errorf("history, %+v: the search never ended early", f)
					}
					if f.Outcome != "" {
						continue
					}
					jobs, _ := searched(t, f, listPending)
					if got := identities(jobs, func(j FutureJob) FutureJob { return j }); !slices.Equal(got, wantPending) {
						t.Errorf("pending, %+v: %q; want %q", f, got, wantPending)
					}
				}
			}
		}
		_, err := listPending(ListFilter{JobExec: "ship", Search: -1})
		wantErr(t, "a negative search", err, ErrInvalid)
	})
}

func identities[T any](list []T, job func(T) FutureJob) (names []string) {
	for _, row := range list {
		names = append(names, identityOf(job(row)))
	}
	return names
}

// However much there is: a page by an index reads its rows, and a search no more than it may, twice.
func TestAListingReadsLittle(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		f := fill(t, r)
		db := sqlx.NewDb(r.pool(time.Time{}).DB, "mysql")
		db.SetMaxOpenConns(1) // the counters are those of a connection
		early := at("04:00").Add(500 * time.Second)
		for _, tt := range []struct {
			filter ListFilter
			most   int // entries
			ended  error
		}{
			{ListFilter{}, 450, nil},
			{ListFilter{After: f.jobs[f.slots[bigSlot]][5000].Cursor()}, 450, nil},
			{ListFilter{Entity: Entity{"order", "7"}}, 10, nil},
			{ListFilter{Entity: Entity{"order", "7"}, JobExec: "exec2"}, 10, nil},
			{ListFilter{Slot: f.slots[10]}, 450, nil},
			{ListFilter{From: f.slots[10], Before: f.slots[11]}, 450, nil},
			{ListFilter{JobExec: "exec1"}, 2500, nil},
			{ListFilter{JobExec: "none", Search: 3000}, 6500, ErrSearched},
			{ListFilter{Entity: Entity{Name: "none"}, Search: 3000}, 6500, ErrSearched},
			{ListFilter{JobExec: "none", From: f.slots[10], Before: f.slots[11]}, 2500, nil},
		} {
			var err error
			read := readsOf(t, db, func() { _, err = r.client.Pending(t.Context(), db, tt.filter) })
			if !errors.Is(err, tt.ended) || read > tt.most {
				t.Errorf("pending, %+v: %d entries were read, %v; want %d at most, %v", tt.filter, read, err, tt.most, tt.ended)
			}
		}
		for _, tt := range []struct {
			filter ListFilter
			most   int
			ended  error
		}{
			{ListFilter{}, 450, nil},
			{ListFilter{Entity: Entity{"order", "7"}}, 30, nil},
			{ListFilter{Entity: Entity{"order", "7"}, Outcome: Done, JobExec: "exec2"}, 30, nil},
			{ListFilter{Before: early}, 450, nil},
			{ListFilter{Before: early, Outcome: Done}, 2500, nil},
			{ListFilter{Outcome: Crashed, Search: 2000}, 4500, ErrSearched},
			{ListFilter{Slot: f.slots[49], Search: 2000}, 4500, ErrSearched},
			{ListFilter{JobExec: "none", Search: 2000, Before: early}, 4500, ErrSearched},
			{ListFilter{JobExec: "none", From: early, Before: early.Add(10 * time.Second)}, 200, nil},
		} {
			var err error
			read := readsOf(t, db, func() { _, err = r.client.History(t.Context(), db, tt.filter) })
			if !errors.Is(err, tt.ended) || read > tt.most {
				t.Errorf("history, %+v: %d entries were read, %v; want %d at most, %v", tt.filter, read, err, tt.most, tt.ended)
			}
		}
	})
}

// readsOf returns how many entries of tables and indexes are read meanwhile on the one connection of a pool.
func readsOf(t *testing.T, db *sqlx.DB, do func()) int {
	t.Helper()
	sum := func() (n int) {
		var all []struct {
			Name  string `db:"Variable_name"`
			Value int    `db:"Value"`
		}
		if err := db.SelectContext(t.Context(), &all, "SHOW SESSION STATUS LIKE 'Handler_read%'"); err != nil {
			t.Fatal(err)
		}
		for _, v := range all {
			n += v.Value
		}
		return n
	}
	sum()
	before := sum()
	idle := sum() - before // what SHOW STATUS itself reads
	do()
	return sum() - before - 2*idle
}
