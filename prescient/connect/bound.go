package connect

import (
	"context"
	"database/sql/driver"
	"fmt"
	"slices"
	"sync"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// How many connections a pool of Open has at most, unless told otherwise, and how many of them are kept for statements of leases,
// heartbeats and commits.
const (
	DefaultConnections = 40
	keptConnections    = 8
	// LeastConnections and MostConnections bound what a pool may be told.
	LeastConnections, MostConnections = 8, 10_000
)

// ErrNoConnection is that of a statement which waited in vain for one of the pool's connections.
var ErrNoConnection = errno.ErrNoConnection

// bounded keeps the connections of a pool: database/sql keeps none, and takes and returns one for each statement or transaction. It
// does what the pool of database/sql does not: what is vital has places of its own and goes first, whoever waits does so for a bounded
// time, and a session that executes a statement which was given up has its place until it is gone.
type bounded struct {
	*hosts
	most, kept int
	patience   time.Duration // for how long a statement waits
	keepFor    time.Duration // for how long a connection is kept that nobody uses
	ghostFor   time.Duration // for how long a session may live whose statement was given up

	mu      sync.Mutex
	taken   int           // places of statements and of ghosts; with those that are idle never more than most
	idle    []*hostConn   // the one that was used last comes last
	queues  [2]queue      // of those that wait: the vital ones, the others
	cleaner *time.Timer   // closes what was idle for long; nil while there is none
	closed  chan struct{} // once the pool is
}

// queue are those that wait for a place. Each channel is closed when it has one.
type queue []chan struct{}

const vital, others = 0, 1

func newBounded(h *hosts, most int, lease, keepFor time.Duration) *bounded {
	return &bounded{hosts: h, most: most, kept: min(keptConnections, most/2), patience: store.StatementTime(lease), keepFor: keepFor,
		ghostFor: tableWait(lease) + time.Second, closed: make(chan struct{})}
}

// Connect implements driver.Connector.
func (b *bounded) Connect(ctx context.Context) (driver.Conn, error) {
	who := others
	if store.IsVital(ctx) {
		who = vital
	}
	if err := b.place(ctx, who); err != nil {
		return nil, err
	}
	for {
		conn := b.used()
		if conn == nil {
			break
		}
		if conn.ResetSession(ctx) == nil {
			return &lent{hostConn: conn, pool: b}, nil
		}
		_ = conn.Close() // it is of no use
	}
	conn, err := b.hosts.Connect(ctx)
	if err != nil {
		b.leave()
		return nil, err
	}
	return &lent{hostConn: conn.(*hostConn), pool: b}, nil
}

// limit is how many places may be taken by those of a queue. The last one is for ending ghosts.
func (b *bounded) limit(who int) int {
	if who == vital {
		return b.most - 1
	}
	return b.most - b.kept
}

// place takes a place, and waits for it.
func (b *bounded) place(ctx context.Context, who int) error {
	b.mu.Lock()
	if len(b.queues[who]) == 0 && b.taken < b.limit(who) {
		b.taken++
		b.mu.Unlock()
		return nil
	}
	has := make(chan struct{})
	b.queues[who] = append(b.queues[who], has)
	b.mu.Unlock()
	timer := time.NewTimer(b.patience)
	defer timer.Stop()
	began := time.Now()
	var why error
	select {
	case <-has:
		return nil
	case <-ctx.Done():
		why = ctx.Err()
	case <-timer.C:
		why = context.DeadlineExceeded
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if i := slices.Index(b.queues[who], has); i >= 0 {
		b.queues[who] = slices.Delete(b.queues[who], i, i+1)
	} else { // it has come meanwhile
		b.taken--
		b.next()
	}
	return fmt.Errorf("%w within %s: %d of the pool's %d are in use, and %d are kept for leases, heartbeats and commits: %w", ErrNoConnection,
		time.Since(began).Round(time.Millisecond), b.taken, b.most, b.kept, why)
}

// next gives free places to those that wait. The lock is held.
func (b *bounded) next() {
	for who := range b.queues {
		for len(b.queues[who]) > 0 && b.taken < b.limit(who) {
			b.taken++
			close(b.queues[who][0])
			b.queues[who] = b.queues[who][1:]
		}
	}
}

// leave gives a place back.
func (b *bounded) leave() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken--
	b.next()
}

// used takes the connection that was used last out of those that are idle; nil where there is none.
func (b *bounded) used() *hostConn {
	b.mu.Lock()
	defer b.mu.Unlock()
	last := len(b.idle) - 1
	if last < 0 {
		return nil
	}
	conn := b.idle[last]
	b.idle = b.idle[:last]
	return conn
}

// put takes a connection back.
func (b *bounded) put(conn *hostConn) {
	conn.idleSince = time.Now()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.taken--
	select {
	case <-b.closed:
		go conn.Close()
	default:
		b.idle = append(b.idle, conn)
		if b.cleaner == nil {
			b.cleaner = time.AfterFunc(b.keepFor, b.clean)
		}
	}
	b.next()
}

// drop closes a connection that is of no use any more. The place of a statement that the server may execute still is given back later.
func (b *bounded) drop(conn *hostConn) error {
	if conn.stale {
		b.flush(time.Now()) // the others are likely to be as it is
	}
	err := conn.Close()
	if conn.gaveUp && b.hosts.current(conn.epoch) {
		go b.outlive(conn)
		return err
	}
	b.leave()
	return err
}

// outlive gives the place of a ghost back once it is gone.
func (b *bounded) outlive(conn *hostConn) {
	defer b.leave()
	timer := time.NewTimer(b.ghostFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-b.closed:
	}
}

// clean closes what has been idle for long.
func (b *bounded) clean() {
	b.flush(time.Now().Add(-b.keepFor))
	b.mu.Lock()
	defer b.mu.Unlock()
	b.cleaner = nil
	if len(b.idle) > 0 {
		b.cleaner = time.AfterFunc(b.keepFor-time.Since(b.idle[0].idleSince), b.clean)
	}
}

// flush closes connections that nobody has used since.
func (b *bounded) flush(since time.Time) {
	b.mu.Lock()
	n := 0
	for n < len(b.idle) && !b.idle[n].idleSince.After(since) {
		n++
	}
	old := slices.Clone(b.idle[:n])
	b.idle = slices.Delete(b.idle, 0, n)
	b.mu.Unlock()
	for _, conn := range old {
		_ = conn.Close() // there is nothing to be done about an error
	}
}

// Close implements io.Closer: the pool calls it when it is closed.
func (b *bounded) Close() error {
	b.mu.Lock()
	if b.cleaner != nil {
		b.cleaner.Stop()
		b.cleaner = nil
	}
	select {
	case <-b.closed:
	default:
		close(b.closed)
	}
	b.mu.Unlock()
	b.flush(time.Now())
	return nil
}

// lent is a connection for as long as database/sql has it.
type lent struct {
	*hostConn
	pool *bounded
	fine bool // it came back as it should
	over bool
}

// IsValid implements driver.Validator: database/sql asks when the connection comes back, unless it was told to drop it.
func (l *lent) IsValid() bool {
	l.fine = l.hostConn.IsValid()
	return l.fine
}

// Close implements driver.Conn: the connection goes back.
func (l *lent) Close() error {
	if l.over {
		return nil
	}
	l.over = true
	if l.fine {
		l.pool.put(l.hostConn)
		return nil
	}
	return l.pool.drop(l.hostConn)
}
