package client

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

// shelf fills both tables: jobs of five orders and five invoices in seven slots, and as many ends at four moments, some
// of them of the same job at the same moment.
func (r *testRig) shelf() {
	r.T.Helper()
	var jobs []prescient.NewJob
	for i := range 140 {
		jobs = append(jobs, prescient.NewJob{
			Entity: prescient.Entity{Name: []string{"order", "invoice"}[i%2], Key: fmt.Sprint(i / 2 % 5)}, JobExec: []string{"ship", "pay"}[i/10%2],
			Tag: fmt.Sprint(i / 20), DueAt: rig.At("12:00").Add(time.Duration(i%7) * 15 * time.Minute),
		})
	}
	_, err := r.client.InsertMany(r.T.Context(), r.AppAt(rig.At("10:00")), jobs)
	r.Must(err)
	for i, ended := range []string{"10:00", "10:00", "10:00:00.000001", "11:30", "11:59:59.999999"} {
		r.Exec(`INSERT INTO p_job_history (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count,
			error_count, put_off_count, total_ms, revision, inserted_at, slot, outcome, started_at, ended_at, run_ms, lateness_ms, worker)
			SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, 0, 0, 0, 0, revision + ?, inserted_at,
			next_check_at, IF(tag = '3', 'done', 'cancelled'), IF(tag = '3', next_check_at, NULL), ?, 0, IF(tag = '3', 0, NULL), ''
			FROM p_future_job WHERE job_exec = 'ship'`, i, rig.At(ended).Format(literal.MicroLayout))
	}
}

// pages reads a listing to its end, page by page.
func pages[T interface{ Cursor() string }](t *testing.T, f ListFilter, list func(ListFilter) ([]T, error)) (all []T) {
	t.Helper()
	for {
		page, err := list(f)
		if err != nil {
			t.Fatalf("%+v: %v", f, err)
		}
		if len(page) > f.Limit {
			t.Fatalf("%+v: a page of %d", f, len(page))
		}
		all = append(all, page...)
		if len(page) < f.Limit {
			return all
		}
		f.After = page[len(page)-1].Cursor()
	}
}

func identityOf(j prescient.FutureJob) string {
	return fmt.Sprintf("%s %s %s %d", j.Entity(), j.JobExec, j.Tag, j.Revision)
}

func TestPagesVisitEveryRowOnceInOrder(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		db := r.Pool(time.Time{})
		listPending := func(f ListFilter) ([]prescient.FutureJob, error) { return r.client.Pending(t.Context(), db, f) }
		listHistory := func(f ListFilter) ([]Ended, error) { return r.client.History(t.Context(), db, f) }
		allPending, allEnded := r.pending(), r.history()
		if len(allPending) != 140 || len(allEnded) != 350 {
			t.Fatalf("%d pending, %d ended; want 140 and 350", len(allPending), len(allEnded))
		}
		if !slices.IsSortedFunc(allPending, func(a, b prescient.FutureJob) int {
			return strings.Compare(a.Cursor(), b.Cursor())
		}) {
			t.Error("pending rows are not in the order in which they come due")
		}
		if !slices.IsSortedFunc(allEnded, func(a, b Ended) int {
			return strings.Compare(b.EndedAt.Format(literal.MicroLayout)+b.Key().String(), a.EndedAt.Format(literal.MicroLayout)+a.Key().String())
		}) {
			t.Error("history does not begin with the latest")
		}
		for _, filter := range []ListFilter{
			{}, {Entity: prescient.Entity{Name: "order"}}, {Entity: prescient.Entity{Name: "order", Key: "3"}}, {JobExec: "ship"},
			{From: rig.At("11:30"), Before: rig.At("12:30")}, {Entity: prescient.Entity{Name: "invoice", Key: "1"}, From: rig.At("10:00"), Before: rig.At("13:00")},
		} {
			f := filter
			f.Limit = MaxPage
			wholePending, err := listPending(f)
			r.Must(err)
			wholeHistory, err := listHistory(f)
			r.Must(err)
			for _, limit := range []int{1, 7, 70, 140, 350} {
				if limit == 1 && filter.Entity.Key == "" {
					continue
				}
				f.Limit = limit
				var want, got []string
				for _, job := range wholePending {
					want = append(want, identityOf(job))
				}
				for _, job := range pages(t, f, listPending) {
					got = append(got, identityOf(job))
				}
				if !slices.Equal(got, want) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(want) {
					t.Errorf("pending, %+v: %d rows; want %d: %q; want %q", f, len(got), len(want), got, want)
				}
				want, got = nil, nil
				for _, end := range wholeHistory {
					want = append(want, identityOf(end.FutureJob))
				}
				for _, end := range pages(t, f, listHistory) {
					got = append(got, identityOf(end.FutureJob))
				}
				if !slices.Equal(got, want) || len(slices.Compact(slices.Sorted(slices.Values(got)))) != len(want) {
					t.Errorf("history, %+v: %d rows; want %d: %q; want %q", f, len(got), len(want), got, want)
				}
			}
		}
	})
}

