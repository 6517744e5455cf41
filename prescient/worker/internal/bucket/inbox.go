package bucket

import (
	"sync"
	"time"

	"prescient/prescient/internal/bell"
	"prescient/prescient/worker/internal/check"
)

// inbox takes the answers of a bucket from whoever has them, and wakes its own goroutine.
type inbox struct {
	mu      sync.Mutex
	answers []*check.Answered
	oldest  time.Time // when the first of answers came
	flying  int       // rows that the executor has
	wake    bell.Bell
}

// take takes answered rows; flew is how many of them the executor had. It wakes at the first, at a batch, and at the last.
func (i *inbox) take(rows []*check.Answered, flew, batch int) {
	i.mu.Lock()
	if len(i.answers) == 0 {
		i.oldest = time.Now()
	}
	before := len(i.answers)
	i.answers = append(i.answers, rows...)
	i.flying -= flew
	signal := before == 0 || len(i.answers) >= batch || i.flying == 0
	i.mu.Unlock()
	if signal {
		i.wake.Ring()
	}
}

// sent counts rows that the executor gets.
func (i *inbox) sent(rows int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.flying += rows
}

// stillFlying says whether the executor has rows.
func (i *inbox) stillFlying() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.flying > 0
}

// waiting is how many answers are there.
func (i *inbox) waiting() int {
	i.mu.Lock()
	defer i.mu.Unlock()
	return len(i.answers)
}

// ready takes out what is to be committed now: a batch, or all where nothing else runs, or the first has waited long enough,
// or all says so. It is nil where that is nothing, and says whether there was something.
func (i *inbox) ready(batch int, after time.Duration, all bool) (answers []*check.Answered, ready bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	n := len(i.answers)
	if ready = n >= batch || n > 0 && (all || i.flying == 0 || time.Since(i.oldest) >= after); ready {
		answers, i.answers = i.answers, nil
	}
	return answers, ready
}
