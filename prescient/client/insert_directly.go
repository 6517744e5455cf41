package client

import (
	"cmp"
	"context"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// A check that nothing is pending for is inserted by one statement, without a look before it: a direct insert. The statement
// itself makes sure that the slot is yet to come and that the horizon is not passed.
//
// It must not meet a pending row too often. The server keeps the entry of that row in UNIQUE (job_key) locked for the caller's
// transaction then, and to go on from there to the row itself, while a slot run ends that, is a deadlock. Apps insert the checks of
// one job_exec with one policy in one way, mostly. So after a direct insert that came to nothing, and after a pending row, a client
// looks first for a while.

const (
	// looksFirstFor is for how long a client looks before it inserts in a way for which that was worth it.
	looksFirstFor = time.Minute
	// maxLooksFirst bounds how many ways are remembered.
	maxLooksFirst = 1000
)

// lately is what a client has seen of late. It is for concurrent use.
type lately struct {
	mu         sync.Mutex
	lookedAt   time.Time         // at slot_config
	looksFirst map[way]time.Time // until when
}

// way is a way to insert.
type way struct {
	jobExec string
	policy  prescient.OnPending
}

func wayOf(job prescient.NewJob) way { return way{job.JobExec, cmp.Or(job.OnPending, prescient.Keep)} }

// looked notes a look at slot_config.
func (l *lately) looked(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookedAt = now
}

// wasWorthIt notes that a look before an insert is worth it.
func (l *lately) wasWorthIt(w way, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looksFirst == nil || len(l.looksFirst) >= maxLooksFirst {
		l.looksFirst = make(map[way]time.Time)
	}
	l.looksFirst[w] = now.Add(looksFirstFor)
}

// needsLook says whether to look before an insert.
func (l *lately) needsLook(w way, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.lookedAt) >= store.VersionLasts || now.Before(l.looksFirst[w])
}

// insertDirectly inserts a row if nothing is pending for its key and its slot is yet to come. It returns false where somebody
// has to look why not.
func (c *Client) insertDirectly(ctx context.Context, db prescient.DB, job prescient.NewJob, key prescient.Key) (did Inserted, done bool, err error) {
	due := slots.RoundUp(job.DueAt)
	if due.Before(prescient.EarliestDue) {
		return Inserted{}, false, nil
	}
	slot := c.tables.Grid.Ceil(due)
	_, err = db.ExecContext(ctx, c.directInsertOf(job, key, due, slot))
	if errno.Is(err, errno.DuplicateKey, errno.BadNull) {
		return Inserted{}, false, nil
	}
	if err != nil {
		return Inserted{}, false, c.explain(ctx, db, job, err)
	}
	return Inserted{Did: DidInsert, DueAt: due, Slot: slot}, true, nil
}

// directInsertOf inserts one row. Where its slot is over, or its horizon is passed, by the database's clock, next_check_at comes
// to NULL, which the servers refuse for a single row under every sql_mode.
func (c *Client) directInsertOf(job prescient.NewJob, key prescient.Key, due, slot time.Time) string {
	horizon := due.Add(-c.registry.GuardsOf(job.JobExec, c.guards).Horizon)
	if horizon.Before(prescient.EarliestDue) {
		horizon = prescient.EarliestDue
	}
	times := c.textOf(due, slot)
	times.slots = literal.AppendNumber(nil, slot)
	times.slots = append(times.slots, ",IF(UTC_TIMESTAMP(6)>=TIMESTAMP"...)
	times.slots = append(literal.AppendMicro(times.slots, horizon), " AND UTC_TIMESTAMP(6)<TIMESTAMP"...)
	times.slots = append(literal.AppendSecond(times.slots, slot), ',')
	times.slots = append(literal.AppendNumber(times.slots, slot), ",NULL)"...)
	more := hasMore(&job)
	return c.insertRows(appendRow(nil, &job, key, times, more), more)
}
