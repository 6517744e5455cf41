package forward

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

const (
	// longestRest is the longest rest after a read that found nothing new.
	longestRest = 5 * time.Second
	// firstHold and lastHold are how long a key waits after its event failed.
	firstHold, lastHold = time.Second, 30 * time.Second
	// never is how long it waits in a pass.
	never = 365 * 24 * time.Hour
)

// shard is a shard that this forwarder has.
type shard struct {
	forwarder *Forwarder
	number    int
	token     uint64
	ctx       context.Context // of its publications
	cancel    context.CancelFunc
	woken     bell.Bell
	stopped   chan struct{} // closed once nothing more is to begin

	term    lease.Term
	mu      sync.Mutex
	ended   bool
	known   map[uint64]bool // events that were read; true once they were deleted, when a read that began before still shows them
	crowd   crowd           // of known, those that are not deleted
	chains  map[chain][]row // those with an event under way, and what comes after it
	holds   map[chain]*hold
	further bool           // there are more than were read
	busy    sync.WaitGroup // publications, and what is to be deleted
}

// hold is a chain that waits after a failure.
type hold struct {
	until time.Time
	waits *backoff.ExponentialBackOff
}

func newShard(f *Forwarder, l holder, asked time.Time) *shard {
	s := &shard{forwarder: f, number: l.Shard, token: l.Token, woken: bell.New(), stopped: make(chan struct{}),
		known: make(map[uint64]bool), chains: make(map[chain][]row), holds: make(map[chain]*hold), crowd: newCrowd()}
	s.term.Begin(asked, f.options.Lease)
	s.ctx, s.cancel = context.WithCancel(f.publishing)
	return s
}

// Renewed implements lease.Held.
func (s *shard) Renewed(asked time.Time) { s.term.Renewed(asked) }

// Gone implements lease.Held.
func (s *shard) Gone() { s.lose("another forwarder has it by now") }

// run reads and publishes until the shard is given up or lost.
func (s *shard) run() {
	trouble := store.NewBackOff()
	for {
		select {
		case <-s.stopped:
			return
		case <-s.ctx.Done():
			return
		case <-s.woken:
		}
		rest := time.Duration(0)
		for {
			began := time.Now()
			fresh, more, err := s.fill()
			s.forwarder.pass.meets(fmt.Sprintf("events of shard %d could not be read", s.number), err)
			if err != nil {
				rest = trouble.NextBackOff()
				if s.ctx.Err() == nil {
					s.forwarder.options.Log.Warn().Err(err).Int("shard", s.number).Msg("events could not be read; this is tried again")
				}
				s.woken.Ring()
				break
			}
			trouble.Reset()
			if fresh == 0 {
				rest = restOf(time.Since(began))
			}
			if !more || fresh == 0 {
				break
			}
		}
		if rest > 0 {
			_ = store.Sleep(s.ctx, rest) // an error is that ctx ended, which the select tells
		}
	}
}

// fill reads the first events of the shard and publishes those that are new. It says how many these were, and whether there may be more
// for which there is room.
func (s *shard) fill() (fresh int, more bool, err error) {
	but, room, whole := s.leftOut(time.Now())
	if !room || s.forwarder.paused.Load() {
		return 0, false, nil
	}
	if pass := s.forwarder.pass; pass != nil {
		upTo, is := pass.upTo(s.number)
		if !is {
			return 0, false, nil
		}
		but += upTo
		defer func() {
			if whole && fresh == 0 && err == nil {
				pass.ends(s.number)
			}
		}()
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.forwarder.statementTime())
	defer cancel()
	var rows []row
	if err := s.forwarder.db.SelectContext(ctx, &rows, s.forwarder.tables.Fill("event/read", "{but}", but), s.number, window); err != nil {
		return 0, false, err
	}
	return s.take(rows)
}

// leftOut is what a read leaves out, and whether there is room for what it finds. It forgets what was deleted before the read begins. The
// read is of the whole where nothing of the shard is under way, so that only what failed is left out.
func (s *shard) leftOut(now time.Time) (but string, room, whole bool) {
	topics := s.forwarder.pass.without(s.forwarder.topics.closed())
	s.mu.Lock()
	defer s.mu.Unlock()
	for seq, deleted := range s.known {
		if deleted {
			delete(s.known, seq)
		}
	}
	var held []chain
	for of, h := range s.holds {
		if now.Before(h.until) {
			held = append(held, of)
		}
	}
	if s.ended || s.term.Lost() || !s.crowd.room(now) {
		return "", false, false
	}
	failing, held := heldTopics(held)
	full, busy := s.crowd.leftOut()
	return without(slices.Concat(topics, failing, full), slices.Concat(held, busy)), true, s.crowd.live == 0
}

