package bucket

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"

	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"
)

// Stream reads the rows of a bucket in the order of their keys. A bucket starts with one that all job_execs share; one
// that is slow gets a stream of its own, so that the rest is not held up behind its rows.
type Stream struct {
	JobExec     string // empty for the shared stream, which leaves out those that have their own
	next        prescient.Key
	dry         bool
	crowd       *Crowd // of jobExec
	lingers     bool   // its bucket does, for its rows
	waits       bool   // there is something to be read, and no room for it
	limit       int    // rows to be asked for; 0 for a first read
	Outstanding int    // rows that were read and not committed
	payload     int    // bytes of theirs, about, with that of their errors
}

// count counts rows in memory, and the bytes of what may be large in them, or takes them off the count.
func (s *Stream) count(rows, bytes int) {
	s.Outstanding += rows
	s.payload += bytes
	if s.crowd != nil {
		s.crowd.add(rows, bytes)
	}
}

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
	Pace       func(ctx context.Context, rows int) error // called before each read; nil for at once
	Background bool                                      // it catches up: what is due now comes first
	Paused     store.Pauses                              // their rows are put off, uncalled
	Hidden     *atomic.Bool                              // in this slot a commit waited for locks that do not show by the primary key
	Wary       bool                                      // it was given back unfinished before: locked rows are left alone
	MayWait    func(rows int) bool                       // whether to wait for locked rows: false where too many buckets do already
	OnLinger   func()                                    // has another bucket run meanwhile; nil where there is nobody to tell
	OnCalled   func()                                    // is told once that all rows were called; nil where nobody wants to know
}

// Bucket runs one bucket under its lease. Its own goroutine reads and commits; the executor's goroutines deliver.
type Bucket struct {
	Shared *Shared
	Options
	Session *commit.Session
	careful bool // row by row, the attempt recorded: the bucket was taken over twice
	Batch   int  // rows that are read and committed together
	window  int  // rows in memory, of each stream: two such batches, one of which is read while the other runs
	Reads
	locks
	Inbox
	alone      []alone // called again, each in a transaction of its own
	hasTx      bool    // there are rows of a TxFunc: its transactions hold locks for as long as they run
	Figures    books.Figures
	cutOff     bool // rows were left unstarted, since the worker stops or the lease ended
	apart      int  // rows that were set apart, since their batch could not be committed with them
	lingering  bool // it waits for what takes its time, and another has its place
	crowdedOut bool // there is no room for it to wait in
}

// Reads is how far the bucket was read.
type Reads struct {
	Last        prescient.Key
	Streams     []*Stream      // the shared one first
	Outstanding map[string]int // by job_exec
	seq         uint64         // of the row read last
	reading     *reading       // nil where none is under way
	readNext    int            // the stream to be read next, among those that have room
}

// locks are the answers that wait for rows which somebody else has locked.
type locks struct {
	Contested []*check.Answered // tried again at retryAt
	RetryAt   time.Time
	retryIn   time.Duration // grows while they stay contested
	locked    int           // rows in memory that somebody else had locked, or that could not be written
	waitFor   time.Duration // how long to wait when only those are left
	waitUntil time.Time     // until when, once it came to that
}

// New returns the run of a bucket.
func New(of *Shared, o Options) *Bucket {
	first, last := store.BucketRange(o.Lease.Bucket, o.Buckets)
	b := &Bucket{Shared: of, Options: o, Session: &commit.Session{Writer: of.Writer, Lease: o.Lease, Clock: o.Clock, Calls: o.Calls},
		careful: o.Lease.Takeovers >= 2, Batch: max(of.Batch/2, 1), window: of.Batch,
		Reads: Reads{Last: last, Streams: []*Stream{{next: first}}, Outstanding: make(map[string]int)},
		locks: locks{waitFor: LockPatience(of.Ledger.TTL, of.Tables.Grid.Resolution(), o.Background)}, Inbox: Inbox{Wake: make(chan struct{}, 1)}}
	if b.careful {
		b.Batch, b.window = 1, 1
		return b
	}
	for _, l := range of.Executor.Order {
		if crowd := of.Crowds[l.Name]; crowd.backedUp(l.Guards.Concurrency) && !b.Paused[l.Name] {
			b.Streams = append(b.Streams, &Stream{JobExec: l.Name, crowd: crowd, next: first})
		}
	}
	return b
}

// MayStart says whether a call may still be started.
func (b *Bucket) MayStart() bool {
	select {
	case <-b.Stop:
		return false
	default:
		return b.Lease.Alive(time.Now())
	}
}

// Context implements sink.
func (b *Bucket) Context() context.Context { return b.Calls }

// Time implements sink.
func (b *Bucket) Time() store.Clock { return b.Clock }

