package forward

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/sony/gobreaker/v2"
	"golang.org/x/sync/semaphore"

	"prescient/prescient/event/broker"
)

const (
	// tripAfter is after how many failures in a row a topic waits, and for how long, before one event is tried.
	tripAfter = 5
	tripFor   = 2 * time.Second
	// noteEvery is how often it is noted that a topic fails.
	noteEvery = 10 * time.Second
	// mostLargeOf is how many bytes of long payloads of a topic are in memory at a time. One that is longer is there alone.
	mostLargeOf = 16 << 20
)

// errHere is no fault of the topic: the payload cannot be read, or the event was deleted.
var errHere = errors.New("reading its payload")

// topics are those that events of the outbox have had.
type topics struct {
	places int // of each

	mu  sync.Mutex
	all map[string]*topic
}

// topic has places of its own, so that one whose broker is slow takes none of another's.
type topic struct {
	circuit *gobreaker.TwoStepCircuitBreaker[struct{}]
	places  chan struct{}       // of publications under way
	large   *semaphore.Weighted // bytes of those with a long payload

	mu        sync.Mutex
	noted     time.Time // when its trouble was written last
	cleared   bool      // that is written nowhere, of before this process either
	unsettled int       // events that were published, and cannot be deleted
}

func newTopics(places int) *topics { return &topics{places: places, all: make(map[string]*topic)} }

func (t *topics) of(name string) *topic {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[name]
	if one == nil {
		one = &topic{places: make(chan struct{}, t.places), large: semaphore.NewWeighted(mostLargeOf), circuit: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{Name: name, MaxRequests: 1, Timeout: tripFor,
			ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
			IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, broker.ErrRefused) },
			IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, errHere) }})}
		t.all[name] = one
	}
	return one
}

// closed are the topics of which nothing may be published just now.
func (t *topics) closed() (names []string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for name, one := range t.all {
		switch one.circuit.State() {
		case gobreaker.StateOpen:
			names = append(names, name)
		case gobreaker.StateHalfOpen:
			// One is tried. What counted for nothing, since its shard was lost, is not the one.
			if c := one.circuit.Counts(); c.Requests > c.TotalExclusions {
				names = append(names, name)
			}
		}
	}
	return names
}

// notesFailure says whether a failure is to be written down: one every so often.
func (t *topic) notesFailure(now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cleared = false
	if !t.noted.IsZero() && now.Sub(t.noted) < noteEvery {
		return false
	}
	t.noted = now
	return true
}

// notesSuccess says whether what was written of failures is to be taken back.
func (t *topic) notesSuccess() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.cleared || t.unsettled > 0 {
		return false
	}
	t.cleared, t.noted = true, time.Time{}
	return true
}

// unsettles counts events that were published, and cannot be deleted.
func (t *topic) unsettles(n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unsettled += n
}
