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
	most    int
}

func newQueue(most int) queue { return queue{sending: make(map[string]bool), most: most} }

// put adds a signal. Where it is full the oldest of the same name makes way, or the oldest of all, and put says so. What waits as the last of its
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
		oldest := max(slices.IndexFunc(q.waiting, func(w told) bool { return w.name == t.name }), 0)
		q.waiting = slices.Delete(q.waiting, oldest, oldest+1)
		dropped = true
	}
	q.waiting = append(q.waiting, t)
	return dropped
}

// take takes the first signal that may be sent.
func (q *queue) take() (t told, ok bool) {
	first := slices.IndexFunc(q.waiting, func(w told) bool { return !q.sending[w.name] })
	if first < 0 {
		return t, false
	}
	t = q.waiting[first]
	q.waiting = slices.Delete(q.waiting, first, first+1)
	q.sending[t.name] = true
	return t, true
}

// sent takes note that what was taken of a name is no longer being sent.
func (q *queue) sent(name string) { delete(q.sending, name) }

// idle says whether there is nothing to be sent, nor being sent.
func (q *queue) idle() bool { return len(q.waiting)+len(q.sending) == 0 }
