package forward

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"
	"golang.org/x/sync/semaphore"

	"prescient/prescient"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
	"prescient/slots"
	"prescient/sql"
)

// Defaults of Options.
const (
	DefaultLease       = 15 * time.Second
	DefaultPoll        = 250 * time.Millisecond
	DefaultConcurrency = 256
	DefaultStopGrace   = 5 * time.Second
)

// Options are for New.
type Options struct {
	// Prefix and Dialect are those of the tables; the zero values are the defaults.
	Prefix  string
	Dialect sql.Dialect
	// Routes say where events go: the first that takes a topic. Events that none takes stay in the outbox.
	Routes []Route
	// Taken is sent to when something was put into the outbox in this process, as by event.Outbox: it is published at once then. Nil is
	// allowed.
	Taken <-chan struct{}
	// Name is what the forwarder is called in the tables, up to 64 characters; prescient by default. Two may have the same.
	Name string
	// Lease is for how long shards stay those of a forwarder that is not heard of, 2 s to an hour; DefaultLease by default.
	Lease time.Duration
	// Poll is how often it looks for events that others have committed, 10 ms to a minute; DefaultPoll by default.
	Poll time.Duration
	// Concurrency is how many events of a topic are published at a time, each of another key; DefaultConcurrency by default.
	Concurrency int
	// StopGrace is how long publications may go on once Run is to end; DefaultStopGrace by default.
	StopGrace time.Duration
	// Keep has published events copied into event_published.
	Keep bool
	// Observer may be nil.
	Observer *Observer
	// Log gets a line at warn where a topic or the database fails, or an event is set aside. The zero value is silent.
	Log zerolog.Logger
}

// Observer is told what a forwarder does. Its functions may be nil, are called from several goroutines, and should return at once.
type Observer struct {
	// Published is told of events that were acknowledged and deleted, and how long after they were put into the outbox.
	Published func(topic string, delays []time.Duration)
	// Failed is told of a publication that is to be tried again, SetAside of one that was refused for good.
	Failed, SetAside func(topic string)
}

// publishTime is how long one publication may take.
const publishTime = 30 * time.Second

// mostPatience is for how long a pass waits for what it cannot have.
const mostPatience = time.Minute

// Forwarder publishes what is in the outbox. It runs once at a time.
type Forwarder struct {
	options Options
	name    string // of this process: no other has it
	tables  store.Tables
	db      *sqlx.DB
	large   *semaphore.Weighted // bytes of long payloads that are being published
	// Each run makes these anew.
	pass    *pass
	topics  *topics
	notes   *notes
	settled [settlers]chan settled
	alone   sync.WaitGroup // events that the server refuses to settle, or somebody has locked
	patient chan struct{}  // held by what sends statements about these
	readers sync.WaitGroup // of shards
	// publishing ends once publications are to end.
	publishing context.Context

	looked atomic.Int64 // when it looked at the outbox last, in nanoseconds of the unix time
	paused atomic.Bool  // nothing is published, as before the first look
	// saidPaused is whether the log says so; of the goroutine that looks.
	saidPaused bool
	mu         sync.Mutex
	running    bool
	shards     map[int]*shard
	lost       map[*shard]bool // of which something is under way still
	stopping   bool            // it takes no more
}

// mostLarge is how many bytes of long payloads are in memory at a time, whatever their topic.
const mostLarge = 64 << 20

