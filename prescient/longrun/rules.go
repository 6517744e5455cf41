package longrun

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
)

// Overlap says what becomes of an occurrence of a schedule that comes while the run before it is under way.
type Overlap string

// The ways.
const (
	// Allow runs it beside the other.
	Allow Overlap = "allow"
	// Forbid ends it as overlapped.
	Forbid Overlap = "forbid"
	// Queue has it wait for the end of the other; one at a time, and the next ones end as overlapped.
	Queue Overlap = "queue"
)

// ParseOverlap reads allow, forbid or queue; empty stays empty. The error wraps prescient.ErrInvalid.
func ParseOverlap(text string) (Overlap, error) {
	switch o := Overlap(text); o {
	case "", Allow, Forbid, Queue:
		return o, nil
	}
	return "", fmt.Errorf("%w: overlap %q: allow, forbid or queue are allowed", prescient.ErrInvalid, text)
}

// Terms are what holds for the run of a check. The zero value is for the check of an app: it may run whenever it is due, for
// as long as it takes.
type Terms struct {
	// Schedule is the id of its schedule; empty for none, and then no other field counts but Quota and Pool.
	Schedule string
	// Overlap with other runs of the schedule; Allow, or empty, asks for no Interval either.
	Overlap Overlap
	// Interval from this occurrence to the next, or from the one before to this, whichever is shorter; and Next, when the next is due. Zero
	// where there is none.
	Interval time.Duration
	Next     time.Time
	// Tolerance is by how much two starts may be closer together than Interval.
	Tolerance time.Duration
	// LastStart is when a run of the schedule started last; zero for never.
	LastStart time.Time
	// Quota is how long after its start a run is ended; 0 for never.
	Quota time.Duration
	// Pool is whose agents may have the run; empty for that of the job_exec.
	Pool string
	// Contested says that somebody else has locked what the others stand on, which are not known then: the run may start later.
	Contested bool
}

// Rules know the terms of checks. They work in the transaction of the slot run that meets the checks.
type Rules interface {
	// Terms returns the terms of each check, and locks what they stand on, so that nobody else starts a run of the same schedules. It
	// waits for no lock. now is the database's time after that; zero where all are contested.
	Terms(ctx context.Context, tx *sqlx.Tx, checks []prescient.FutureJob) (terms []Terms, now time.Time, err error)
	// Started notes that runs of schedules started at a time.
	Started(ctx context.Context, tx *sqlx.Tx, schedules []string, at time.Time) error
}