// RunTx implements sink.
func (b *Bucket) RunTx(ctx context.Context, t *execute.Task) ([]check.Answer, error) {
	return b.Session.RunTx(ctx, t)
}

// CatchesUp implements sink.
func (b *Bucket) CatchesUp() bool { return b.Background }

// alone is a row to be called by itself, not before a moment.
type alone struct {
	row *check.Answered
	at  time.Time
}

// Deliver takes the answers of rows of a task, which stand with them.
func (b *Bucket) Deliver(rows ...*check.Answered) {
	for _, r := range rows {
		b.Judge(r)
	}
	b.take(rows, len(rows), b.Batch)
}

// Judge decides what becomes of an answered row.
func (b *Bucket) Judge(r *check.Answered) {
	a := &r.Answer
	now := a.Ended
	if a.Fate != check.Committed && !a.Called() {
		now = b.Clock.Now()
		if a.Started.IsZero() {
			a.Started, a.Ended = now, now
		}
	}
	switch a.Fate {
	case check.Committed:
		r.Verdict = *a.Verdict
	case check.NotStarted, check.Again, check.Dropped:
	default:
		r.Verdict = prescient.Decide(b.Shared.Tables.Grid, b.Shared.Guards(r.JobExec), r.FutureJob, a.Given(), now)
	}
}

// Run works until the bucket is dry. It returns errLeaseLost, errStopped, errRowsLocked or errCrowdedOut where it had to
// leave rows behind; what was answered until then is committed, but in the first case.
func (b *Bucket) Run(ctx context.Context) error {
	if err := b.endKiller(ctx); err != nil {
		return err
	}
	defer b.stopLingering()
	defer b.stopReading()
	for {
		if err := b.standing(); err != nil {
			return b.leave(ctx, err)
		}
		if b.crowdedOut {
			return b.leave(ctx, ErrCrowdedOut)
		}
		b.startAlone()
		read, err := b.Read(ctx)
		if err != nil {
			return b.leave(ctx, err)
		}
		if b.OnCalled != nil && b.allCalled() {
			b.OnCalled()
			b.OnCalled = nil
		}
		committed, err := b.CommitReady(ctx, false)
		if err != nil {
			return err
		}
		if b.Finished() {
			return b.Outcome()
		}
		if b.onlyLocked() && !b.waitForLocks(time.Now()) {
			return b.leaveLocked(ctx)
		}
		if !read && !committed {
			b.wait()
		}
	}
}

// Outcome is nil where every row that was read was answered. Rows that were not started any more are left behind.
func (b *Bucket) Outcome() error {
	if !b.cutOff && b.Figures.Locked+b.Figures.Stuck > 0 {
		return ErrRowsLocked
	}
	if !b.cutOff {
		return nil
	}
	if err := b.standing(); err != nil {
		return err
	}
	return ErrStopped
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

// leave waits for what is running, and commits what is answered, unless the lease is lost: then there is nothing to
// commit under.
func (b *Bucket) leave(ctx context.Context, cause error) error {
	if errors.Is(cause, ledger.ErrLost) {
		return cause
	}
	b.stopReading()
	for b.Calls.Err() == nil && b.StillFlying() && b.Lease.Alive(time.Now()) {
		if _, err := b.CommitReady(ctx, false); err != nil {
			return err
		}
		b.wait()
	}
	if _, err := b.CommitReady(ctx, true); err != nil {
		return err
	}
	return cause
}

func (b *Bucket) Finished() bool {
	if len(b.Contested) > 0 || slices.ContainsFunc(b.Streams, func(s *Stream) bool { return !s.dry || s.Outstanding > 0 }) {
		return false
	}
	return true
}

// wait sleeps until there is something to do: answers, a stop, or the moment to look at what is slow.
func (b *Bucket) wait() {
	timer := time.NewTimer(b.flushAfter())
	defer timer.Stop()
	select {
	case <-b.Wake:
	case <-timer.C:
		b.split()
		b.giveWay()
	case <-b.Calls.Done():
	}
}

// keep counts a row that is in memory, and release one that is no more.
func (b *Bucket) keep(r *check.Answered) {
	b.streamOf(r.JobExec).count(1, r.Size())
	b.Outstanding[r.JobExec]++
}

func (b *Bucket) release(r *check.Answered) {
	s := b.streamOf(r.JobExec)
	s.count(-1, -r.Size())
	if s.Outstanding == 0 {
		s.count(0, -s.payload) // a stream that was split took its share of this, as estimated
	}
	b.Outstanding[r.JobExec]--
}

// streamOf returns the stream that reads the rows of a job_exec.
func (b *Bucket) streamOf(jobExec string) *Stream {
	for _, s := range b.Streams[1:] {
		if s.JobExec == jobExec {
			return s
		}
	}
	return b.Streams[0]
}