// without is a condition that leaves topics and chains out. Lists are what the servers look a value up in, where there are thousands: they
// would compare it with each of as many conditions.
func without(topics []string, held []chain) string {
	var b []byte
	if len(topics) > 0 {
		b = append(append(append(b, "AND topic NOT IN ("...), literal.List(literal.AppendText, topics)...), ") "...)
	}
	for i, of := range held {
		if i == 0 {
			b = append(b, "AND (topic, event_key) NOT IN ("...)
		} else {
			b = append(b, ", "...)
		}
		b = append(literal.AppendText(append(b, '('), of.topic), ", "...)
		b = append(literal.AppendText(b, of.key), ')')
	}
	if len(held) > 0 {
		b = append(b, ") "...)
	}
	return string(b)
}

// take publishes those of the rows that are new.
func (s *shard) take(rows []row) (fresh int, more bool, err error) {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended || s.term.Lost() {
		return 0, false, nil
	}
	for _, one := range rows {
		if _, is := s.known[one.Seq]; is {
			continue
		}
		if h := s.holds[one.chain()]; h != nil && now.Before(h.until) {
			continue
		}
		fresh++
		s.known[one.Seq] = false
		s.crowd.add(one.chain(), 1)
		if rest, busy := s.chains[one.chain()]; busy {
			s.chains[one.chain()] = append(rest, one)
			continue
		}
		s.chains[one.chain()] = nil
		s.busy.Add(1)
		go s.publishChain(one)
	}
	s.further = len(rows) == window
	return fresh, s.further && s.crowd.free() <= window/2, nil
}

// publishChain publishes an event, and those of its chain that come after it.
func (s *shard) publishChain(one row) {
	defer s.busy.Done()
	for goesOn := true; goesOn; {
		result := s.forwarder.publish(s, one)
		one, goesOn = s.next(one, result)
	}
}

// next takes note of what became of an event, and returns the one of its chain that is next.
func (s *shard) next(one row, r result) (next row, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rest := s.chains[one.chain()]
	if r != settles {
		// They are read again, in their order.
		s.drop(one)
		for _, later := range rest {
			s.drop(later)
		}
		delete(s.chains, one.chain())
		if r == fails {
			s.hold(one.chain())
		}
		return next, false
	}
	delete(s.holds, one.chain())
	if len(rest) == 0 {
		delete(s.chains, one.chain())
		return next, false
	}
	s.chains[one.chain()] = rest[1:]
	return rest[0], true
}

// drop forgets an event that is not over. The lock is held.
func (s *shard) drop(one row) {
	delete(s.known, one.Seq)
	s.crowd.add(one.chain(), -1)
}

// hold has a chain wait, longer each time. The lock is held.
func (s *shard) hold(of chain) {
	h := s.holds[of]
	if h == nil {
		h = &hold{waits: backoff.NewExponentialBackOff()}
		h.waits.InitialInterval, h.waits.MaxInterval = firstHold, lastHold
		s.holds[of] = h
	}
	h.until = time.Now().Add(h.waits.NextBackOff())
	if s.forwarder.pass != nil {
		h.until = time.Now().Add(never)
	}
}

// leaves lets an event be that is published and cannot be deleted: it stays known, so that it is not published again.
func (s *shard) leaves(one row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.crowd.add(one.chain(), -1)
	s.busy.Done()
	s.woken.Ring()
}

// gone takes note that events were deleted.
func (s *shard) gone(rows []row) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, one := range rows {
		s.known[one.Seq] = true
		s.crowd.add(one.chain(), -1)
		s.busy.Done()
	}
	if again := s.crowd.relent(); (again || s.further) && s.crowd.free() <= window/2 {
		s.woken.Ring()
	}
}

// alive says whether the lease lives, and the shard is not to end.
func (s *shard) alive() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.ended || s.term.Lost():
		return errNotOurs
	case !s.term.Lives(time.Now()):
		return fmt.Errorf("%w: its lease is over", errNotOurs)
	}
	return nil
}

// end begins nothing more, and returns once all that is under way has ended and what was acknowledged is deleted; true where it was the
// first to ask.
func (s *shard) end() bool {
	s.mu.Lock()
	first := !s.ended
	if first {
		s.ended = true
		close(s.stopped)
	}
	s.mu.Unlock()
	s.busy.Wait()
	return first
}

// lose gives up a shard that is another's by now.
func (s *shard) lose(why string) {
	s.mu.Lock() // what is taken just then is under way before anybody waits for the end of all
	first := s.term.Lose()
	s.mu.Unlock()
	s.cancel()
	s.forwarder.forget(s)
	if first {
		s.forwarder.outlives(s)
		s.forwarder.options.Log.Warn().Int("shard", s.number).Str("why", why).Msg("a shard of the outbox is lost; what was under way may be published twice")
	}
}
