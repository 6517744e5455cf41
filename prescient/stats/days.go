package stats

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/internal/tally"
)

// The most days of which Days tells: of one job_exec, and of all.
const (
	MaxDays      = 93
	MaxDaysOfAll = 14
)

// UsualDays is of how long Days is asked where nothing else is said: a week of all job_execs, and five of one.
func UsualDays(jobExec string) time.Duration {
	const week = 7 * 24 * time.Hour
	if jobExec == "" {
		return week
	}
	return 5 * week
}

// maxDayLines is how many sums of each kind are read at most.
const maxDayLines = 500_000

// DaysReport is what became of checks, by day.
type DaysReport struct {
	// From and Before are the span, in whole days of UTC.
	From   time.Time `json:"from"`
	Before time.Time `json:"before"`
	// Cut says that there were more sums than are read: figures are too low then.
	Cut  bool  `json:"cut"`
	Days []Day `json:"days"`
}

// Day is what became of the checks of a job_exec that ended on a day.
type Day struct {
	Start   time.Time `json:"start"`
	JobExec string    `json:"job_exec"`
	// Ends by outcome; a requeued check counts for each of its ends. Calls and Errors are those of these checks.
	Ends   map[prescient.Outcome]uint64 `json:"ends"`
	Calls  uint64                       `json:"calls"`
	Errors uint64                       `json:"errors"`
	NotYet
	// Run is how long last calls took, Lateness how long after its slot they began.
	Run      Quantiles `json:"run"`
	Lateness Quantiles `json:"lateness"`
	// Repeats are the ends by how often their checks were told to come again, the least first; in buckets of 5 %.
	Repeats []Repeats `json:"repeats"`
}

// NotYet says how often what checks wait for had not happened by then, which a job_exec says by returning a later time. What an app put an end to is left out.
type NotYet struct {
	// AtOnce it had happened, Later after some answers, Never within max_checks; of Unknown ends it is not known.
	AtOnce  uint64 `json:"at_once"`
	Later   uint64 `json:"later"`
	Never   uint64 `json:"never"`
	Unknown uint64 `json:"unknown"`
	// Answers are how often they said so, several a check.
	Answers uint64 `json:"not_yet"`
	// Waited are the checks that said so at least once.
	Waited uint64 `json:"waited"`
}

// Checks is of how many checks that is told.
func (n NotYet) Checks() uint64 { return n.AtOnce + n.Later + n.Never + n.Unknown }

// Share is the share of checks for which it had not happened by then.
func (n NotYet) Share() float64 {
	if n.Checks() == 0 {
		return 0
	}
	return float64(n.Waited) / float64(n.Checks())
}

// Add adds those of another.
func (n *NotYet) Add(other NotYet) {
	n.AtOnce, n.Later, n.Never, n.Unknown = n.AtOnce+other.AtOnce, n.Later+other.Later, n.Never+other.Never, n.Unknown+other.Unknown
	n.Answers, n.Waited = n.Answers+other.Answers, n.Waited+other.Waited
}

// add adds the ends of an outcome.
func (n *NotYet) add(outcome prescient.Outcome, ends, notYet, waited uint64) {
	switch {
	case outcome.ByApp():
		return
	case outcome == prescient.Done:
		n.AtOnce, n.Later = n.AtOnce+ends-min(waited, ends), n.Later+waited
	case outcome == prescient.MaxChecks:
		n.Never += ends
	default:
		n.Unknown += ends
	}
	n.Answers, n.Waited = n.Answers+notYet, n.Waited+waited
}

// Repeats are ends of checks that were told to come again as often.
type Repeats struct {
	Times int64  `json:"times"`
	Ends  uint64 `json:"ends"`
}

// nearShare is from which share of the guard max_checks on a check nears it.
const nearShare = 0.8

// Near is how many of them had been told to come again 80 % as often as the guard max_checks allows, or more.
func Near(repeats []Repeats, maxChecks int64) (near uint64) {
	for _, r := range repeats {
		if maxChecks > 0 && float64(r.Times) >= max(nearShare*float64(maxChecks), 1) {
			near += r.Ends
		}
	}
	return near
}

