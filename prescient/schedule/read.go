package schedule

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
)

// Get returns a schedule. The error wraps ErrNotFound.
func (s *Schedules) Get(ctx context.Context, db prescient.DB, id string) (Stored, error) {
	return s.get(ctx, db, id, store.Plainly)
}

func (s *Schedules) get(ctx context.Context, db prescient.DB, id, lock string) (Stored, error) {
	if err := validID(id); err != nil {
		return Stored{}, err
	}
	found, err := s.find(ctx, db, []string{id}, withPayload, lock)
	if err != nil {
		return Stored{}, err
	}
	if len(found) == 0 {
		return Stored{}, fmt.Errorf("%w: %q", ErrNotFound, id)
	}
	return found[0], nil
}

// MaxPage is the most schedules that a page of a listing has.
const MaxPage = 10000

// Filter narrows a listing. Zero fields do not narrow it.
type Filter struct {
	// Owner keeps to the schedules of one owner.
	Owner prescient.Entity
	// Troubled keeps to those that were disabled since they are no good.
	Troubled bool
	// After continues behind the last ID of an earlier page.
	After string
	// Limit is how many schedules a page has; 100 by default, MaxPage at most.
	Limit int
	// Payloads says that payloads are read, too.
	Payloads bool
}

// List lists schedules in the order of their ids. With Payloads a page ends early where those that are longer than 4 kB have 64 MB
// together, so that only an empty page is the last. The error wraps prescient.ErrInvalid for a filter that is no good.
func (s *Schedules) List(ctx context.Context, db prescient.DB, f Filter) ([]Stored, error) {
	if f.Limit < 0 || f.Limit > MaxPage {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxPage)
	}
	after := literal.Of(literal.AppendText, f.After)
	index, where := "PRIMARY", []string{"id > " + after}
	if f.Troubled {
		where = append(where, "disabled_at IS NOT NULL")
	}
	if f.Owner != (prescient.Entity{}) {
		if err := validOwner(f.Owner); err != nil {
			return nil, err
		}
		index, where = "owner", append(where, "owner_name = "+literal.Of(literal.AppendText, f.Owner.Name), "owner_key = "+literal.Of(literal.AppendText, f.Owner.Key))
	}
	payload := noPayload
	if f.Payloads {
		payload = shortPayload
	}
	limit := literal.Of(literal.AppendInt, int64(cmp.Or(f.Limit, 100)))
	query := s.tables.Fill("schedule/list", "{payload}", string(payload), "{index}", index, "{filter}", strings.Join(where, " AND "), "{limit}", limit)
	if f.Troubled && index == "PRIMARY" {
		query = s.tables.Fill("schedule/list_refused", "{payload}", string(payload), "{after}", after, "{limit}", limit)
	}
	page, err := s.read(ctx, db, query)
	if err != nil || !f.Payloads || len(page) == 0 {
		return page, err
	}
	last := page[len(page)-1].ID
	for len(page) > 0 {
		var filled []Stored
		if filled, page, err = s.fill(ctx, db, page, maxPageBytes); err != nil || len(filled) > 0 {
			return filled, err
		}
	}
	f.After = last // all were deleted meanwhile
	return s.List(ctx, db, f)
}

// fill reads the long payloads of schedules that were read by shortPayload, from the first on, up to some bytes, and returns those that
// have theirs by now: at least one. What was deleted meanwhile is left out.
func (s *Schedules) fill(ctx context.Context, db prescient.DB, some []Stored, most int) (filled []Stored, rest []Stored, err error) {
	n, answer := 0, 0
	var asked [][]string // the ids of each statement
	for ; n < len(some); n++ {
		if !some[n].hasLong() {
			continue
		}
		if most -= some[n].size; most < 0 && n > 0 {
			break
		}
		if answer += some[n].size; asked == nil || answer > maxHeld {
			asked, answer = append(asked, nil), some[n].size
		}
		asked[len(asked)-1] = append(asked[len(asked)-1], some[n].ID)
	}
	filled, rest = slices.Clone(some[:n]), some[n:]
	by := make(map[string]Stored)
	for _, ids := range asked {
		long, err := s.find(ctx, db, ids, withPayload, store.Plainly)
		if err != nil {
			return nil, nil, err
		}
		maps.Copy(by, byID(long))
	}
	for i, one := range filled {
		if one.hasLong() {
			filled[i] = by[one.ID]
		}
	}
	return slices.DeleteFunc(filled, func(one Stored) bool { return one.ID == "" }), rest, nil
}

// Find returns those of some schedules that are there, without their payloads, in the order of their ids.
func (s *Schedules) Find(ctx context.Context, db prescient.DB, ids ...string) (found []Stored, err error) {
	err = s.eachChunk(ids, func(some []string) error {
		part, err := s.find(ctx, db, some, noPayload, store.Plainly)
		found = append(found, part...)
		return err
	})
	return found, err
}

