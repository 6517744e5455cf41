package cmd

import (
	"bytes"
	"io"
	"sync"
	"time"

	"github.com/jedib0t/go-pretty/v6/progress"
)

// bar shows on a terminal how far something is. All methods of a nil bar do nothing, so that its users need not ask
// whether a person looks on.
//
//	bar := a.newBar("moving rows", total)
//	defer bar.stop()
//	…
//	bar.set(done)
type bar struct {
	screen  *screen
	writer  progress.Writer
	tracker *progress.Tracker
	stopped sync.Once
	done    chan struct{}
}

// newBar starts a bar on stderr, or returns nil where that is no terminal, or JSON is asked for. A total of 0 is one that
// is not known.
func (a *app) newBar(what string, total int) *bar {
	if !a.showsBars() {
		return nil
	}
	return a.screen.newBar(what, total)
}

// showsBars says whether there is somebody to show a bar to.
func (a *app) showsBars() bool { return !a.json && isTerminal(a.screen) }

func (s *screen) newBar(what string, total int) *bar {
	b := &bar{screen: s, writer: progress.NewWriter(), done: make(chan struct{}),
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

// set says how much is done.
func (b *bar) set(n int) {
	if b != nil {
		b.tracker.SetValue(int64(n))
	}
}

// add says that so much more is done.
func (b *bar) add(n int) {
	if b != nil {
		b.tracker.Increment(int64(n))
	}
}

// say changes what stands before the bar.
func (b *bar) say(what string) {
	if b != nil {
		b.tracker.UpdateMessage(what)
	}
}

// stop draws the bar a last time and leaves it where it is. It may be called twice.
func (b *bar) stop() {
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

// screen is stderr. While there is a bar on it, lines that are written go above the bar.
type screen struct {
	io.Writer
	mu  sync.Mutex
	bar *bar
}

// Write implements io.Writer, for whole lines.
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bar == nil {
		return s.Writer.Write(p)
	}
	s.bar.writer.Log("%s", bytes.TrimRight(p, "\n"))
	return len(p), nil
}