// Days tells what became of checks on whole days that are over and summed up, by day and job_exec, the earliest first: from that of
// one time on to the last that is over by another. It is for rooms of the library. The error wraps prescient.ErrInvalid for a span that is empty or too long, or a name that is none.
func Days(ctx context.Context, db prescient.DB, tables *store.Tables, from, before time.Time, jobExec string) (DaysReport, error) {
	const day = 24 * time.Hour
	r := DaysReport{From: from.UTC().Truncate(day), Before: before.UTC().Truncate(day)}
	if err := validSpan(r.From, r.Before); err != nil {
		return r, err
	}
	most, but := MaxDaysOfAll, ""
	if jobExec != "" {
		if err := prescient.ValidIdentifier("job_exec", jobExec); err != nil {
			return r, err
		}
		most, but = MaxDays, "AND job_exec = "+literal.Of(literal.AppendText, jobExec)+" "
	}
	var days []time.Time
	for at := r.From; at.Before(r.Before); at = at.Add(day) {
		if days = append(days, at); len(days) > most {
			return r, fmt.Errorf("%w: from %s to before %s: %d days at most are allowed", prescient.ErrInvalid, r.From.Format(time.DateOnly), r.Before.Format(time.DateOnly), most)
		}
	}
	all := make(dayBooks)
	fill := func(statement string) string {
		return tables.Fill(statement, "{days}", literal.List(literal.AppendSecond, days), "{but}", but)
	}
	cut, err := all.ends(ctx, db, tables, fill("stats/days"))
	if err != nil {
		return r, fmt.Errorf("reading the sums of days: %w", err)
	}
	spreads, err := all.spreads(ctx, db, tables, fill("stats/day_buckets"))
	if err != nil {
		return r, fmt.Errorf("reading how times are spread: %w", err)
	}
	r.Cut, r.Days = cut || spreads, all.days()
	return r, nil
}

// dayOf is a job_exec on a day.
type dayOf struct {
	start   time.Time
	jobExec string
}

// dayBook is what is read of it.
type dayBook struct {
	Day
	spread map[string]tally.Histogram // by measure
}

type dayBooks map[dayOf]*dayBook

func (all dayBooks) of(start time.Time, jobExec string) *dayBook {
	key := dayOf{start.UTC(), jobExec}
	if all[key] == nil {
		all[key] = &dayBook{Day{Start: key.start, JobExec: jobExec, Ends: make(map[prescient.Outcome]uint64)}, make(map[string]tally.Histogram)}
	}
	return all[key]
}

// ends reads what became of checks; cut says that there is more.
func (all dayBooks) ends(ctx context.Context, db prescient.DB, tables *store.Tables, query string) (cut bool, err error) {
	read := 0
	err = tables.EachOf(ctx, db, maxDayLines+1, func(scan store.Scan) error {
		var start time.Time
		var jobExec string
		var outcome prescient.Outcome
		var ends, calls, errs, notYet, waited uint64
		if err := scan(&start, &jobExec, &outcome, &ends, &calls, &errs, &notYet, &waited); err != nil {
			return err
		}
		if read++; read > maxDayLines {
			cut = true
			return nil
		}
		b := all.of(start, jobExec)
		b.Ends[outcome] += ends
		b.Calls, b.Errors = b.Calls+calls, b.Errors+errs
		b.add(outcome, ends, notYet, waited)
		return nil
	}, query)
	return cut, err
}

// spreads reads how times and counts were spread; cut says that there is more.
func (all dayBooks) spreads(ctx context.Context, db prescient.DB, tables *store.Tables, query string) (cut bool, err error) {
	read := 0
	err = tables.EachOf(ctx, db, maxDayLines+1, func(scan store.Scan) error {
		var start time.Time
		var jobExec, measure string
		var bucket int
		var n uint64
		if err := scan(&start, &jobExec, &measure, &bucket, &n); err != nil {
			return err
		}
		if read++; read > maxDayLines {
			cut = true
			return nil
		}
		spread := all.of(start, jobExec).spread
		if spread[measure] == nil {
			spread[measure] = make(tally.Histogram)
		}
		spread[measure][bucket] += n
		return nil
	}, query)
	return cut, err
}

func (all dayBooks) days() []Day {
	days := make([]Day, 0, len(all))
	for _, b := range all {
		d := b.Day
		d.Run, d.Lateness, d.Repeats = quantiles(b.spread["run"]), quantiles(b.spread["lateness"]), []Repeats{}
		for bucket, n := range b.spread["checks"] {
			if n > 0 {
				d.Repeats = append(d.Repeats, Repeats{tally.UpTo(bucket), n})
			}
		}
		slices.SortFunc(d.Repeats, func(x, y Repeats) int { return cmp.Compare(x.Times, y.Times) })
		days = append(days, d)
	}
	slices.SortFunc(days, func(x, y Day) int { return cmp.Or(x.Start.Compare(y.Start), cmp.Compare(x.JobExec, y.JobExec)) })
	return days
}

// Of keeps what is of a job_exec; all where none is named.
func Of[T any](list []T, jobExec string, of func(T) string) []T {
	if list == nil {
		return []T{}
	}
	if jobExec == "" {
		return list
	}
	return slices.DeleteFunc(list, func(one T) bool { return of(one) != jobExec })
}