// Each calls do for those of some schedules that are there, with their payloads, in the order of their ids: about 12 MB of payloads
// are in memory at a time. It ends with the first error, which may be that of do.
func (s *Schedules) Each(ctx context.Context, db prescient.DB, ids []string, do func(one Stored) error) error {
	return s.eachChunk(ids, func(some []string) error {
		rest, err := s.find(ctx, db, some, shortPayload, store.Plainly)
		for err == nil && len(rest) > 0 {
			var filled []Stored
			if filled, rest, err = s.fill(ctx, db, rest, maxHeld); err != nil {
				return err
			}
			for _, one := range filled {
				if err := do(one); err != nil {
					return err
				}
			}
		}
		return err
	})
}

// eachChunk parts ids, each once and in their order, for statements.
func (s *Schedules) eachChunk(ids []string, do func(some []string) error) error {
	for _, id := range ids {
		if err := validID(id); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), idsPerStatement) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}

// Run is an occurrence of a schedule, as the job_exec that it runs gets it.
type Run struct {
	// ID is <schedule>-<unix>: the same for every call of the run.
	ID string
	// Schedule is the id of the schedule.
	Schedule string
	// At is when the occurrence was due, and not the slot in which it runs.
	At time.Time
	// Payload is that of the schedule.
	Payload []byte
	// Long says whether the schedule is.
	Long bool
	// Job is the row of the run.
	Job prescient.FutureJob
}

// Runs returns the occurrences that rows are the runs of, by one statement for some hundreds of them: for a BatchFunc. All of their
// payloads are in memory then; with EachRun only some at a time. The error wraps prescient.ErrInvalid for a row that is no run of a
// schedule, and ErrNotFound where the schedule is gone.
func (s *Schedules) Runs(ctx context.Context, db prescient.DB, jobs ...prescient.FutureJob) ([]Run, error) {
	runs := make([]Run, len(jobs))
	err := s.EachRun(ctx, db, jobs, func(i int, run Run) error {
		runs[i] = run
		return nil
	})
	if err != nil {
		return nil, err
	}
	return runs, nil
}

// EachRun calls do for the occurrence of each row, with the row's place, in no order: for a BatchFunc whose payloads may be long, of
// which about 16 MB are in memory at a time. It ends with the first error, which may be that of do; the others are those of Runs, and
// a row that is no run is refused before do is called.
func (s *Schedules) EachRun(ctx context.Context, db prescient.DB, jobs []prescient.FutureJob, do func(i int, run Run) error) error {
	of := make(map[string][]int, len(jobs)) // the places of a schedule's rows
	ids := make([]string, len(jobs))
	for i, job := range jobs {
		if _, _, err := ParseID(idOf(job.EntityKey, job.Tag)); err != nil || job.EntityName != s.own.Entity("").Name {
			return fmt.Errorf("%w: %s of %s, tag %q, is no run of a schedule", prescient.ErrInvalid, job.JobExec, job.Entity(), job.Tag)
		}
		ids[i] = job.EntityKey
		of[job.EntityKey] = append(of[job.EntityKey], i)
	}
	err := s.Each(ctx, db, ids, func(one Stored) error {
		for _, i := range of[one.ID] {
			job := jobs[i]
			if err := do(i, Run{ID: idOf(one.ID, job.Tag), Schedule: one.ID, At: job.DueAt, Payload: one.Payload, Long: one.Long, Job: job}); err != nil {
				return err
			}
		}
		delete(of, one.ID)
		return nil
	})
	if err != nil || len(of) == 0 {
		return err
	}
	return fmt.Errorf("%w: %q", ErrNotFound, slices.Sorted(maps.Keys(of))[0])
}

// LongRuns returns the long runs of a schedule that did not end, the latest occurrence first, up to most of them, which is to be
// positive. Of a schedule that is not there it returns none.
func (s *Schedules) LongRuns(ctx context.Context, db prescient.DB, id string, most int) ([]longrun.State, error) {
	if err := validID(id); err != nil {
		return nil, err
	}
	return longrun.List(ctx, db, s.tables, s.own.Entity(id), most)
}

// LongFunc is Func for the runs of schedules that are Long: what it returns is registered by longrun.Runner.Register, and the runner
// has the Schedules for its Rules.
func (s *Schedules) LongFunc(db prescient.DB, fn func(ctx context.Context, run Run, long *longrun.Run) error) longrun.Func {
	return func(ctx context.Context, long *longrun.Run) (*time.Time, error) {
		runs, err := s.Runs(ctx, db, long.Job())
		if err != nil {
			return nil, err
		}
		return nil, fn(ctx, runs[0], long)
	}
}

// Func returns a job_exec for schedules to run: it reads the payload on db, and calls fn. A nil error ends the run as done; another
// is tried again, as that of any check.
func (s *Schedules) Func(db prescient.DB, fn func(ctx context.Context, run Run) error) prescient.Func {
	return func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		runs, err := s.Runs(ctx, db, job)
		if err != nil {
			return nil, err
		}
		if runs[0].Long {
			return nil, fmt.Errorf("%w: schedule %q is long, but job_exec %q is not registered for long runs; register it with package longrun", prescient.ErrInvalid, runs[0].Schedule, job.JobExec)
		}
		return nil, fn(ctx, runs[0])
	}
}
