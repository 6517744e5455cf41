// Package recent asks once for what many want to know at about the same time.
package recent

import (
	"context"
	"sync"
	"time"
)

// Answers are what was asked for a moment ago. They are for concurrent use.
type Answers struct {
	// Most is how many answers are kept; what is asked beyond is asked each time.
	Most int

	mu sync.Mutex
	by map[string]*answer
}

// answer is what was answered last; whoever has the turn may look at it.
type answer struct {
	turn        chan struct{}
	wanted      int // by how many, while mu is held
	began, came time.Time
	age         time.Duration
	value       any
	err         error
}

// Get returns the answer for a key that is younger than an age, counted from when it came, or else asks. Who comes while another asks waits for that answer, even where it is an error;
// where the other gave up, the next one asks. What was returned belongs to all, and is not to be changed.
func (a *Answers) Get(ctx context.Context, key string, age time.Duration, ask func(ctx context.Context) (any, error)) (any, error) {
	arrived := time.Now()
	kept := a.want(key, age)
	if kept == nil {
		return ask(ctx)
	}
	defer a.leave(kept)
	select {
	case kept.turn <- struct{}{}:
		defer func() { <-kept.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if !kept.came.IsZero() && (kept.err == nil && time.Since(kept.came) < age || kept.began.After(arrived)) {
		return kept.value, kept.err
	}
	began := time.Now()
	value, err := ask(ctx)
	if ctx.Err() == nil {
		kept.began, kept.came, kept.value, kept.err = began, time.Now(), value, err
	}
	return value, err
}

// Forget has what was answered, and what is being asked, serve nobody who comes later: something was changed.
func (a *Answers) Forget() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by = nil
}

// want returns what is kept for a key, or nil where there is no place.
func (a *Answers) want(key string, age time.Duration) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := a.by[key]
	if kept == nil {
		if a.by == nil {
			a.by = make(map[string]*answer)
		}
		if len(a.by) >= a.Most {
			a.sweep()
		}
		if len(a.by) >= a.Most {
			return nil
		}
		kept = &answer{turn: make(chan struct{}, 1)}
		a.by[key] = kept
	}
	kept.wanted++
	kept.age = age
	return kept
}

func (a *Answers) leave(kept *answer) {
	a.mu.Lock()
	defer a.mu.Unlock()
	kept.wanted--
}

// sweep drops what nobody wants and is too old.
func (a *Answers) sweep() {
	for key, kept := range a.by {
		if kept.wanted == 0 && time.Since(kept.came) >= kept.age {
			delete(a.by, key)
		}
	}
}
