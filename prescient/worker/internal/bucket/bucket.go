package bucket

import (
	"context"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"
	"prescient/prescient/worker/internal/pace"
	"prescient/prescient/worker/internal/transact"
)

// flushEvery is how long an answer waits for company before it is committed, and how long rows of one job_exec may
// hold up the others.
const flushEvery = 100 * time.Millisecond

// Options are what one bucket is run with.
type Options struct {
	Lease      *ledger.Lease
	Buckets    int // of its slot
	Clock      store.Clock
	Calls      context.Context                           // of the job_execs; ends when nothing of them is wanted any more
	Stop       <-chan struct{}                           // closed when nothing new is to be started
	BeforeRead func(ctx context.Context, rows int) error // waits before each read; nil for at once
	Pace       *pace.Run                                 // of the slot run; nil for full
	Background bool                                      // it catches up: what is due now comes first
	Paused     store.Pauses                              // their rows are put off, uncalled
	Hidden     *atomic.Bool                              // in this slot a commit waited for locks that do not show by the primary key
	FirstRead  int                                       // rows that it asks for first; 0: a part of a batch, so that something is soon done
	Wary       bool                                      // it was given back unfinished before: locked rows are left alone
	MayWait    func(rows int) bool                       // whether to wait for locked rows: false where too many buckets do already
	OnLinger   func()                                    // has another bucket run meanwhile; nil where there is nobody to tell
	OnCalled   func()                                    // is told once that all rows were called; nil where nobody wants to know
}

// Bucket runs one bucket under its lease. Its own goroutine reads and commits; the executor's goroutines deliver.
type Bucket struct {
	Shared *Shared
	Options
	session *commit.Session
	calls   transact.Runner
	sizes
	reads
	locks
	inbox
	leaving
	hasTx   bool    // there are rows of transactions' functions, which hold locks for as long as they run
	alone   []alone // called again, each in a transaction of its own
	apart   int     // rows that were set apart, since their batch could not be committed with them
	Figures books.Figures
	// LeftLocked is one of the rows that were left behind since somebody has them locked; nil where there is none.
	LeftLocked *prescient.FutureJob
	Finished   bool // its last commit has ended the lease

	restUntil time.Time // the next commit of a batch, by the pace
}

// sizes are how many rows a bucket has at a time.
type sizes struct {
	careful bool // row by row, the attempt recorded: the bucket was taken over twice
	batch   int  // rows that are read and committed together
	window  int  // rows in memory, of each stream: two such batches, one of which is read while the other runs
}

// commitRows is how many rows a commit has at most.
func (b *Bucket) commitRows() int { return min(2*b.batch, b.Pace.Effort().Rows) }

// enough is with how many answers a commit waits for no more.
func (b *Bucket) enough() int { return min(b.batch, b.commitRows()) }

// leaving is why a bucket has left its place, or leaves rows behind.
type leaving struct {
	lingering  bool // it waits for what takes its time, and another has its place
	crowdedOut bool // there is no room for it to wait in
	cutOff     bool // rows were left unstarted, since the worker stops or the lease ended
}

// locks are the answers that wait for rows which somebody else has locked.
type locks struct {
	contested []*check.Answered // tried again at retryAt
	retryAt   time.Time
	retryIn   time.Duration // grows while they stay contested
	locked    int           // rows in memory that somebody else had locked, or that could not be written
	waitFor   time.Duration // how long to wait when only those are left
	waitUntil time.Time     // until when, once it came to that
}

