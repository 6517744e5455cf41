package client

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
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
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		db := r.Pool(time.Time{})
		listPending := func(f ListFilter) ([]prescient.FutureJob, error) { return r.client.Pending(t.Context(), db, f) }
		listHistory := func(f ListFilter) ([]Ended, error) { return r.client.History(t.Context(), db, f) }
		wholePending, wholeHistory := r.pending(), r.history()
		for _, f := range []ListFilter{
			{JobExec: "ship"}, {JobExec: "none"}, {Entity: prescient.Entity{Name: "invoice"}}, {Slot: rig.At("12:30")},
			{Slot: rig.At("12:30"), JobExec: "ship", Entity: prescient.Entity{Name: "order"}}, {JobExec: "pay", From: rig.At("11:00"), Before: rig.At("12:45")},
			{Entity: rig.Order("1"), JobExec: "ship"}, {Entity: rig.Order("2"), Slot: rig.At("12:30")}, {Entity: rig.Order("3"), Outcome: prescient.Done},
			{Outcome: prescient.Done}, {Outcome: prescient.Crashed}, {Outcome: prescient.Cancelled, JobExec: "ship", From: rig.At("10:00:00.000001")},
		} {
			matches := func(j prescient.FutureJob, at time.Time) bool {
				return (f.JobExec == "" || j.JobExec == f.JobExec) && (f.Entity.Name == "" || j.EntityName == f.Entity.Name) && (f.Entity.Key == "" || j.EntityKey == f.Entity.Key) &&
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
					if got := identities(ends, func(e Ended) prescient.FutureJob { return e.FutureJob }); !slices.Equal(got, wantHistory) {
						t.Errorf("history, %+v: %q; want %q", f, got, wantHistory)
					}
					if want := f.Search < f.Limit && f.From.IsZero() && f.Entity.Key == ""; want && early == 0 {
						t.Errorf("history, %+v: the search never ended early", f)
					}
					if f.Outcome != "" {
						continue
					}
					jobs, _ := searched(t, f, listPending)
					if got := identities(jobs, func(j prescient.FutureJob) prescient.FutureJob { return j }); !slices.Equal(got, wantPending) {
						t.Errorf("pending, %+v: %q; want %q", f, got, wantPending)
					}
				}
			}
		}
		_, err := listPending(ListFilter{JobExec: "ship", Search: -1})
		rig.WantErr(t, "a negative search", err, prescient.ErrInvalid)
	})
}

