package heartbeat

import "slices"

// told is a signal of a heartbeat.
type told struct {
	name   string
	signal Signal
}

// queue has the signals that are to be sent, in their order. It is not for concurrent use.
type queue struct {
	waiting []told
	sending map[string]bool // names of which one is being sent: those of a name go one after the other
	turns   map[string]int  // by name, the turn in which one was taken last
	turn    int
	most    int
	first   string // the name that goes before all others, which take turns; empty for none
}

func newQueue(most int, first string) queue {
	return queue{sending: make(map[string]bool), turns: make(map[string]int), most: most, first: first}
}

// put adds a signal. Where it is full the oldest of the same name makes way, or the oldest of all but the first name's, and put says so. What waits as the last of its
// name already says the same as another.
func (q *queue) put(t told) (dropped bool) {
	for _, w := range slices.Backward(q.waiting) {
		if w == t {
			return false
		}
		if w.name == t.name {
			break
		}
	}
	if len(q.waiting) >= q.most {
		oldest := slices.IndexFunc(q.waiting, func(w told) bool { return w.name == t.name })
		if oldest < 0 {
			oldest = max(slices.IndexFunc(q.waiting, func(w told) bool { return w.name != q.first }), 0)
		}
		q.waiting = slices.Delete(q.waiting, oldest, oldest+1)
		dropped = true
	}
	q.waiting = append(q.waiting, t)
	return dropped
}

// take takes the signal whose turn it is: the oldest of the first name, else of the name that has waited for its turn for longest.
func (q *queue) take() (t told, ok bool) {
	next := -1
	for i, w := range q.waiting {
		if q.sending[w.name] {
			continue
		}
		if w.name == q.first {
			next = i
			break
		}
		if next < 0 || q.turns[w.name] < q.turns[q.waiting[next].name] {
			next = i
		}
	}
	if next < 0 {
		return t, false
	}
	t = q.waiting[next]
	q.waiting = slices.Delete(q.waiting, next, next+1)
	q.sending[t.name] = true
	q.turn++
	q.turns[t.name] = q.turn
	return t, true
}

// sent takes note that what was taken of a name is no longer being sent.
func (q *queue) sent(name string) { delete(q.sending, name) }

// idle says whether there is nothing to be sent, nor being sent.
func (q *queue) idle() bool { return len(q.waiting)+len(q.sending) == 0 }
