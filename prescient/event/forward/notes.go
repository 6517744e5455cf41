package forward

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/bell"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// mostNoted is how many topics one statement names.
const mostNoted = 500

// notes are what is to be written down of topics: which of them fail, and why, and which work again. One goroutine writes them, all that
// there are by one statement: where a broker is down hundreds of topics fail at once, and each would take a connection.
type notes struct {
	woken bell.Bell
	send  func(statement string, pairs ...string) error // to the database
	log   zerolog.Logger

	mu    sync.Mutex
	fails map[string]failure
	works map[string]bool
}

// failure is that of an event.
type failure struct {
	id, reason string
}

func newNotes(send func(statement string, pairs ...string) error, log zerolog.Logger) *notes {
	return &notes{woken: bell.New(), send: send, log: log, fails: make(map[string]failure), works: make(map[string]bool)}
}

// failed has it written that a topic fails.
func (n *notes) failed(topic, id string, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.works, topic)
	n.fails[topic] = failure{id, prescient.ReasonText(why)}
	n.woken.Ring()
}

// worked has it written that a topic works again.
func (n *notes) worked(topic string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.fails, topic)
	n.works[topic] = true
	n.woken.Ring()
}

// take returns what is to be written, and forgets it.
func (n *notes) take() (fails map[string]failure, works map[string]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	fails, works = n.fails, n.works
	n.fails, n.works = make(map[string]failure), make(map[string]bool)
	return fails, works
}

// putBack is for what could not be written. What came meanwhile is newer.
func (n *notes) putBack(fails map[string]failure, works map[string]bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for topic, f := range fails {
		if _, newer := n.fails[topic]; !newer && !n.works[topic] {
			n.fails[topic] = f
		}
	}
	for topic := range works {
		if _, newer := n.fails[topic]; !newer {
			n.works[topic] = true
		}
	}
	n.woken.Ring()
}

// keep writes notes until done, and then what there is. After an error it waits, unless ctx has ended.
func (n *notes) keep(ctx context.Context, done <-chan struct{}) {
	trouble, failing := store.NewBackOff(), false
	for {
		last := false
		select {
		case <-done:
			last = true
		case <-n.woken:
		}
		fails, works := n.take()
		err := n.write(fails, works)
		if err != nil && !failing {
			n.log.Warn().Err(err).Int("topics", len(fails)+len(works)).Msg("which topics fail could not be noted yet")
		}
		failing = err != nil
		if last {
			return
		}
		if failing {
			n.putBack(fails, works)
			_ = store.Sleep(ctx, trouble.NextBackOff()) // an error is that it ends, which the select tells
		} else {
			trouble.Reset()
		}
	}
}

// write writes which topics fail, and takes back what was written of those that work.
func (n *notes) write(fails map[string]failure, works map[string]bool) error {
	for some := range slices.Chunk(slices.Sorted(maps.Keys(fails)), mostNoted) { // two forwarders lock them in one order
		rows := make([]string, len(some))
		for i, topic := range some {
			rows[i] = "(" + literal.Of(literal.AppendText, topic) + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), " +
				literal.Of(literal.AppendText, fails[topic].id) + ", " + literal.Of(literal.AppendText, fails[topic].reason) + ")"
		}
		if err := n.send("event/failing", "{rows}", strings.Join(rows, ", ")); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(works)), mostNoted) {
		if err := n.send("event/works", "{topics}", literal.List(literal.AppendText, some)); err != nil {
			return err
		}
	}
	return nil
}
