package command

import (
	"errors"
	"io"
	"os"
	"time"

	"prescient/prescient/output"
)

// After freely bytes a stream is read at no more than chunk bytes in each pause, about 16 MB/s: a program that writes without end waits,
// rather than have this process do nothing but read.
const (
	freely = 1 << 20
	chunk  = 32 << 10
	pause  = 2 * time.Millisecond
)

// lateRead is how long what was written before the end may take to be read.
const lateRead = 700 * time.Millisecond

// stream is one output of a program, of which the end is kept.
type stream struct {
	child, ours *os.File
	tail        *output.Tail
	to          io.Writer
	read        chan struct{} // closed once all is read, or it is too late for that
	held        bool          // it was too late; to be read after that
}

func newStream(keep int, to io.Writer) (*stream, error) {
	ours, child, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	return &stream{child: child, ours: ours, tail: output.NewTail(keep), to: to}, nil
}

// started reads on, now that the program has its end.
func (s *stream) started() {
	_ = s.child.Close()
	s.read = make(chan struct{})
	go func() {
		defer close(s.read)
		buffer := make([]byte, chunk)
		for total := 0; ; {
			n, err := s.ours.Read(buffer)
			_, _ = s.tail.Write(buffer[:n])
			_, _ = s.to.Write(buffer[:n]) // whoever keeps it says so where he cannot
			if err != nil {
				s.held = errors.Is(err, os.ErrDeadlineExceeded)
				return
			}
			if total += n; total > freely {
				time.Sleep(pause)
			}
		}
	}()
}

// text returns the end of what was written until a moment, and whether somebody still had the other end open then.
func (s *stream) text(late time.Time) (text string, held bool) {
	_ = s.ours.SetReadDeadline(late)
	<-s.read
	text, _ = s.tail.Text()
	return text, s.held
}

func (s *stream) close() {
	if s != nil {
		_ = s.child.Close()
		_ = s.ours.Close()
	}
}
