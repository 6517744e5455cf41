package heartbeat

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

const (
	// Most is how many heartbeats there are at most.
	Most = 50
	// mostWaiting is how many signals wait to be sent, and mostSending how many are being sent at a time.
	mostWaiting, mostSending = 100, 2
	// callTime is how long a service may take to answer.
	callTime = 10 * time.Second
	// tries is how often a signal is sent; once where the one before it failed for good, so that one dead service does not hold up the others for longer.
	tries = 3
	// firstWait is the time between the first try and the second; the next is three times as long.
	firstWait = time.Second
	// slotEvery is how often served slots are told of at most: services refuse those who ask too often.
	slotEvery = 10 * time.Second
	// mostRefused is how many names that no schedule may have are logged.
	mostRefused = 20
)

// URLs are where a heartbeat goes, by GET. Success is needed; what else is empty is not sent.
type URLs struct{ Start, Success, Failure string }

// Options are for New.
type Options struct {
	// Heartbeats by their names, which are identifiers; up to Most of them.
	Heartbeats map[string]URLs
	// Slots is the name of the one that is told of served slots, and of nothing else; empty for none.
	Slots string
	// Log has a line at warn where a heartbeat cannot be sent any more, and one where it can again. It shows the hosts of URLs alone. The zero value
	// is silent.
	Log zerolog.Logger
}

// Sender sends heartbeats, beside whoever tells it of them. It is for concurrent use; a nil one sends nothing.
type Sender struct {
	options Options
	urls    map[told]*url.URL
	client  client
	wait    time.Duration // firstWait, but for tests
	stopped context.Context
	stop    context.CancelFunc

	mu      sync.Mutex
	queue   queue
	senders int            // that run
	failing map[string]int // signals of a name that failed one after the other
	refused map[string]bool
	dropped int
	served  time.Time     // when a served slot was told of last
	quiet   chan struct{} // is closed once nothing is to be sent, where somebody waits for that
	closed  bool
}

// New makes a sender. The error wraps prescient.ErrInvalid and shows nothing of a URL.
func New(o Options) (*Sender, error) {
	if len(o.Heartbeats) > Most {
		return nil, fmt.Errorf("%w: %d heartbeats; at most %d are allowed", prescient.ErrInvalid, len(o.Heartbeats), Most)
	}
	s := &Sender{options: o, urls: make(map[told]*url.URL), client: newClient(), wait: firstWait, queue: newQueue(mostWaiting, o.Slots), failing: make(map[string]int),
		refused: make(map[string]bool)}
	for _, name := range slices.Sorted(maps.Keys(o.Heartbeats)) {
		to := o.Heartbeats[name]
		if err := prescient.ValidIdentifier("heartbeat", name); err != nil {
			return nil, err
		}
		for _, of := range []struct {
			signal Signal
			text   string
		}{{Start, to.Start}, {Success, to.Success}, {Failure, to.Failure}} {
			if of.text == "" && of.signal != Success {
				continue
			}
			u, err := parse(of.text)
			if err != nil {
				return nil, fmt.Errorf("heartbeat %s, URL of %s: %w", name, of.signal, err)
			}
			s.urls[told{name, of.signal}] = u
		}
	}
	if _, is := o.Heartbeats[o.Slots]; !is && o.Slots != "" {
		return nil, fmt.Errorf("%w: %.80q, which is to be told of served slots, is no heartbeat", prescient.ErrInvalid, o.Slots)
	}
	s.stopped, s.stop = context.WithCancel(context.Background())
	return s, nil
}

// Served tells of a slot that was served.
func (s *Sender) Served(time.Time) {
	if s == nil || s.options.Slots == "" {
		return
	}
	s.mu.Lock()
	soon := !s.served.IsZero() && time.Since(s.served) < slotEvery
	if !soon {
		s.served = time.Now()
	}
	s.mu.Unlock()
	if !soon {
		s.put(told{s.options.Slots, Success})
	}
}

// Ended tells of the end of a check whose schedule names a heartbeat.
func (s *Sender) Ended(name string, outcome prescient.Outcome) {
	if signal, tells := Of(outcome); tells {
		s.Tell(name, signal)
	}
}

