package forward

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// mostNoted is how many topics one statement names.
const mostNoted = 500

// notes are what is to be written down of topics: which of them fail, and why, and which work again. One goroutine writes them, all that
// there are by one statement: where a broker is down hundreds of topics fail at once, and each would take a connection.
type notes struct {
	woken chan struct{}

	mu    sync.Mutex
	fails map[string]failure
	works map[string]bool
}

// failure is that of an event.
type failure struct {
	id, reason string
}

func newNotes() *notes {
	return &notes{woken: make(chan struct{}, 1), fails: make(map[string]failure), works: make(map[string]bool)}
}

// failed has it written that a topic fails.
func (n *notes) failed(topic, id string, why error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.works, topic)
	n.fails[topic] = failure{id, prescient.ReasonText(why)}
	n.wakeUp()
}

// worked has it written that a topic works again.
func (n *notes) worked(topic string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.fails, topic)
	n.works[topic] = true
	n.wakeUp()
}

func (n *notes) wakeUp() {
	select {
	case n.woken <- struct{}{}:
	default:
	}
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
	n.wakeUp()
}

// keepNotes writes notes until done, and then what there is.
func (f *Forwarder) keepNotes(done <-chan struct{}) {
	trouble, failing := store.NewBackOff(), false
	for {
		last := false
		select {
		case <-done:
			last = true
		case <-f.notes.woken:
		}
		fails, works := f.notes.take()
		err := f.writeNotes(fails, works)
		if err != nil && !failing {
			f.options.Log.Warn().Err(err).Int("topics", len(fails)+len(works)).Msg("which topics fail could not be noted yet")
		}
		failing = err != nil
		if last {
			return
		}
		if failing {
			f.notes.putBack(fails, works)
			_ = store.Sleep(f.publishing, trouble.NextBackOff()) // an error is that it ends, which the select tells
		} else {
			trouble.Reset()
		}
	}
}

// writeNotes writes which topics fail, and takes back what was written of those that work.
func (f *Forwarder) writeNotes(fails map[string]failure, works map[string]bool) error {
	ctx, cancel := context.WithTimeout(context.Background(), f.statementTime())
	defer cancel()
	for some := range slices.Chunk(slices.Sorted(maps.Keys(fails)), mostNoted) { // two forwarders lock them in one order
		rows := make([]string, len(some))
		for i, topic := range some {
			rows[i] = "(" + literal.Of(literal.AppendText, topic) + ", UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), " +
				literal.Of(literal.AppendText, fails[topic].id) + ", " + literal.Of(literal.AppendText, fails[topic].reason) + ")"
		}
		if _, err := f.db.ExecContext(ctx, f.tables.Fill("event/failing", "{rows}", strings.Join(rows, ", "))); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(works)), mostNoted) {
		if _, err := f.db.ExecContext(ctx, f.tables.Fill("event/works", "{topics}", literal.List(literal.AppendText, some))); err != nil {
			return err
		}
	}
	return nil
}