// Whoever may write history may give ends of others the key of an entity: they are not the entity's, and hide none of those that are.
func TestEndsOfOthersUnderTheKeyOfAnEntity(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		db, whose := r.Pool(time.Time{}), rig.Order("1")
		list := func(f ListFilter) ([]Ended, error) { return r.client.History(t.Context(), db, f) }
		want, _ := searched(t, ListFilter{Entity: whose, Limit: 3}, list)
		key := prescient.KeyOf(whose, "ship", "3")
		for i, at := range []string{"09:00", "10:00", "10:00:00.000001", "13:00"} {
			_, err := r.Root.Exec(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count,
				error_count, put_off_count, total_ms, revision, inserted_at, slot, outcome, ended_at, run_ms, worker)
				SELECT 'evil', entity_key, job_exec, tag, due_at, ?, first_check_at, next_check_at, 0, 0, 0, 0, revision + 100 * ?, inserted_at,
				slot, outcome, ?, 0, '' FROM p_job_history WHERE entity_name = 'invoice'`, key[:], i+1, rig.At(at).Format(literal.MicroLayout))
			r.Must(err)
		}
		for _, limit := range []int{1, 3, 100} {
			got, _ := searched(t, ListFilter{Entity: whose, Limit: limit, Search: 5000}, list)
			of := func(e Ended) prescient.FutureJob { return e.FutureJob }
			if len(want) == 0 || !slices.Equal(identities(got, of), identities(want, of)) {
				t.Errorf("%d at a time: %d ends; want %d", limit, len(got), len(want))
			}
		}
	})
}

func identities[T any](list []T, job func(T) prescient.FutureJob) (names []string) {
	for _, row := range list {
		names = append(names, identityOf(job(row)))
	}
	return names
}

// However much there is: a page by an index reads its rows, and a search no more than it may, twice.
func TestAListingReadsLittle(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool) // whose counters are looked at
		f := r.Fill()
		db := sqlx.NewDb(r.Pool(time.Time{}).DB, "mysql")
		db.SetMaxOpenConns(1) // the counters are those of a connection
		early := rig.At("04:00").Add(500 * time.Second)
		// Where many rows match, the order of the primary key looks cheap, which has them at its end.
		many := make([]prescient.NewJob, 2000)
		for i := range many {
			many[i] = prescient.NewJob{Entity: rig.Order("many"), JobExec: "exec1", Tag: fmt.Sprint(i), DueAt: f.Slots[len(f.Slots)-1].Add(24 * time.Hour)}
		}
		_, err := r.client.InsertMany(t.Context(), r.AppAt(f.Slots[0]), many)
		r.Must(err)
		r.Exec("ANALYZE TABLE p_future_job")
		for _, tt := range []struct {
			filter ListFilter
			most   int // entries
			ended  error
		}{
			{ListFilter{}, 450, nil},
			{ListFilter{After: f.Jobs[f.Slots[rig.BigSlot]][5000].Cursor()}, 450, nil},
			{ListFilter{Entity: prescient.Entity{Name: "order", Key: "7"}}, 10, nil},
			{ListFilter{Entity: prescient.Entity{Name: "order", Key: "7"}, JobExec: "exec2"}, 10, nil},
			{ListFilter{Entity: rig.Order("many"), Limit: 2}, 4200, nil},
			{ListFilter{Slot: f.Slots[10]}, 450, nil},
			{ListFilter{From: f.Slots[10], Before: f.Slots[11]}, 450, nil},
			{ListFilter{JobExec: "exec1"}, 2500, nil},
			{ListFilter{JobExec: "none", Search: 3000}, 6500, ErrSearched},
			{ListFilter{JobExec: "none", Within: 1}, 2500, ErrSearched},
			{ListFilter{Entity: rig.Order("many"), JobExec: "none", Search: 1000}, 8500, ErrSearched},
			{ListFilter{Entity: prescient.Entity{Name: "none"}, Search: 3000}, 6500, ErrSearched},
			{ListFilter{JobExec: "none", From: f.Slots[10], Before: f.Slots[11]}, 2500, nil},
		} {
			var err error
			read := rig.ReadsOf(t, db, func() { _, err = r.client.Pending(t.Context(), db, tt.filter) })
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
			{ListFilter{Entity: prescient.Entity{Name: "order", Key: "7"}}, 30, nil},
			{ListFilter{Entity: prescient.Entity{Name: "order", Key: "7"}, Outcome: prescient.Done, JobExec: "exec2"}, 30, nil},
			{ListFilter{Before: early}, 450, nil},
			{ListFilter{Before: early, Outcome: prescient.Done}, 2500, nil},
			{ListFilter{Outcome: prescient.Crashed, Search: 2000}, 4500, ErrSearched},
			{ListFilter{Slot: f.Slots[49], Search: 2000}, 4500, ErrSearched},
			{ListFilter{JobExec: "none", Search: 2000, Before: early}, 4500, ErrSearched},
			{ListFilter{JobExec: "none", From: early, Before: early.Add(10 * time.Second)}, 200, nil},
		} {
			var err error
			read := rig.ReadsOf(t, db, func() { _, err = r.client.History(t.Context(), db, tt.filter) })
			if !errors.Is(err, tt.ended) || read > tt.most {
				t.Errorf("history, %+v: %d entries were read, %v; want %d at most, %v", tt.filter, read, err, tt.most, tt.ended)
			}
		}
	})
}
