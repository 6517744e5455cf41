package checker

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"
)

// Kind is what an event is about.
type Kind string

// The kinds.
const (
	Insert     Kind = "insert"     // the app asked for a check
	Cancel     Kind = "cancel"     // the app cancelled it
	Reschedule Kind = "reschedule" // the app moved it to Due
	Call       Kind = "call"       // a job_exec was called, and has done nothing yet
	Answer     Kind = "answer"     // it has done its work, and returns
	Fault      Kind = "fault"      // something was broken on purpose
	Clock      Kind = "clock"      // the database said what time it is
)

// EndedWorker is the fault that notes that a worker's process has ended, for whatever reason: it explains what was in flight.
const EndedWorker = "a worker ended"

// Result is what came back to the app.
type Result string

// The results.
const (
	Committed  Result = "committed"
	RolledBack Result = "rolled back"
	Unknown    Result = "unknown" // the connection broke in the COMMIT
	Nothing    Result = "nothing" // it committed, and there was nothing to do
)

// Event is one line of the ledger. Which fields count depends on the kind.
type Event struct {
	At   time.Duration // since the ledger began, by a monotonic clock; when it had happened
	Took time.Duration `json:",omitempty"` // how long before At it began; of a fault, how long after At it lasted
	Kind Kind

	ID       int64     `json:",omitempty"` // of the check, as the payload carries it
	Key      string    `json:",omitempty"` // entity_key
	Exec     string    `json:",omitempty"`
	Result   Result    `json:",omitempty"`
	Replaced int64     `json:",omitempty"` // an insert that replaced this check
	Due      time.Time `json:",omitzero"`

	N        int64      `json:",omitempty"` // number of the call, the same in its answer
	Worker   string     `json:",omitempty"` // of a fault: whom it hit, empty for everybody
	Pid      int        `json:",omitempty"`
	Revision uint64     `json:",omitempty"`
	Slot     time.Time  `json:",omitzero"`
	Checks   int        `json:",omitempty"`
	Errors   int        `json:",omitempty"`
	Next     *time.Time `json:",omitempty"`
	Failed   bool       `json:",omitempty"`

	What string    `json:",omitempty"` // of a fault
	Told time.Time `json:",omitzero"`  // by the database
}

// Ledger is what a run keeps beside the database: in memory, and in a file for those who look into a finding.
type Ledger struct {
	began time.Time

	mu     sync.Mutex
	file   *os.File
	events []Event
	err    error
}

// NewLedger begins a ledger in a file.
func NewLedger(path string) (*Ledger, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("beginning the ledger: %w", err)
	}
	return &Ledger{began: time.Now(), file: file}, nil
}

// Now is the time since the ledger began.
func (l *Ledger) Now() time.Duration { return time.Since(l.began) }

// Note adds an event that has just happened, and returns when.
func (l *Ledger) Note(e Event) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.At = l.Now()
	l.add(e)
	return e.At
}

// NoteAt adds an event of another moment.
func (l *Ledger) NoteAt(e Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(e)
}

func (l *Ledger) add(e Event) {
	l.events = append(l.events, e)
	line, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(line, '\n'))
	}
	if err != nil && l.err == nil {
		l.err = err
	}
}

// Events returns all events so far, by time.
func (l *Ledger) Events() []Event {
	l.mu.Lock()
	defer l.mu.Unlock()
	events := slices.Clone(l.events)
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	return events
}

// Close ends the file. The error is the first that came of writing it.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return l.err
}

// Told is the database's time by what it told last; ours where it told nothing yet.
func (l *Ledger) Told() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := len(l.events) - 1; i >= 0; i-- {
		if e := l.events[i]; e.Kind == Clock {
			return e.Told.Add(l.Now() - e.At)
		}
	}
	return time.Now().UTC()
}
