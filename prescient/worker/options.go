package worker

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"os"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
	text "prescient/sql"
)

// Defaults of Options.
const (
	DefaultConcurrency = 32
	DefaultBuckets     = 4
	DefaultFarBuckets  = 8 // at most, where the server is far away
	DefaultBatch       = 2000
	DefaultStopGrace   = 20 * time.Second
	DefaultPatience    = 2 * time.Minute
	DefaultSweepWithin = 5 * time.Minute
)

// Pace is what a slot run takes of the server.
type Pace string

const (
	// PaceNeeded begins with one bucket at a time, small commits and rests between them, and takes more where the slot would not
	// end in time.
	PaceNeeded Pace = "needed"
	// PaceFull always takes the most: for a server that is there for this alone.
	PaceFull Pace = "full"
)

// Options are for New; zero fields mean the defaults.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is [text.Auto] by default: what the server can do. [text.Plain] keeps to what servers have that are neither
	// MySQL nor MariaDB.
	Dialect text.Dialect
	// Resolution of the slots. Zero takes that of slot_config; any other must be the same.
	Resolution time.Duration
	// Registry holds the job_execs. A row whose job_exec is not in it is put off, never ended.
	Registry *prescient.Registry
	// Guards of the installation, for job_execs that have none of their own.
	Guards prescient.Guards
	// Assignment says which slots Run and Work serve; the zero value is all of them.
	Assignment slots.Assignment
	// Name of this worker in ledger and history, at most 64 characters. It must be no other's at the same time;
	// host:pid:random by default.
	Name string
	// Load is what the worker takes at a time, of this process and of the server.
	Load Load
	// Times are how long the worker keeps what it has, and waits for what it has not.
	Times Times
	// Sweep says how Work catches up.
	Sweep Sweep
	// Observer is told of slot runs and answers; nil for none.
	Observer *Observer
	// Log takes one line a slot run at info, and at warn one for each way in which a job_exec went wrong in it. Work has
	// empty slots at debug, and one line an hour instead. What is returned is not logged. The zero value is silent.
	Log zerolog.Logger
}

// Load is what a worker takes at a time, of its process and of the server.
type Load struct {
	// Concurrency is how many job_execs run at a time; 32 by default.
	Concurrency int
	// Buckets is how many buckets of a slot are worked on at a time, at most. By default 4, and one more for each ms of round trip
	// to the server, up to 8, unless the db has a limit of connections. Twice as many as a server nearby has cores is
	// about what pays.
	Buckets int
	// Batch is how many rows of a bucket are in flight at a time, which is what a worker that dies leaves to be called
	// again; 2000 by default, 20000 at most. Half of it is read and committed together: an app that cancels one of those rows
	// waits for that commit. 8000 is faster, on a server that is there for this alone.
	Batch int
	// Pace is what a slot run takes of the server: by default PaceNeeded, no more than ends the slot within FinishWithin.
	Pace Pace
	// FinishWithin is by how long after its slot a slot run is to end, for PaceNeeded: a tenth of the resolution by default,
	// between 1 s and 30 s, and never more than the resolution. A run that cannot takes all that Buckets and Batch allow.
	FinishWithin time.Duration
	// PutOffPurge is for how long the server's purge is to wait while a slot of several buckets is run: for the whole server,
	// other applications' tables too. Not at all by default, a third of Times.Lease at most. It is not put off where the db has a
	// limit of connections, while the server is behind with its purge or somebody's transaction is long, or where the account
	// may not look at that: it needs the right PROCESS.
	PutOffPurge time.Duration
}

// Times are how long a worker keeps what it has, and waits for what it has not.
type Times struct {
	// Lease is how long a worker keeps a bucket that it does not renew. It renews each lease when a third of it is over. 1 minute
	// by default, 2 s at least, MaxLease at most, of which it then takes a second less. It should be much longer than the clocks of
	// a cluster's servers are apart. The db should be opened with the same.
	Lease time.Duration
	// StopGrace is how long running job_execs may take after the context has ended; 20 s by default.
	StopGrace time.Duration
	// Patience is how long a statement is tried again while the server is away; 2 minutes by default.
	Patience time.Duration
}

