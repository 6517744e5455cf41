package output

import (
	"strings"
	"sync"
)

// Tail is a writer that keeps the end of what is written to it. It is for concurrent use, and its writes never fail.
type Tail struct {
	mu      sync.Mutex
	most    int
	kept    []byte // up to twice as much as it keeps, so that most writes move nothing
	dropped int64
}

// NewTail returns a Tail that keeps so many bytes; none where that is not positive.
func NewTail(most int) *Tail { return &Tail{most: max(most, 0)} }

// Write implements io.Writer.
func (t *Tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(p)
	if over := n - t.most; over > 0 {
		t.dropped += int64(len(t.kept)) + int64(over)
		t.kept, p = t.kept[:0], p[over:]
	}
	if t.kept = append(t.kept, p...); len(t.kept) > 2*t.most {
		t.shorten()
	}
	return n, nil
}

// shorten drops what is not to be kept. The lock is held.
func (t *Tail) shorten() {
	if over := len(t.kept) - t.most; over > 0 {
		t.dropped += int64(over)
		t.kept = append(t.kept[:0], t.kept[over:]...)
	}
}

// Text returns the end of what was written, as valid UTF-8, and how many bytes before it were dropped. Where some were, it begins
// with a whole line, if there is one.
func (t *Tail) Text() (text string, dropped int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.shorten()
	text, dropped = string(t.kept), t.dropped
	if dropped > 0 {
		if part, rest, found := strings.Cut(text, "\n"); found && rest != "" {
			text, dropped = rest, dropped+int64(len(part)+1)
		}
	}
	return strings.ToValidUTF8(text, "\ufffd"), dropped
}