func TestAFilterKeepsToWhatItSays(t *testing.T) {
	t.Parallel()
	within := func(at, from, before time.Time) bool {
		return (from.IsZero() || !at.Before(from)) && (before.IsZero() || at.Before(before))
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("3 "), JobExec: "ship", DueAt: rig.At("12:00")})
		db := r.Pool(time.Time{})
		allEnded, allPending := r.history(), r.pending()
		for _, f := range []ListFilter{
			{},
			{Entity: prescient.Entity{Name: "order"}}, {Entity: rig.Order("3")}, {Entity: rig.Order("3 ")}, {Entity: rig.Order("none")}, {Entity: prescient.Entity{Name: "Order"}},
			{JobExec: "pay"}, {JobExec: "Pay"},
			{From: rig.At("12:30")}, {Before: rig.At("12:30")}, {From: rig.At("12:30"), Before: rig.At("13:00")}, {From: rig.At("12:30"), Before: rig.At("12:30")},
			{From: rig.At("12:30").Add(1)}, {Before: rig.At("12:30").Add(1)}, {From: rig.At("10:00:00.000001")}, {From: rig.At("10:00").Add(1)},
			{Before: rig.At("11:59:59.999999")}, {From: rig.At("11:30").In(time.FixedZone("", 3600)), Before: rig.At("12:30").In(time.FixedZone("", -7200))},
			{Entity: rig.Order("3"), JobExec: "ship", From: rig.At("12:15"), Before: rig.At("13:00")},
			{Outcome: prescient.Done}, {Outcome: prescient.Cancelled}, {Outcome: prescient.Crashed}, {Outcome: prescient.Done, Entity: rig.Order("3"), From: rig.At("11:00")},
		} {
			f.Limit = MaxPage
			matches := func(job prescient.FutureJob, at time.Time) bool {
				return (f.Entity.Name == "" || f.Entity.Name == job.EntityName) && (f.Entity.Key == "" || f.Entity.Key == job.EntityKey) &&
					(f.JobExec == "" || f.JobExec == job.JobExec) && within(at, f.From, f.Before)
			}
			want := 0
			for _, end := range allEnded {
				if matches(end.FutureJob, end.EndedAt) && (f.Outcome == "" || f.Outcome == end.Outcome) {
					want++
				}
			}
			ends, err := r.client.History(t.Context(), db, f)
			r.Must(err)
			for _, end := range ends {
				if !matches(end.FutureJob, end.EndedAt) || f.Outcome != "" && f.Outcome != end.Outcome {
					t.Errorf("history, %+v: has %+v", f, end)
				}
			}
			if len(ends) != want {
				t.Errorf("history, %+v: %d rows; want %d", f, len(ends), want)
			}
			if f.Outcome != "" {
				continue
			}
			want = 0
			for _, job := range allPending {
				if matches(job, job.NextCheckAt) {
					want++
				}
			}
			jobs, err := r.client.Pending(t.Context(), db, f)
			r.Must(err)
			for _, job := range jobs {
				if !matches(job, job.NextCheckAt) {
					t.Errorf("pending, %+v: has %+v", f, job)
				}
			}
			if len(jobs) != want {
				t.Errorf("pending, %+v: %d rows; want %d", f, len(jobs), want)
			}
		}
	})
}

func TestAListingHasAHundredRowsUnlessItIsToldOtherwise(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.Pool(time.Time{})
		if jobs, err := r.client.Pending(t.Context(), db, ListFilter{}); jobs == nil || len(jobs) != 0 || err != nil {
			t.Errorf("of nothing: %v, %v; want an empty list", jobs, err)
		}
		if ends, err := r.client.History(t.Context(), db, ListFilter{}); ends == nil || len(ends) != 0 || err != nil {
			t.Errorf("of nothing: %v, %v; want an empty list", ends, err)
		}
		r.shelf()
		jobs, err := r.client.Pending(t.Context(), db, ListFilter{})
		if len(jobs) != 100 || err != nil {
			t.Errorf("pending: %d, %v", len(jobs), err)
		}
		ends, err := r.client.History(t.Context(), db, ListFilter{})
		if len(ends) != 100 || err != nil {
			t.Errorf("history: %d, %v", len(ends), err)
		}
	})
}

