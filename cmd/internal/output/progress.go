package output

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// Bar shows on a terminal how far something is. All methods of a nil bar do nothing, so that its users need not ask
// whether a person looks on.
//
//	bar := screen.NewBar("moving rows", total)
//	defer bar.Stop()
//	…
//	bar.Set(done)
type Bar struct {
	screen  *Screen
	writer  progress.Writer
	tracker *progress.Tracker
	stopped sync.Once
	done    chan struct{}
}

// NewBar starts a bar. A total of 0 is one that is not known.
func (s *Screen) NewBar(what string, total int) *Bar {
	b := &Bar{screen: s, writer: progress.NewWriter(), done: make(chan struct{}),
		tracker: &progress.Tracker{Message: what, Total: int64(total), AutoStopDisabled: true}}
	b.writer.SetOutputWriter(s.Writer)
	b.writer.SetUpdateFrequency(100 * time.Millisecond)
	b.writer.SetTrackerPosition(progress.PositionRight)
	b.writer.SetTrackerLength(30)
	b.writer.SetStyle(progress.StyleBlocks)
	b.writer.Style().Visibility.ETA = total > 0
	b.writer.AppendTracker(b.tracker)
	s.mu.Lock()
	s.bar = b
	s.mu.Unlock()
	go func() {
		defer close(b.done)
		b.writer.Render()
	}()
	return b
}

// Set says how much is done.
func (b *Bar) Set(n int) {
	if b != nil {
		b.tracker.SetValue(int64(n))
	}
}

// Add says that so much more is done.
func (b *Bar) Add(n int) {
	if b != nil {
		b.tracker.Increment(int64(n))
	}
}

// Say changes what stands before the bar.
func (b *Bar) Say(what string) {
	if b != nil {
		b.tracker.UpdateMessage(what)
	}
}

// Stop draws the bar a last time and leaves it where it is. It may be called twice.
func (b *Bar) Stop() {
	if b == nil {
		return
	}
	b.stopped.Do(func() {
		b.tracker.MarkAsDone()
		b.screen.mu.Lock()
		defer b.screen.mu.Unlock()
		b.screen.bar = nil
		for {
			b.writer.Stop() // it does nothing where the drawing has not begun yet
			select {
			case <-b.done:
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
}

// Screen is stderr. While there is a bar on it, lines that are written go above the bar.
type Screen struct {
	io.Writer
	mu  sync.Mutex
	bar *Bar
}

// Write implements io.Writer, for whole lines.
func (s *Screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar == nil {
		return s.Writer.Write(p)
	}
	s.bar.writer.Log("%s", bytes.TrimRight(p, "\n"))
	return len(p), nil
}
