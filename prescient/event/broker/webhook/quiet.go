package webhook

import (
	"fmt"
	"sync"
	"time"
)

// longestQuiet is for how long a receiver is left alone at most, whatever it asks for.
const longestQuiet = time.Hour

// quiet is for which topics the receiver has asked, by Retry-After, to be left alone.
type quiet struct {
	mu  sync.Mutex
	all map[string]asked
}

// asked is what it has asked for, and with which answer.
type asked struct {
	until time.Time
	why   error
}

func (a asked) left(now time.Time) time.Duration { return a.until.Sub(now) }

func (a asked) error() error {
	return fmt.Errorf("it asked to be left alone until %s: %w", a.until.UTC().Format(time.RFC3339), a.why)
}

// ask notes what the receiver has asked for.
func (q *quiet) ask(topic string, wait time.Duration, why error) {
	if wait <= 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.all == nil {
		q.all = make(map[string]asked)
	}
	q.all[topic] = asked{time.Now().Add(min(wait, longestQuiet)), why}
}

// of is what it has asked for and what is not over yet.
func (q *quiet) of(topic string) (a asked, is bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	a, is = q.all[topic]
	if is && a.left(time.Now()) <= 0 {
		delete(q.all, topic)
		return asked{}, false
	}
	return a, is
}