// New makes a forwarder on a pool that was made by connect.Open, as that of a worker is. It reads slot_config. The error wraps
// prescient.ErrNotMigrated, prescient.ErrInvalid or what the server says.
func New(ctx context.Context, db *sqlx.DB, o Options) (*Forwarder, error) {
	o.Name, o.Lease, o.Poll = cmp.Or(o.Name, "prescient"), cmp.Or(o.Lease, DefaultLease), cmp.Or(o.Poll, DefaultPoll)
	o.Concurrency, o.StopGrace = cmp.Or(o.Concurrency, DefaultConcurrency), cmp.Or(o.StopGrace, DefaultStopGrace)
	if o.Observer == nil {
		o.Observer = &Observer{}
	}
	if err := validRoutes(o.Routes); err != nil {
		return nil, err
	}
	switch {
	case o.Lease < 2*time.Second || o.Lease > prescient.MaxLease:
		return nil, fmt.Errorf("%w: lease %s of a forwarder: 2s to 1h are allowed", prescient.ErrInvalid, o.Lease)
	case o.Poll < 10*time.Millisecond || o.Poll > time.Minute:
		return nil, fmt.Errorf("%w: poll %s of a forwarder: 10ms to 1m are allowed", prescient.ErrInvalid, o.Poll)
	case o.Concurrency < 1:
		return nil, fmt.Errorf("%w: concurrency %d of a forwarder: positive numbers are allowed", prescient.ErrInvalid, o.Concurrency)
	}
	o.Lease = lease.Bound(o.Lease)
	if err := prescient.ValidText("name of a forwarder", o.Name, 64); err != nil {
		return nil, err
	}
	t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
	if err != nil {
		return nil, err
	}
	return &Forwarder{options: o, name: fmt.Sprintf("%s %016x", o.Name, rand.Uint64()), tables: t, db: db, large: semaphore.NewWeighted(mostLarge)}, nil
}

// Run publishes until ctx ends. Then it lets what is under way end, for StopGrace, and gives its shards back. It returns nil once that is
// done, or an error where shards could not be given back: others take them when the lease is over.
func (f *Forwarder) Run(ctx context.Context) error { return f.run(ctx, nil) }

// RunUntilEmpty is one pass over what is in the outbox as it begins: it publishes each key's events up to the first that fails, and ends.
// What comes meanwhile is the next pass's, and shards that another forwarder has are left to that. The error wraps ErrLeft, and names the
// oldest event that failed, where events are left that could not be published; what is set aside is not left.
func (f *Forwarder) RunUntilEmpty(ctx context.Context) error {
	// In two leases one that nobody renews is over, and the shard taken. A pass that waits for a longer one has the next pile up behind it.
	return f.run(ctx, newPass(min(2*f.options.Lease, mostPatience)))
}

// begin makes what a run has of its own.
func (f *Forwarder) begin(p *pass) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running {
		return fmt.Errorf("%w: the forwarder runs already", prescient.ErrInvalid)
	}
	f.running, f.stopping, f.pass = true, false, p
	f.paused.Store(true)
	f.saidPaused = false
	f.topics, f.notes, f.settled = newTopics(f.options.Concurrency), newNotes(f.sendNote, f.options.Log), newSettled(f.options.Concurrency)
	f.patient = make(chan struct{}, mostPatient)
	f.shards, f.lost = make(map[int]*shard), make(map[*shard]bool)
	return nil
}

func (f *Forwarder) ends() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = false
	f.looked.Store(0)
}

func (f *Forwarder) run(ctx context.Context, p *pass) error {
	if err := f.begin(p); err != nil {
		return err
	}
	defer f.ends()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	publishing, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	f.publishing = publishing
	var keeping, settling sync.WaitGroup
	kept := make(chan struct{})
	keeping.Go(func() { f.keepShards(kept) })
	noted := make(chan struct{})
	var noting sync.WaitGroup
	noting.Go(func() { f.notes.keep(f.publishing, noted) })
	for _, some := range f.settled {
		settling.Go(func() { f.settleAll(some) })
	}
	left := f.watch(ctx)
	stop()

	var ended sync.WaitGroup
	for _, s := range f.stop() {
		ended.Go(func() { s.end() })
	}
	grace := time.AfterFunc(f.options.StopGrace, cut)
	ended.Wait()
	grace.Stop()
	cut()
	f.readers.Wait()
	close(kept)
	keeping.Wait()
	for _, some := range f.settled {
		close(some)
	}
	settling.Wait()
	f.alone.Wait()
	close(noted)
	noting.Wait()
	return errors.Join(left, f.leave())
}

