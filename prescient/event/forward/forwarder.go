package forward

import (
	"cmp"
	"context"
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
	"prescient/prescient/event/broker"
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

// settlers is how many transactions delete at a time, each events of other shards: a broker that acknowledges faster than the server
// commits waits for them.
const settlers = 2

// Observer is told what a forwarder does. Its functions may be nil, are called from several goroutines, and should return at once.
type Observer struct {
	// Published is told of events that were acknowledged and deleted, and how long after they were put into the outbox.
	Published func(topic string, delays []time.Duration)
	// Failed is told of a publication that is to be tried again, SetAside of one that was refused for good.
	Failed, SetAside func(topic string)
	// Publishing is told of each message before it goes to its broker, and what it returns, which is not nil, of what came of that.
	Publishing func(m broker.Message) (published func(error))
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

// held are the shards that this forwarder has.
func (f *Forwarder) held() []*shard {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Values(f.shards))
}

func (f *Forwarder) isStopping() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stopping
}

// restOf is how long the rest is after a look or a read that took a time: an app's old snapshot keeps what was deleted, and the server passes
// over all of it each time.
func restOf(took time.Duration) time.Duration { return min(9*took, longestRest) }

// Alive returns an error where Run looks at the outbox no more, though it has not ended.
func (f *Forwarder) Alive() error {
	if last := f.looked.Load(); last != 0 && time.Since(time.Unix(0, last)) > f.options.Poll+f.statementTime()+time.Minute {
		return fmt.Errorf("the outbox was looked at last at %s", slots.Stamp(time.Unix(0, last)))
	}
	return nil
}

func (f *Forwarder) statementTime() time.Duration { return store.StatementTime(f.options.Lease) }

// sendNote sends a statement of notes.
func (f *Forwarder) sendNote(statement string, pairs ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), f.statementTime())
	defer cancel()
	_, err := f.db.ExecContext(ctx, f.tables.Fill(statement, pairs...))
	return err
}

// forget has a shard be nobody's here.
func (f *Forwarder) forget(s *shard) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.shards[s.number] == s {
		delete(f.shards, s.number)
	}
}

// outlives keeps a shard that was lost among those that are waited for at the end, until nothing of it is under way any more.
func (f *Forwarder) outlives(s *shard) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lost[s] = true
	go func() {
		s.busy.Wait()
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.lost, s)
	}()
}

// noteFailure has it written down, every so often, why a topic fails.
func (f *Forwarder) noteFailure(t *topic, one row, why error) {
	if !t.notesFailure(time.Now()) {
		return
	}
	f.options.Log.Warn().Err(why).Str("topic", one.Topic).Str("event", one.ID).Msg("an event could not be published")
	f.notes.failed(one.Topic, one.ID, why)
}

// settled is an event that the broker has acknowledged, or refused for good.
type settled struct {
	shard  *shard
	row    row
	at     time.Time // here
	delay  time.Duration
	reason error
}