// Sweep says how Work catches up with slots that are over, and have rows left.
type Sweep struct {
	// Every is how often it looks for overdue slots; 1 minute by default, negative for never.
	Every time.Duration
	// Grace is how old a slot must be; 10 s by default.
	Grace time.Duration
	// Rate bounds how many overdue rows a second are caught up; 0, the default, for no bound.
	Rate float64
	// FinishWithin is within which time all that is late is to be caught up, for PaceNeeded, once that begins: the slots of a sweep;
	// and a slot that is run late or once more, which has no longer than the resolution either. 5 minutes by default: in those the
	// first step ends a million rows, so that an app feels nothing of most outages, and who mended one is still there.
	FinishWithin time.Duration
}

// complete fills in the defaults and checks the rest.
func (o *Options) complete() error {
	o.Guards = o.Guards.Or(prescient.DefaultGuards())
	o.Load.Concurrency = cmp.Or(o.Load.Concurrency, DefaultConcurrency)
	o.Guards.Concurrency = cmp.Or(o.Guards.Concurrency, max(o.Load.Concurrency/2, 1))
	o.Load.Batch = cmp.Or(o.Load.Batch, DefaultBatch)
	o.Times.Lease = cmp.Or(o.Times.Lease, prescient.DefaultLease)
	o.Times.StopGrace = cmp.Or(o.Times.StopGrace, DefaultStopGrace)
	o.Times.Patience = cmp.Or(o.Times.Patience, DefaultPatience)
	o.Sweep.Every = cmp.Or(o.Sweep.Every, prescient.DefaultSweepEvery)
	o.Sweep.Grace = cmp.Or(o.Sweep.Grace, prescient.DefaultSweepGrace)
	o.Sweep.FinishWithin = cmp.Or(o.Sweep.FinishWithin, DefaultSweepWithin)
	if o.Name == "" {
		o.Name = NewName()
	}
	if o.Registry == nil {
		o.Registry = prescient.NewRegistry()
	}
	if err := o.Guards.Validate(); err != nil {
		return err
	}
	if err := prescient.ValidText("worker name", o.Name, 64); err != nil {
		return err
	}
	for _, r := range []struct {
		what         string
		n, low, high int64
	}{
		{"concurrency", int64(o.Load.Concurrency), 1, 10000},
		{"buckets", int64(o.Load.Buckets), 0, ledger.MaxBuckets},
		{"batch", int64(o.Load.Batch), 1, 20000},
		{"lease (ms)", o.Times.Lease.Milliseconds(), 2000, prescient.MaxLease.Milliseconds()},
		{"stop grace (ms)", o.Times.StopGrace.Milliseconds(), 1, int64(time.Hour / time.Millisecond)},
		{"patience (ms)", o.Times.Patience.Milliseconds(), 1, int64(24 * time.Hour / time.Millisecond)},
		{"finish within (ms)", o.Load.FinishWithin.Milliseconds(), 0, int64(24 * time.Hour / time.Millisecond)},
		{"sweep finish within (ms)", o.Sweep.FinishWithin.Milliseconds(), 1, int64(24 * time.Hour / time.Millisecond)},
		{"sweep grace (ms)", o.Sweep.Grace.Milliseconds(), 1, int64(24 * time.Hour / time.Millisecond)},
	} {
		if r.n < r.low || r.n > r.high {
			return fmt.Errorf("%w: worker %s %d: %d to %d are allowed", prescient.ErrInvalid, r.what, r.n, r.low, r.high)
		}
	}
	if o.Load.Pace = cmp.Or(o.Load.Pace, PaceNeeded); o.Load.Pace != PaceNeeded && o.Load.Pace != PaceFull {
		return fmt.Errorf("%w: worker pace %q: %s or %s are allowed", prescient.ErrInvalid, o.Load.Pace, PaceNeeded, PaceFull)
	}
	if o.Sweep.Rate < 0 {
		return fmt.Errorf("%w: worker sweep rate %v: positive numbers are allowed, and 0 for no bound", prescient.ErrInvalid, o.Sweep.Rate)
	}
	return nil
}

// putOff is for how long a run may put purge off. A connection that idles for nearly as long as a lease is ended by the server,
// so that a third of it is also what a frozen worker has at most.
func (o *Options) putOff() time.Duration { return min(o.Load.PutOffPurge, o.Times.Lease/3) }

// NewName returns a name that no other worker has, made of host and pid: for what needs the name of a worker before that is made.
func NewName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	if len(host) > 40 {
		host = host[:40]
	}
	random := make([]byte, 3)
	_, _ = rand.Read(random) // it never fails
	return fmt.Sprintf("%s:%d:%s", host, os.Getpid(), hex.EncodeToString(random))
}
