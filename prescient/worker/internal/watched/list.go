package watched

import (
	"slices"
	"sync"
	"time"

	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
)

const (
	// Every is how often a worker looks at slots that others hold buckets of.
	Every = time.Second
	// most is how many slots it watches at a time; the sweeper has those beyond that. forHow is for how long it watches one.
	most   = 64
	forHow = time.Hour
)

// List has slots of which others hold buckets, and until when they are watched. It is for concurrent use.
type List struct {
	send   *store.Sender
	tables *store.Tables
	mu     sync.Mutex
	slots  map[time.Time]time.Time
	some   bell.Bell
}

// New returns an empty list.
func New(send *store.Sender, tables *store.Tables) *List {
	return &List{send: send, tables: tables, slots: make(map[time.Time]time.Time), some: bell.New()}
}

// Some is sent to once there is a slot to be watched.
func (l *List) Some() <-chan struct{} { return l.some }

// After takes note of a run that is over: its slot is watched where it left buckets to others, and none to the sweeper, which is not
// to be done again and again.
func (l *List) After(f books.Figures, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f.Held == 0 || f.Paused || f.Locked+f.Stuck+f.CrowdedOut > 0 {
		delete(l.slots, f.Slot)
		return
	}
	if _, is := l.slots[f.Slot]; is || len(l.slots) >= most {
		return
	}
	l.slots[f.Slot] = now.Add(forHow)
	l.some.Ring()
}

// Slots is what is watched, oldest first, without what was for long enough.
func (l *List) Slots(now time.Time) (all []time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for slot, until := range l.slots {
		if now.After(until) {
			delete(l.slots, slot)
			continue
		}
		all = append(all, slot)
	}
	slices.SortFunc(all, time.Time.Compare)
	return all
}

// Forget ends the watch of slots.
func (l *List) Forget(some ...time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, slot := range some {
		delete(l.slots, slot)
	}
}