// Tell has a signal sent, and returns at once. An empty name is none; one that nobody has configured is logged once. So is that of slots: a schedule
// that keeps it quiet would hide that no slot is served.
func (s *Sender) Tell(name string, signal Signal) {
	if s == nil || name == "" {
		return
	}
	if _, is := s.options.Heartbeats[name]; !is {
		s.refuse(name, "a schedule names a heartbeat that this worker's configuration does not have; it is not sent")
		return
	}
	if name == s.options.Slots {
		s.refuse(name, "a schedule names the heartbeat of served slots (heartbeats.slots); it is not sent")
		return
	}
	s.put(told{name, signal})
}

// put has a signal sent whose name is known, where it has a URL.
func (s *Sender) put(t told) {
	if s.urls[t] == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return
	}
	if s.queue.put(t) {
		if s.dropped++; s.dropped == 1 {
			s.options.Log.Warn().Str("heartbeat", t.name).Int("waiting", mostWaiting).Msg("more heartbeats are to be sent than services take: the oldest are dropped")
		}
	}
	if s.senders < mostSending {
		s.senders++
		go s.send()
	}
}

// refuse logs a name that no schedule may have, once.
func (s *Sender) refuse(name, why string) {
	s.mu.Lock()
	first := !s.refused[name] && len(s.refused) < mostRefused
	if first {
		s.refused[name] = true
	}
	s.mu.Unlock()
	if first {
		s.options.Log.Warn().Str("heartbeat", name).Msg(why)
	}
}

// Dropped is how many signals were dropped, since too many waited.
func (s *Sender) Dropped() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.dropped
}

// send sends what there is, until there is no more.
func (s *Sender) send() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for t, ok := s.queue.take(); ok; t, ok = s.queue.take() {
		most := tries
		if s.failing[t.name] > 0 {
			most = 1
		}
		s.mu.Unlock()
		err := s.sendOne(s.urls[t], most)
		s.mu.Lock()
		s.queue.sent(t.name)
		s.note(t, err)
	}
	s.senders--
	if s.queue.idle() && s.quiet != nil {
		close(s.quiet)
		s.quiet = nil
	}
}

// note takes note of a signal that was sent, or not. Called with the mutex held.
func (s *Sender) note(t told, err error) {
	log := s.options.Log.With().Str("heartbeat", t.name).Str("signal", string(t.signal)).Str("host", s.urls[t].Host).Logger()
	failed := s.failing[t.name]
	switch {
	case s.stopped.Err() != nil:
	case err != nil:
		if s.failing[t.name]++; failed == 0 {
			log.Warn().Err(err).Msg("a heartbeat could not be sent")
		}
	case failed > 0:
		delete(s.failing, t.name)
		log.Info().Int("failed", failed).Msg("a heartbeat can be sent again")
	}
}

// sendOne sends a signal, some times at most.
func (s *Sender) sendOne(to *url.URL, most int) error {
	wait := s.wait
	for n := 1; ; n++ {
		again, err := s.client.call(s.stopped, to)
		if err == nil || !again || n >= most {
			return err
		}
		select {
		case <-s.stopped.Done():
			return err
		case <-time.After(wait):
		}
		wait *= 3
	}
}

// Close waits for what is to be sent until ctx ends, then drops the rest. Nothing is taken any more.
func (s *Sender) Close(ctx context.Context) {
	if s == nil {
		return
	}
	s.mu.Lock()
	s.closed = true
	if !s.queue.idle() {
		s.quiet = make(chan struct{})
	}
	quiet := s.quiet
	s.mu.Unlock()
	if quiet != nil {
		select {
		case <-quiet:
		case <-ctx.Done():
		}
	}
	s.mu.Lock()
	left := len(s.queue.waiting) + len(s.queue.sending)
	s.queue.waiting = nil
	s.mu.Unlock()
	s.stop()
	if left > 0 {
		s.options.Log.Warn().Int("signals", left).Msg("heartbeats were not sent: the process ends")
	}
	s.client.CloseIdleConnections()
}