func TestAListingRefusesWhatItCannotRead(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		db := r.Pool(time.Time{})
		pendingCursor, endedCursor := r.pending()[0].Cursor(), r.history()[0].Cursor()
		both := []ListFilter{
			{Limit: -1}, {Limit: MaxPage + 1},
			{Entity: prescient.Entity{Key: "42"}}, {Entity: prescient.Entity{Name: "an order"}}, {Entity: prescient.Entity{Name: "order", Key: "\xff"}}, {JobExec: "it's"},
			{After: "x"}, {After: "/"}, {After: "//"}, {After: "2026-11-20 12:00:00"}, {After: "2026-11-20 12:00:00/"}, {After: "2026-11-20 12:00:00/zz"},
			{After: "2026-11-20 12:00:00/00"}, {After: "soon/" + strings.Repeat("0", 32)}, {After: "' OR 1 = 1 -- "},
			{After: "2026-11-20 12:00:00.000000/" + strings.Repeat("0", 32) + "/x"}, {After: "2026-11-20 12:00:00.000000/" + strings.Repeat("0", 32) + "/-1"},
			{After: "2026-11-20 12:00:00.000000/" + strings.Repeat("0", 32) + "/99999999999999999999"},
			{After: pendingCursor + "/1/2"},
		}
		for _, f := range append([]ListFilter{{After: endedCursor}, {Outcome: prescient.Cancelled}}, both...) {
			_, err := r.client.Pending(t.Context(), db, f)
			rig.WantErr(t, fmt.Sprintf("pending, %+v", f), err, prescient.ErrInvalid)
		}
		for _, f := range append([]ListFilter{{After: pendingCursor}, {Outcome: "gone"}, {Outcome: "Done"}}, both...) {
			_, err := r.client.History(t.Context(), db, f)
			rig.WantErr(t, fmt.Sprintf("history, %+v", f), err, prescient.ErrInvalid)
		}
		_, err := r.client.Pending(t.Context(), db, ListFilter{After: pendingCursor})
		r.Must(err)
		_, err = r.client.History(t.Context(), db, ListFilter{After: endedCursor})
		r.Must(err)
	})
}

func TestLoadCountsTheRowsOfEachSlot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.shelf()
		db := r.Pool(time.Time{})
		for _, tt := range []struct {
			from, before time.Time
			limit        int
			want         string
		}{
			{rig.At("00:00"), rig.At("23:00"), 100, "12:00 20, 12:15 20, 12:30 20, 12:45 20, 13:00 20, 13:15 20, 13:30 20"},
			{rig.At("12:15"), rig.At("12:45"), 100, "12:15 20, 12:30 20"},
			{rig.At("12:15").Add(1), rig.At("12:45").Add(1), 100, "12:30 20, 12:45 20"},
			{rig.At("00:00"), rig.At("23:00"), 2, "12:00 20, 12:15 20"},
			{rig.At("12:15").In(time.FixedZone("", 3600)), rig.At("12:16"), 1, "12:15 20"},
			{rig.At("14:00"), rig.At("23:00"), 1, ""},
			{rig.At("13:00"), rig.At("12:00"), 1, ""},
		} {
			load, err := r.client.Load(t.Context(), db, tt.from, tt.before, tt.limit)
			r.Must(err)
			var got []string
			for _, l := range load {
				got = append(got, fmt.Sprintf("%s %d", l.Slot.Format("15:04"), l.Jobs))
			}
			if strings.Join(got, ", ") != tt.want {
				t.Errorf("%+v: %q", tt, got)
			}
		}
		for _, limit := range []int{0, -1, MaxPage + 1} {
			_, err := r.client.Load(t.Context(), db, rig.At("00:00"), rig.At("23:00"), limit)
			rig.WantErr(t, fmt.Sprint(limit), err, prescient.ErrInvalid)
		}
	})
}

func TestOutcomesAreReadByName(t *testing.T) {
	for _, outcome := range prescient.Outcomes() {
		if got, err := prescient.ParseOutcome(string(outcome)); got != outcome || err != nil {
			t.Errorf("%q: %q, %v", outcome, got, err)
		}
	}
	for _, text := range []string{"", "Done", "done ", "moved"} {
		_, err := prescient.ParseOutcome(text)
		if !errors.Is(err, prescient.ErrInvalid) || !rig.Contains(err, "done, cancelled", "crashed") {
			t.Errorf("%q: %v; want the Outcomes() that are allowed", text, err)
		}
	}
}

// Together their payloads are more than Vitess passes on in one answer.
func TestAPageOfLongPayloadsIsWhole(t *testing.T) {
	t.Parallel()
	const rows, length = 8, 3 << 20
	eachServer(t, func(t *testing.T, r *testRig) {
		var jobs []prescient.NewJob
		for i := range rows {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "ship", DueAt: rig.At("12:00").Add(time.Duration(i/2) * 15 * time.Minute)})
		}
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		r.Exec("UPDATE p_future_job SET payload = CONCAT('\"', REPEAT('x', ?), '\"')", length-2)
		for _, f := range []ListFilter{{}, {JobExec: "ship"}} {
			found, err := r.client.Pending(t.Context(), r.Pool(time.Time{}), f)
			r.Must(err)
			if len(found) != rows || !slices.IsSortedFunc(found, func(a, b prescient.FutureJob) int { return strings.Compare(a.Cursor(), b.Cursor()) }) {
				t.Errorf("%d rows", len(found))
			}
			for _, job := range found {
				if len(job.Payload) != length {
					t.Errorf("%s has a payload of %d bytes; want %d", job.Entity(), len(job.Payload), length)
				}
			}
		}
	})
}
