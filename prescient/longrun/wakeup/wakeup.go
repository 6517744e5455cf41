// Package wakeup is how agents tell one another at once of long runs that are offered, claimed and handed on. They do without as
// well: each finds that out by itself within half a second. So a message may be lost, late, or come twice.
package wakeup

import (
	"sync"
	"time"
)

// Kind is what a message says of a run.
type Kind string

// The kinds.
const (
	// Offer: anybody of its pool may claim it: a slot run has offered it, or its agent has handed it on.
	Offer Kind = "offer"
	// Claim: the agent is about to claim it.
	Claim Kind = "claim"
	// Has: the agent has claimed it.
	Has Kind = "has"
	// End: it has ended.
	End Kind = "end"
)

// Message is what an agent says.
type Message struct {
	Kind Kind `json:"kind"`
	// From is the agent.
	From string `json:"from"`
	// Pool, Key and JobExec are those of the run. Key is its job_key.
	Pool    string   `json:"pool,omitempty"`
	Key     [16]byte `json:"key"`
	JobExec string   `json:"job_exec"`
	// Token is that of the run, as its row has it: of a claim, before it.
	Token uint64 `json:"token"`
	// Agent has the run, or had it last, and Until is when its lease ends, by the database's clock.
	Agent string    `json:"agent,omitempty"`
	Until time.Time `json:"until,omitzero"`
	// Priority is that of a claim.
	Priority uint64 `json:"priority,omitempty"`
}

// WakeUp sends messages to all agents of an installation, and receives theirs.
type WakeUp interface {
	// Send sends a message. It does not wait, and says nothing of what becomes of it.
	Send(m Message)
	// Receive has a function called for each message, one at a time, until stop is called. Those that this agent sent may be among them.
	Receive(each func(m Message)) (stop func(), err error)
}

// Memory is a wake-up for agents of one process, such as those of tests. The zero value is ready for use.
type Memory struct {
	mu        sync.Mutex
	receivers map[int]chan Message
	next      int
	// Lose says of a message that nobody gets it; nil for none.
	Lose func(m Message) bool
}

// backlog is how many messages wait for a receiver. Those beyond that are lost.
const backlog = 4096

// Send implements WakeUp.
func (w *Memory) Send(m Message) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.Lose != nil && w.Lose(m) {
		return
	}
	for _, c := range w.receivers {
		select {
		case c <- m:
		default:
		}
	}
}

// Receive implements WakeUp.
func (w *Memory) Receive(each func(m Message)) (stop func(), err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.receivers == nil {
		w.receivers = make(map[int]chan Message)
	}
	id, c, done := w.next, make(chan Message, backlog), make(chan struct{})
	w.next++
	w.receivers[id] = c
	go func() {
		defer close(done)
		for m := range c {
			each(m)
		}
	}()
	return sync.OnceFunc(func() {
		w.mu.Lock()
		delete(w.receivers, id)
		w.mu.Unlock()
		close(c)
		<-done
	}), nil
}
