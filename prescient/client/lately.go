package client

import (
	"cmp"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

const (
	// looksFirstFor is for how long a client looks before it inserts in a way for which that was worth it.
	looksFirstFor = time.Minute
	// maxLooksFirst bounds how many ways are remembered.
	maxLooksFirst = 1000
)

// lately is what a client has seen of late. It is for concurrent use.
type lately struct {
	mu         sync.Mutex
	lookedAt   time.Time         // at slot_config
	looksFirst map[way]time.Time // until when
}

// way is a way to insert.
type way struct {
	jobExec string
	policy  prescient.OnPending
}

func wayOf(job prescient.NewJob) way { return way{job.JobExec, cmp.Or(job.OnPending, prescient.Keep)} }

// looked notes a look at slot_config.
func (l *lately) looked(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lookedAt = now
}

// wasWorthIt notes that a look before an insert is worth it.
func (l *lately) wasWorthIt(w way, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.looksFirst == nil || len(l.looksFirst) >= maxLooksFirst {
		l.looksFirst = make(map[way]time.Time)
	}
	l.looksFirst[w] = now.Add(looksFirstFor)
}

// needsLook says whether to look before an insert.
func (l *lately) needsLook(w way, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.lookedAt) >= store.VersionLasts || now.Before(l.looksFirst[w])
}