// New returns the run of a bucket.
func New(of *Shared, o Options) *Bucket {
	first, last := of.Tables.Keys.Bucket(o.Lease.Bucket, o.Buckets)
	if o.Pace == nil {
		o.Pace = pace.Full(pace.Effort{Buckets: 1, Rows: of.Batch})
	}
	session := &commit.Session{Writer: of.Writer, Lease: o.Lease, Waited: o.Pace.Committed}
	b := &Bucket{Shared: of, Options: o, restUntil: o.Pace.RestUntil(), session: session, calls: transact.Runner{Session: session, Clock: o.Clock, Calls: o.Calls},
		sizes: sizes{careful: o.Lease.Takeovers >= 2, batch: max(of.Batch/2, 1), window: of.Batch},
		reads: reads{last: last, streams: []*stream{{next: first}}, outstanding: make(map[string]int)},
		locks: locks{waitFor: lockPatience(of.Ledger.TTL, of.Tables.Grid.Resolution(), o.Background)}, inbox: inbox{wake: bell.New()}}
	if b.careful {
		b.batch, b.window = 1, 1
		return b
	}
	b.streams[0].limit = min(o.FirstRead, b.batch)
	for _, l := range of.Executor.Order {
		// Behind a backlog nothing is sooner done by a small first read: it would be one more, with a transaction of its own.
		if crowd := of.Crowds[l.Name]; crowd.backedUp(l.Guards.Concurrency) && !b.Paused[l.Name] {
			b.streams = append(b.streams, &stream{JobExec: l.Name, crowd: crowd, next: first, limit: b.batch})
		}
	}
	return b
}

// standing says whether the bucket is still to be worked on.
func (b *Bucket) standing() error {
	select {
	case <-b.Stop:
		return ErrStopped
	default:
	}
	if !b.Lease.Alive(time.Now()) {
		return ledger.ErrLost
	}
	return nil
}

// MayStart says whether a call may still be started.
func (b *Bucket) MayStart() bool { return b.standing() == nil }

// Context implements execute.Sink.
func (b *Bucket) Context() context.Context { return b.Calls }

// Time implements execute.Sink.
func (b *Bucket) Time() store.Clock { return b.Clock }

// RunTx implements execute.Sink.
func (b *Bucket) RunTx(ctx context.Context, c *execute.TxCall) ([]check.Answer, error) {
	return b.calls.Run(ctx, c)
}

// CatchesUp implements execute.Sink.
func (b *Bucket) CatchesUp() bool { return b.Background }

// alone is a row to be called by itself, not before a moment.
type alone struct {
	row *check.Answered
	at  time.Time
}

// Deliver takes the answers of rows of a task, which stand with them.
func (b *Bucket) Deliver(rows ...*check.Answered) {
	for _, r := range rows {
		b.judge(r)
	}
	b.take(rows, len(rows), b.enough())
}

// judge decides what becomes of an answered row.
func (b *Bucket) judge(r *check.Answered) {
	a := &r.Answer
	now := a.Ended
	if a.Fate != check.Committed && !a.Called() {
		now = b.Clock.Now()
		if a.Started.IsZero() && !a.Lapsed() {
			a.Started = now
		}
		if a.Ended.IsZero() {
			a.Ended = now
		}
	}
	switch a.Fate {
	case check.Committed:
		r.Verdict = *a.Verdict
	case check.NotStarted, check.Again, check.Dropped:
	default:
		r.Verdict = prescient.Decide(b.Shared.Tables.Grid, r.Guards.Or(b.Shared.Guards(r.JobExec)), r.FutureJob, a.Given(), now)
	}
}

// keep counts a row that is in memory, and release one that is no more.
func (b *Bucket) keep(r *check.Answered) {
	b.streamOf(r.JobExec).count(1, r.Size())
	b.outstanding[r.JobExec]++
}

func (b *Bucket) release(r *check.Answered) {
	s := b.streamOf(r.JobExec)
	s.count(-1, -r.Size())
	if s.outstanding == 0 {
		s.count(0, -s.payload) // a stream that was split took its share of this, as estimated
	}
	b.outstanding[r.JobExec]--
	b.endWait(s)
}

// streamOf returns the stream that reads the rows of a job_exec.
func (b *Bucket) streamOf(jobExec string) *stream {
	for _, s := range b.streams[1:] {
		if s.JobExec == jobExec {
			return s
		}
	}
	return b.streams[0]
}

// sweepHurry is how many times sooner a sweep gives up on locked rows.
const sweepHurry = 10

// lockPatience is how long a bucket waits that has nothing but locked rows left. Two slots at most, so that the worker
// never has as many slots waiting as it may run at a time.
func lockPatience(lease, resolution time.Duration, background bool) time.Duration {
	d := min(lease, 2*resolution)
	if background {
		d /= sweepHurry
	}
	return d
}
