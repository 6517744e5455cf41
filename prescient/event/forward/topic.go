package forward

import (
	"context"
	"errors"
	"maps"
	"slices"
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
	// mostIdle is how many topics are remembered of which nothing is under way.
	mostIdle = 2000
	// mostLargeOf is how many bytes of long payloads of a topic are in memory at a time. One that is longer is there alone.
	mostLargeOf = 16 << 20
)

// errHere is no fault of the topic: the payload cannot be read, or the event was deleted.
var errHere = errors.New("reading its payload")

// topics are those that events of the outbox have had.
type topics struct {
	places int // of each

	mu   sync.Mutex
	all  map[string]*topic
	most int // how many there may be before idle ones are forgotten

	trippedMu sync.Mutex      // taken with that of a circuit held
	tripped   map[string]bool // those whose circuits are not closed

	keptMu sync.Mutex
	kept   map[string]bool // those of which somebody has what their events are counted in locked
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

func newTopics(places int) *topics {
	return &topics{places: places, all: make(map[string]*topic), most: mostIdle, tripped: make(map[string]bool), kept: make(map[string]bool)}
}

func (t *topics) of(name string) *topic {
	t.mu.Lock()
	defer t.mu.Unlock()
	one := t.all[name]
	if one == nil {
		t.forget()
		one = &topic{places: make(chan struct{}, t.places), large: semaphore.NewWeighted(mostLargeOf), circuit: gobreaker.NewTwoStepCircuitBreaker[struct{}](gobreaker.Settings{Name: name, MaxRequests: 1, Timeout: tripFor, OnStateChange: t.changed,
			ReadyToTrip:  func(c gobreaker.Counts) bool { return c.ConsecutiveFailures >= tripAfter },
			IsSuccessful: func(err error) bool { return err == nil || errors.Is(err, broker.ErrRefused) },
			IsExcluded:   func(err error) bool { return errors.Is(err, context.Canceled) || errors.Is(err, errHere) }})}
		t.all[name] = one
	}
	return one
}

// forget forgets topics of which nothing is under way nor fails, where there are many: there may be one for each tenant. The lock is held.
func (t *topics) forget() {
	if len(t.all) < t.most {
		return
	}
	for name, one := range t.all {
		if one.isIdle() {
			delete(t.all, name)
		}
	}
	t.most = max(mostIdle, 2*len(t.all)) // what is left is not looked at for each that comes
}

// changed takes note of a topic that fails, or works again.
func (t *topics) changed(name string, _, to gobreaker.State) {
	t.trippedMu.Lock()
	defer t.trippedMu.Unlock()
	if to == gobreaker.StateClosed {
		delete(t.tripped, name)
	} else {
		t.tripped[name] = true
	}
}

// keeps takes note of whether somebody has what the events of a topic are counted in locked.
func (t *topics) keeps(name string, is bool) {
	t.keptMu.Lock()
	defer t.keptMu.Unlock()
	if is {
		t.kept[name] = true
	} else {
		delete(t.kept, name)
	}
}

// keptNow are the topics of which somebody has that locked.
func (t *topics) keptNow() map[string]bool {
	t.keptMu.Lock()
	defer t.keptMu.Unlock()
	return maps.Clone(t.kept)
}

// closed are the topics of which nothing may be published just now.
func (t *topics) closed() (names []string) {
	t.trippedMu.Lock()
	failing := slices.Collect(maps.Keys(t.tripped))
	t.trippedMu.Unlock()
	for _, name := range failing {
		one := t.of(name)
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

// isIdle says whether nothing is under way of it, and nothing of it fails.
func (t *topic) isIdle() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.places) == 0 && t.unsettled == 0 && (t.cleared || t.noted.IsZero()) && t.circuit.State() == gobreaker.StateClosed
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