// held are the shards that this forwarder has.
func (f *Forwarder) held() []*shard {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := make([]*shard, 0, len(f.shards))
	for _, s := range f.shards {
		all = append(all, s)
	}
	return all
}

// stop takes no more shards, and returns those that there are, and those that were lost and have something under way.
func (f *Forwarder) stop() []*shard {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopping = true
	return slices.AppendSeq(slices.Collect(maps.Values(f.shards)), maps.Keys(f.lost))
}

func (f *Forwarder) isStopping() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopping
}

// soonest is the shortest time between two looks.
const soonest = 10 * time.Millisecond

// restOf is how long the rest is after a look or a read that took a time: an app's old snapshot keeps what was deleted, and the server passes
// over all of it each time.
func restOf(took time.Duration) time.Duration { return min(9*took, longestRest) }

// watch looks which shards have events, and has them read, until ctx ends or the pass is over. It returns why events are left that a
// pass could not publish.
func (f *Forwarder) watch(ctx context.Context) error {
	pause, trouble := f.options.Poll, store.NewBackOff()
	for {
		began := time.Now()
		some, err := f.look(ctx)
		f.looked.Store(time.Now().UnixNano())
		if f.pass != nil {
			f.pass.meets("the outbox could not be looked at", err)
			if over, left := f.passIsOver(ctx, some); over {
				return left
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			pause = trouble.NextBackOff()
			f.options.Log.Warn().Err(err).Msg("the outbox cannot be looked at; this is tried again")
		default:
			trouble.Reset()
			pause = min(2*pause, f.options.Poll)
			f.wake(some)
			_ = store.Sleep(ctx, restOf(time.Since(began))-pause) // an error is that ctx ended, which the next look tells
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-f.options.Taken:
			// What was put in there commits soon.
			pause = soonest / 2
			_ = store.Sleep(ctx, soonest) // an error is that ctx ended, which the next look tells
		}
		timer.Stop()
	}
}

// Alive returns an error where Run looks at the outbox no more, though it has not ended.
func (f *Forwarder) Alive() error {
	if last := f.looked.Load(); last != 0 && time.Since(time.Unix(0, last)) > f.options.Poll+f.statementTime()+time.Minute {
		return fmt.Errorf("the outbox was looked at last at %s", slots.Stamp(time.Unix(0, last)))
	}
	return nil
}

// look returns the shards that have events, with the first of each, and takes note of whether they are paused. A pass looks first what it
// is over.
func (f *Forwarder) look(ctx context.Context) (some []waiting, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.statementTime())
	defer cancel()
	if err := f.beginPass(ctx); err != nil {
		return nil, err
	}
	if err = f.db.SelectContext(ctx, &some, f.tables.Stmt.Get("event/waiting"), prescient.AllExecs, prescient.AllEvents); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(some, func(w waiting) bool { return w.Shard == ofPauses })
	if i < 0 {
		return nil, errors.New("whether events are paused cannot be seen")
	}
	f.pause(some[i].Seq > 0)
	return slices.Delete(some, i, i+1), nil
}

// ofPauses is what stands in place of a shard where a look counts pauses.
const ofPauses = -1

// pause publishes nothing more, or goes on. What a broker has in hand it may acknowledge.
func (f *Forwarder) pause(paused bool) {
	f.paused.Store(paused)
	switch {
	case paused && !f.saidPaused:
		f.options.Log.Info().Msg("events are paused: none is published until resume --all or resume --events")
	case !paused && f.saidPaused:
		f.options.Log.Info().Msg("events are not paused any more")
	}
	f.saidPaused = paused
}

func (f *Forwarder) wake(some []waiting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range some {
		if s := f.shards[w.Shard]; s != nil {
			s.wakeUp()
		}
	}
}

func (f *Forwarder) statementTime() time.Duration { return store.StatementTime(f.options.Lease) }

// sendNote sends a statement of notes.
func (f *Forwarder) sendNote(statement string, pairs ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), f.statementTime())
	defer cancel()
	_, err := f.db.ExecContext(ctx, f.tables.Fill(statement, pairs...))
	return err
}
