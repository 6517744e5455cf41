package metrics

import (
	"sync"

	"prescient/prescient/worker/books"
)

// labels are the names that have a label of their own: those that are known from the start, and the first few others, which only rows have, and
// which are mostly misspelt.
type labels struct {
	mu   sync.RWMutex
	own  map[string]bool
	room int // for names that are not known
}

func newLabels(room int) labels {
	return labels{own: map[string]bool{books.OtherExecs: true}, room: room}
}

// know has a name be known.
func (l *labels) know(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.own[name] = true
}

// of returns the label of a name.
func (l *labels) of(name string) string {
	l.mu.RLock()
	known := l.own[name]
	l.mu.RUnlock()
	if known {
		return name
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.own[name]:
	case l.room == 0:
		return books.OtherExecs
	default:
		l.room--
		l.own[name] = true
	}
	return name
}
