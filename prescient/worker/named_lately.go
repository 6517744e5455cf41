package worker

import (
	"sync"
	"time"
)

// namedLately remembers what was named within the last hour. The zero value remembers nothing.
type namedLately struct {
	mu    sync.Mutex
	names map[string]time.Time
}

// first says whether a name was not named within the hour before now, and takes note that it is named now.
func (h *namedLately) first(name string, now time.Time) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at, ok := h.names[name]; ok && now.Sub(at) < time.Hour {
		return false
	}
	if len(h.names) >= maxNamed {
		for old, at := range h.names {
			if now.Sub(at) >= time.Hour {
				delete(h.names, old)
			}
		}
		if len(h.names) >= maxNamed {
			return false
		}
	}
	if h.names == nil {
		h.names = make(map[string]time.Time)
	}
	h.names[name] = now
	return true
}

// maxNamed bounds how many names are remembered. What is beyond counts as named.
const maxNamed = 1000
