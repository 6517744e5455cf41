package worker

import (
	"errors"
	"fmt"
	"sync"
	"time"
)

// pulse is the sign of life of a loop: before each wait the loop says by when it will be heard of again.
type pulse struct {
	mu   sync.Mutex
	by   time.Time
	runs bool
}

// expect says that the loop is heard of again within a time.
func (p *pulse) expect(within time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs, p.by = true, time.Now().Add(within)
}

func (p *pulse) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.runs = false
}

func (p *pulse) check() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.runs {
		return ErrNotWorking
	}
	if late := time.Since(p.by); late > 0 {
		return fmt.Errorf("the worker has not been heard of for %s longer than it wanted to wait", late.Round(time.Millisecond))
	}
	return nil
}

// ErrNotWorking is returned by Alive before Work has begun and after it has ended.
var ErrNotWorking = errors.New("not working")
