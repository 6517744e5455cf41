package ledger

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/internal/store"
	"prescient/slots"
)

// Ledger is how a worker works with slot_run.
type Ledger struct {
	Send     *store.Sender
	Tables   *store.Tables
	Worker   string
	TTL      time.Duration // of a lease
	Batch    int           // rows of a bucket that are in flight at a time
	Parallel int           // buckets that are worked on at a time
	Log      zerolog.Logger
	// Committed is told of each commit, once it is known what became of it; nil for nobody. Began is when the fence was sent.
	Committed func(slot time.Time, bucket int, began time.Time, err error)
	Lapsed    lapsed // leases that an outage has cost, and that are still to be given back
}

// By is by what a slot is run, as slot_run says it.
type By string

// What runs slots: the commands of these names, and programs that do the same.
const (
	Run         By = "run"   // a timer, for the slot that is now
	Work        By = "work"  // what stays up, for its own slots
	Sweep       By = "sweep" // for what is left of slots that are past; the sweeps of what stays up, too
	RollForward By = "roll-forward"
)

// late says whether what is run by it should have been run before: nobody served the slot in time.
func (b By) late() bool { return b == Sweep || b == RollForward }

// Row is a bucket of a slot as slot_run has it.
type Row struct {
	Bucket, Buckets int
	Token, BatchSeq uint64
	Worker          string // that had it last
	Takeovers       int
	attemptKey      []byte
	attemptRevision uint64
	Finished        bool
	Allocated       bool          // somebody took it and did not give it back
	LivesFor        time.Duration // how long that lease lives yet; 0 where it has lapsed
	Written         int           // rows of which became something, by the books
}

// Free says whether something is left to do in the bucket, and nobody holds it.
func (r Row) Free() bool { return !r.Finished && r.LivesFor == 0 }

// GivenBack says whether somebody had the bucket and gave it back unfinished: it was stopped, or rows were locked.
func (r Row) GivenBack() bool { return r.Token > 0 && !r.Finished && !r.Allocated }

// Rows reads the buckets of a slot.
func (g *Ledger) Rows(ctx context.Context, slot time.Time) (list []Row, err error) {
	err = g.Send.Query(ctx, func(ctx context.Context) (err error) {
		list, err = store.Rows(ctx, g.Send.DB, "reading the ledger of slot "+slots.Stamp(slot), g.Tables.Stmt.Get("slotrun/ledger"), (*Row).into, slot)
		return err
	})
	return list, err
}

// into is where the columns of a row go.
func (r *Row) into() []any {
	return []any{&r.Bucket, &r.Buckets, &r.Token, &r.BatchSeq, &r.Worker, &r.Takeovers, &r.attemptKey, store.OrZero(&r.attemptRevision), &r.Finished, &r.Allocated,
		store.Micros(&r.LivesFor), &r.Written}
}
