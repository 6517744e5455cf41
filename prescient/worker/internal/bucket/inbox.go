package bucket

import (
	"sync"
	"time"

	"prescient/prescient/worker/internal/check"
)

// Inbox takes the answers of a bucket from whoever has them, and wakes its own goroutine.
type Inbox struct {
	Mu      sync.Mutex
	Answers []*check.Answered
	oldest  time.Time // when the first of answers came
	Flying  int       // rows that the executor has
	Wake    chan struct{}
}

// take takes answered rows; flew is how many of them the executor had. It wakes at the first, at a batch, and at the last.
func (i *Inbox) take(rows []*check.Answered, flew, batch int) {
	i.Mu.Lock()
	if len(i.Answers) == 0 {
		i.oldest = time.Now()
	}
	before := len(i.Answers)
	i.Answers = append(i.Answers, rows...)
	i.Flying -= flew
	signal := before == 0 || len(i.Answers) >= batch || i.Flying == 0
	i.Mu.Unlock()
	if signal {
		i.signal()
	}
}

// signal wakes the bucket's own goroutine.
func (i *Inbox) signal() {
	select {
	case i.Wake <- struct{}{}:
	default:
	}
}

// sent counts rows that the executor gets.
func (i *Inbox) sent(rows int) {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	i.Flying += rows
}

// StillFlying says whether the executor has rows.
func (i *Inbox) StillFlying() bool {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	return i.Flying > 0
}

// waiting is how many answers are there.
func (i *Inbox) waiting() int {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	return len(i.Answers)
}

// ready takes out what is to be committed now: a batch, or all where nothing else runs, or the first has waited long enough,
// or all says so. It is nil where that is nothing, and says whether there was something.
func (i *Inbox) ready(batch int, after time.Duration, all bool) (answers []*check.Answered, ready bool) {
	i.Mu.Lock()
	defer i.Mu.Unlock()
	n := len(i.Answers)
	if ready = n >= batch || n > 0 && (all || i.Flying == 0 || time.Since(i.oldest) >= after); ready {
		answers, i.Answers = i.Answers, nil
	}
	return answers, ready
}
