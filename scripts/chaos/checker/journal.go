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
	Clock      Kind = "clock"      // the database told what time it is
	Step       Kind = "step"       // a call of a long run begins a step: Step is how many were done before
	Saved      Kind = "saved"      // its checkpoint was saved, and Save said so: Step is how many are done
	Called     Kind = "called"     // a step of a job was called: Key is the job, Tag the run, Exec the step, N the call, Step its seq, Revision the version
	Returned   Kind = "returned"   // it has done its work, and returns
	Plan       Kind = "plan"       // the app changed a schedule: Key is its id, Change what it did
	Stall      Kind = "stall"      // until At, for as long as Took, the machine stood still: nobody broke that, and nobody got to run
)

// EndedWorker is the fault that notes that a worker's process has ended, for whatever reason: it explains what was in flight.
const EndedWorker = "a worker ended"

// Divided is the fault that notes that a shard was divided.
const Divided = "reshard"

// Result is what came back to the app.
type Result string

// The results.
const (
	Committed  Result = "committed"
	RolledBack Result = "rolled back"
	Unknown    Result = "unknown" // the connection broke in the COMMIT
	Nothing    Result = "nothing" // it committed, and there was nothing to do
)

// Event is one line of the journal. Which fields count depends on the kind.
type Event struct {
	At   time.Duration // since the journal began, by a monotonic clock; when it had happened
	Took time.Duration `json:",omitempty"` // how long before At it began; of a fault, how long after At it lasted
	Kind Kind

	ID       int64     `json:",omitempty"` // of the check, as the payload carries it
	Key      string    `json:",omitempty"` // entity_key
	Exec     string    `json:",omitempty"`
	Tag      string    `json:",omitempty"` // of the call of a run, whose schedule is Key
	Result   Result    `json:",omitempty"`
	Replaced int64     `json:",omitempty"` // an insert that replaced this check
	Due      time.Time `json:",omitzero"`
	// Expires is how long after Due an insert wants the check to expire, 0 for never; ExpiresAt is the expiry that a call has.
	Expires   time.Duration `json:",omitempty"`
	ExpiresAt *time.Time    `json:",omitempty"`

	N        int64      `json:",omitempty"` // number of the call, the same in its answer
	Worker   string     `json:",omitempty"` // of a fault: whom it hit, empty for everybody
	Pid      int        `json:",omitempty"`
	Revision uint64     `json:",omitempty"`
	Slot     time.Time  `json:",omitzero"`
	Checks   int        `json:",omitempty"`
	Errors   int        `json:",omitempty"`
	Next     *time.Time `json:",omitempty"`
	Failed   bool       `json:",omitempty"`

	// Token, of a call of a long run and what it reports, is that under which it has the run; Step is how many steps are done, and of the
	// call, how many were by the checkpoint that it got. Of is the check whose checkpoint that was.
	Token uint64 `json:",omitempty"`
	Step  int    `json:",omitempty"`
	Of    int64  `json:",omitempty"`

	Payload string  `json:",omitempty"` // that the run of a schedule got
	Change  *Change `json:",omitempty"`

	What  string    `json:",omitempty"` // of a fault
	Shard string    `json:",omitempty"` // of a fault: which alone it hit; empty for all
	Told  time.Time `json:",omitzero"`  // by the database
}

// Journal is what a run keeps beside the database: in memory, and in a file for those who look into a finding.
type Journal struct {
	began time.Time

	mu     sync.Mutex
	file   *os.File
	events []Event
	err    error
}

// NewJournal begins a journal in a file.
func NewJournal(path string) (*Journal, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, fmt.Errorf("beginning the journal: %w", err)
	}
	return &Journal{began: time.Now(), file: file}, nil
}

// Now is the time since the journal began.
func (j *Journal) Now() time.Duration { return time.Since(j.began) }

// Note adds an event that has just happened, and returns when.
func (j *Journal) Note(e Event) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = j.Now()
	j.add(e)
	return e.At
}

// NoteSince adds an event that began at a moment and has just been over. On a busy machine some time may pass between its end and
// this call, and so Took is counted from here: a Took that was measured before would put the beginning later than it was.
func (j *Journal) NoteSince(began time.Duration, e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e.At = j.Now()
	e.Took = e.At - began
	j.add(e)
}

// NoteAt adds an event of another moment.
func (j *Journal) NoteAt(e Event) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.add(e)
}

func (j *Journal) add(e Event) {
	j.events = append(j.events, e)
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil && j.err == nil {
		j.err = err
	}
}

// Events returns all events so far, by time.
func (j *Journal) Events() []Event {
	j.mu.Lock()
	defer j.mu.Unlock()
	events := slices.Clone(j.events)
	slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
	return events
}

// Inserted is how many inserts were committed so far.
func (j *Journal) Inserted() (n int) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, e := range j.events {
		if e.Kind == Insert && e.Result == Committed {
			n++
		}
	}
	return n
}

// Close ends the file. The error is the first that came of writing it.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.file.Close(); j.err == nil {
		j.err = err
	}
	return j.err
}

// Told is the database's time by what it told last; ours where it told nothing yet.
func (j *Journal) Told() time.Time {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := len(j.events) - 1; i >= 0; i-- {
		if e := j.events[i]; e.Kind == Clock {
			return e.Told.Add(j.Now() - e.At)
		}
	}
	return time.Now().UTC()
}
