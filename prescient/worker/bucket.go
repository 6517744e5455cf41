package worker

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

// stream reads the rows of a bucket in the order of their keys. A bucket starts with one that all job_execs share; one
// that is slow gets a stream of its own, so that the rest is not held up behind its rows.
type stream struct {
	jobExec     string // empty for the shared stream, which leaves out those that have their own
	next        prescient.Key
	dry         bool
	crowd       *crowd // of jobExec
	lingers     bool   // its bucket does, for its rows
	waits       bool   // there is something to be read, and no room for it
	limit       int    // rows to be asked for; 0 for a first read
	outstanding int    // rows that were read and not committed
	payload     int    // bytes of theirs, about, with that of their errors
}

// count counts rows in memory, and the bytes of what may be large in them, or takes them off the count.
func (s *stream) count(rows, bytes int) {
	s.outstanding += rows
	s.payload += bytes
	if s.crowd != nil {
		s.crowd.add(rows, bytes)
	}
}

// flushEvery is how long an answer waits for company before it is committed, and how long rows of one job_exec may
// hold up the others.
const flushEvery = 100 * time.Millisecond

// options are what one bucket is run with.
type options struct {
	lease      *ledger.Lease
	buckets    int // of its slot
	clock      store.Clock
	calls      context.Context                           // of the job_execs; ends when nothing of them is wanted any more
	stop       <-chan struct{}                           // closed when nothing new is to be started
	pace       func(ctx context.Context, rows int) error // called before each read; nil for at once
	background bool                                      // it catches up: what is due now comes first
	paused     store.Pauses                              // their rows are put off, uncalled
	hidden     *atomic.Bool                              // in this slot a commit waited for locks that do not show by the primary key
	wary       bool                                      // it was given back unfinished before: locked rows are left alone
	mayWait    func(rows int) bool                       // whether to wait for locked rows: false where too many buckets do already
	onLinger   func()                                    // has another bucket run meanwhile; nil where there is nobody to tell
	onCalled   func()                                    // is told once that all rows were called; nil where nobody wants to know
}

// bucketRun runs one bucket under its lease. Its own goroutine reads and commits; the executor's goroutines deliver.
type bucketRun struct {
	shared *shared
	options
	session *commit.Session
	careful bool // row by row, the attempt recorded: the bucket was taken over twice
	batch   int  // rows that are read and committed together
	window  int  // rows in memory, of each stream: two such batches, one of which is read while the other runs
	reads
	locks
	inbox
	alone      []alone // called again, each in a transaction of its own
	hasTx      bool    // there are rows of a TxFunc: its transactions hold locks for as long as they run
	figures    books.Figures
	cutOff     bool // rows were left unstarted, since the worker stops or the lease ended
	apart      int  // rows that were set apart, since their batch could not be committed with them
	lingering  bool // it waits for what takes its time, and another has its place
	crowdedOut bool // there is no room for it to wait in
}

// reads is how far the bucket was read.
type reads struct {
	last        prescient.Key
	streams     []*stream      // the shared one first
	outstanding map[string]int // by job_exec
	seq         uint64         // of the row read last
	reading     *reading       // nil where none is under way
	readNext    int            // the stream to be read next, among those that have room
}

// locks are the answers that wait for rows which somebody else has locked.
type locks struct {
	held      []*check.Answered // tried again at retryAt
	retryAt   time.Time
	retryIn   time.Duration // grows while they stay contested
	locked    int           // rows in memory that somebody else had locked, or that could not be written
	patience  time.Duration // how long to wait when only those are left
	waitUntil time.Time     // until when, once it came to that
}

// newBucket returns the run of a bucket.
func newBucket(of *shared, o options) *bucketRun {
	first, last := store.BucketRange(o.lease.Bucket, o.buckets)
	b := &bucketRun{shared: of, options: o, session: &commit.Session{Writer: of.Writer, Lease: o.lease, Clock: o.clock, Calls: o.calls},
		careful: o.lease.Takeovers >= 2, batch: max(of.batch/2, 1), window: of.batch,
		reads: reads{last: last, streams: []*stream{{next: first}}, outstanding: make(map[string]int)},
		locks: locks{patience: lockPatience(of.Ledger.TTL, of.Tables.Grid.Resolution(), o.background)}, inbox: inbox{wake: make(chan struct{}, 1)}}
	if b.careful {
		b.batch, b.window = 1, 1
		return b
	}
	for _, l := range of.executor.Order {
		if crowd := of.crowds[l.Name]; crowd.backedUp(l.Guards.Concurrency) && !b.paused[l.Name] {
			b.streams = append(b.streams, &stream{jobExec: l.Name, crowd: crowd, next: first})
		}
	}
	return b
}

// MayStart says whether a call may still be started.
func (b *bucketRun) MayStart() bool {
	select {
	case <-b.stop:
		return false
	default:
		return b.lease.Alive(time.Now())
	}
}

