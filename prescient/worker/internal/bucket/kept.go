package bucket

import (
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
)

// Kept are rows that stay in their slots though they were answered, since nothing can be written of them that would take them out. A worker
// leaves each alone for a while, which grows. They are in its memory alone: another one tries each once.
type Kept struct {
	mu   sync.Mutex
	rows map[prescient.Key]keptRow
}

type keptRow struct {
	revision uint64
	until    time.Time
	times    int
}

// maxKept bounds how many are remembered; those beyond that are tried whenever they are met.
const maxKept = 10_000

// add has a row that will have a revision be left alone for a while.
func (k *Kept) add(a *check.Answered, revision uint64, resolution time.Duration) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.rows == nil {
		k.rows = make(map[prescient.Key]keptRow)
	}
	before, known := k.rows[a.JobKey]
	if !known && len(k.rows) >= maxKept {
		for key, r := range k.rows {
			if time.Since(r.until) > prescient.MaxPutOff {
				delete(k.rows, key)
			}
		}
		if len(k.rows) >= maxKept {
			return
		}
	}
	wait := min(max(resolution, time.Minute)<<min(before.times, 12), prescient.MaxPutOff)
	k.rows[a.JobKey] = keptRow{revision: revision, until: time.Now().Add(wait), times: before.times + 1}
}

// leaves says whether a row is to be left alone.
func (k *Kept) leaves(a *check.Answered) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	r, known := k.rows[a.JobKey]
	if known && r.revision != a.Revision { // it was changed
		delete(k.rows, a.JobKey)
		known = false
	}
	return known && time.Now().Before(r.until)
}
