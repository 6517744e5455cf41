package prescient

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A batch is bounded by its payloads too: 60 MB of them are due, and a fraction is in memory.
func TestLongPayloadsAreNotAllInMemory(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		const rows = 60
		payload := json.RawMessage(`"` + strings.Repeat("x", 1<<20-2) + `"`)
		for i := range rows {
			r.insert(at("13:00"), NewJob{Entity: Entity{"order", fmt.Sprint(i)}, JobExec: "check", DueAt: at("13:15"), Payload: payload})
		}
		inUse := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := inUse()
		var peak, calls atomic.Uint64
		execs := registry("check", func(_ context.Context, job FutureJob) (*time.Time, error) {
			if calls.Add(1)%10 == 0 {
				peak.Store(max(peak.Load(), inUse()))
			}
			if len(job.Payload) != len(payload) {
				return nil, fmt.Errorf("a payload of %d bytes", len(job.Payload))
			}
			return nil, nil
		}, Guards{Concurrency: 1})
		figures := r.runAt(at("13:15:01"), execs, WorkerOptions{})
		if figures.Done != rows || calls.Load() != rows {
			t.Errorf("%d calls, %+v", calls.Load(), figures)
		}
		if grew := (peak.Load() - before) >> 20; peak.Load() > before && grew > 30 {
			t.Errorf("%d MB of memory were in use for %d MB of payload", grew, rows)
		} else {
			t.Logf("%d MB of memory were in use for %d MB of payload", grew, rows)
		}
		r.balanced()
	})
}