// Context implements sink.
func (b *bucketRun) Context() context.Context { return b.calls }

// Time implements sink.
func (b *bucketRun) Time() store.Clock { return b.clock }

// RunTx implements sink.
func (b *bucketRun) RunTx(ctx context.Context, t *execute.Task) ([]check.Answer, error) {
	return b.session.RunTx(ctx, t)
}

// CatchesUp implements sink.
func (b *bucketRun) CatchesUp() bool { return b.background }

// alone is a row to be called by itself, not before a moment.
type alone struct {
	row *check.Answered
	at  time.Time
}

// Deliver takes the answers of rows of a task, which stand with them.
func (b *bucketRun) Deliver(rows ...*check.Answered) {
	for _, r := range rows {
		b.judge(r)
	}
	b.take(rows, len(rows), b.batch)
}

// judge decides what becomes of an answered row.
func (b *bucketRun) judge(r *check.Answered) {
	a := &r.Answer
	now := a.Ended
	if a.Fate != check.Committed && !a.Called() {
		now = b.clock.Now()
		if a.Started.IsZero() {
			a.Started, a.Ended = now, now
		}
	}
	switch a.Fate {
	case check.Committed:
		r.Verdict = *a.Verdict
	case check.NotStarted, check.Again, check.Dropped:
	default:
		r.Verdict = prescient.Decide(b.shared.Tables.Grid, b.shared.guards(r.JobExec), r.FutureJob, a.Given(), now)
	}
}

// run works until the bucket is dry. It returns errLeaseLost, errStopped, errRowsLocked or errCrowdedOut where it had to
// leave rows behind; what was answered until then is committed, but in the first case.
func (b *bucketRun) run(ctx context.Context) error {
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
			return b.leave(ctx, errCrowdedOut)
		}
		b.startAlone()
		read, err := b.read(ctx)
		if err != nil {
			return b.leave(ctx, err)
		}
		if b.onCalled != nil && b.allCalled() {
			b.onCalled()
			b.onCalled = nil
		}
		committed, err := b.commitReady(ctx, false)
		if err != nil {
			return err
		}
		if b.finished() {
			return b.outcome()
		}
		if b.onlyLocked() && !b.waitForLocks(time.Now()) {
			return b.leaveLocked(ctx)
		}
		if !read && !committed {
			b.wait()
		}
	}
}

// outcome is nil where every row that was read was answered. Rows that were not started any more are left behind.
func (b *bucketRun) outcome() error {
	if !b.cutOff && b.figures.Locked+b.figures.Stuck > 0 {
		return errRowsLocked
	}
	if !b.cutOff {
		return nil
	}
	if err := b.standing(); err != nil {
		return err
	}
	return errStopped
}

// standing says whether the bucket is still to be worked on.
func (b *bucketRun) standing() error {
	select {
	case <-b.stop:
		return errStopped
	default:
	}
	if !b.lease.Alive(time.Now()) {
		return ledger.ErrLost
	}
	return nil
}

// leave waits for what is running, and commits what is answered, unless the lease is lost: then there is nothing to
// commit under.
func (b *bucketRun) leave(ctx context.Context, cause error) error {
	if errors.Is(cause, ledger.ErrLost) {
		return cause
	}
	b.stopReading()
	for b.calls.Err() == nil && b.stillFlying() && b.lease.Alive(time.Now()) {
		if _, err := b.commitReady(ctx, false); err != nil {
			return err
		}
		b.wait()
	}
	if _, err := b.commitReady(ctx, true); err != nil {
		return err
	}
	return cause
}

func (b *bucketRun) finished() bool {
	if len(b.held) > 0 || slices.ContainsFunc(b.streams, func(s *stream) bool { return !s.dry || s.outstanding > 0 }) {
		return false
	}
	return true
}

// wait sleeps until there is something to do: answers, a stop, or the moment to look at what is slow.
func (b *bucketRun) wait() {
	timer := time.NewTimer(b.flushAfter())
	defer timer.Stop()
	select {
	case <-b.wake:
	case <-timer.C:
		b.split()
		b.giveWay()
	case <-b.calls.Done():
	}
}

// keep counts a row that is in memory, and release one that is no more.
func (b *bucketRun) keep(r *check.Answered) {
	b.streamOf(r.JobExec).count(1, r.Size())
	b.outstanding[r.JobExec]++
}

func (b *bucketRun) release(r *check.Answered) {
	s := b.streamOf(r.JobExec)
	s.count(-1, -r.Size())
	if s.outstanding == 0 {
		s.count(0, -s.payload) // a stream that was split took its share of this, as estimated
	}
	b.outstanding[r.JobExec]--
}

// streamOf returns the stream that reads the rows of a job_exec.
func (b *bucketRun) streamOf(jobExec string) *stream {
	for _, s := range b.streams[1:] {
		if s.jobExec == jobExec {
			return s
		}
	}
	return b.streams[0]
}
