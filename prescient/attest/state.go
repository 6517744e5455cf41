package attest

import (
	"fmt"
	"strings"
	"time"

	"prescient/slots"
)

// State is what became of a slot.
type State string

// The states.
const (
	// Served: in time, and finished.
	Served State = "served"
	// Late: a bucket was begun late, or by a sweep or a roll-forward, or the last was finished late, or never, since what was left for it was
	// cancelled or moved before a sweep came.
	Late State = "late"
	// Unfinished: checks still wait for the slot, or a lease of a bucket lives.
	Unfinished State = "unfinished"
	// Missed: over, without a trace in the ledger.
	Missed State = "missed"
	// Paused: as missed, while everything was paused.
	Paused State = "paused"
	// Reslotting: as missed, while the resolution was being changed.
	Reslotting State = "reslotting"
	// OffGrid: the ledger has it, though by the resolution of its time it is no slot.
	OffGrid State = "off-grid"
	// NotYet: it is not over, and not finished.
	NotYet State = "not-yet"
	// NotKnown: nothing tells any more, or did yet.
	NotKnown State = "not-known"
)

// row is what the ledger has of a slot.
type row struct {
	Slot        time.Time  `db:"slot"`
	There       int        `db:"there"`   // buckets that the ledger has
	Buckets     int        `db:"buckets"` // that it should have
	Unfinished  int        `db:"unfinished"`
	Held        int        `db:"held"`        // by a lease that lives
	Taken       int        `db:"taken"`       // unfinished, and not given back
	Started     *time.Time `db:"started_at"`  // the last of them
	Finished    *time.Time `db:"finished_at"` // the last of them
	ByRun       int        `db:"by_run"`
	ByWork      int        `db:"by_work"`
	BySweep     int        `db:"by_sweep"`
	ByRoll      int        `db:"by_roll"`
	FirstWorker string     `db:"first_worker"`
	LastWorker  string     `db:"last_worker"`
	Takeovers   int64      `db:"takeovers"`
	Moved       int64      `db:"moved"`
	PutOff      int64      `db:"put_off"`
	Dropped     int64      `db:"dropped"`
	Ended       int64      `db:"ended"`
}

// open is how many buckets are not finished, with those that are not there.
func (r *row) open() int { return r.Unfinished + max(r.Buckets-r.There, 0) }

// by lists what ran the slot.
func (r *row) by() string {
	var names []string
	for _, one := range []struct {
		buckets int
		name    string
	}{{r.ByRun, "run"}, {r.ByWork, "work"}, {r.BySweep, "sweep"}, {r.ByRoll, "roll-forward"}, {r.There - r.ByRun - r.ByWork - r.BySweep - r.ByRoll, "an unnamed program"}} {
		if one.buckets > 0 {
			names = append(names, one.name)
		}
	}
	return strings.Join(names, " and ")
}

// begun is how late the last bucket was begun.
func (r *row) begun() time.Duration {
	if r.Started == nil {
		return 0
	}
	return max(r.Started.Sub(r.Slot), 0)
}

// known is since when things are known, and why not before.
type known struct {
	since time.Time
	why   string
}

// raise moves it to a later time.
func (k *known) raise(to time.Time, why string) {
	if to.After(k.since) {
		*k = known{to, why}
	}
}

// pause is a time in which everything was paused; until is zero where it still is.
type pause struct{ from, until time.Time }

// evidence is what slots are judged by, beside the ledger.
type evidence struct {
	now         time.Time
	grace, late time.Duration
	known       known
	first       time.Time // slot of the ledger
	pauses      []pause
}

// paused says whether everything was paused when a slot was to begin: until it was late, or the next came.
func (e *evidence) paused(in era, slot time.Time) bool {
	begins := slots.Earlier(slot.Add(e.late), in.grid.Next(slot))
	for _, p := range e.pauses {
		if p.from.Before(begins) && (p.until.IsZero() || p.until.After(slot)) {
			return true
		}
	}
	return false
}

// judge says what became of a slot, and why. r is nil where the ledger has nothing; waits says that checks still wait for it.
func (e *evidence) judge(in era, slot time.Time, r *row, waits bool) (State, string) {
	over := slot.Before(slots.OverdueBefore(in.grid, e.now, e.grace))
	switch {
	case slot.Before(e.known.since):
		return NotKnown, e.known.why
	case r != nil && !in.grid.On(slot):
		return OffGrid, fmt.Sprintf("slots were %s apart", in.grid)
	case !over && (r == nil || r.open() > 0 || waits):
		return NotYet, ""
	case r == nil && in.changing(slot):
		return Reslotting, ""
	case r == nil && e.paused(in, slot):
		return Paused, ""
	case r == nil && slot.Before(e.first):
		return Missed, "before the first slot that the ledger has"
	case r == nil:
		return Missed, ""
	case r.open() > 0 && !waits && r.Held == 0:
		return Late, openBuckets(r) + ", and nothing waits for them: the rest was cancelled or moved"
	case r.open() > 0:
		return Unfinished, openBuckets(r)
	case waits:
		return Unfinished, "finished, and checks wait"
	case r.BySweep+r.ByRoll > 0 || r.begun() > e.late || r.Finished != nil && r.Finished.After(in.grid.Next(slot).Add(e.grace+e.late)):
		if e.paused(in, slot) {
			return Late, "everything was paused"
		}
		return Late, ""
	}
	return Served, ""
}

// openBuckets says of a slot that is not finished why.
func openBuckets(r *row) string {
	text := fmt.Sprintf("%d of %d buckets", r.open(), max(r.Buckets, r.There))
	switch {
	case r.Held > 0:
		return text + " open, a lease lives"
	case r.Taken > 0:
		return text + " open, the lease lapsed"
	}
	return text + " open, nobody has them"
}
