package output

import (
	"bytes"
	"strings"
	"sync"
	"testing"
)

// terminal is what a bar draws on.
type terminal struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.Write(p)
}

func (t *terminal) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.b.String()
}

func TestABarLeavesWholeWhatIsWritten(t *testing.T) {
	var out terminal
	s := &Screen{Writer: &out}
	b := s.NewBar("moving rows", 200)
	b.Set(50)
	if _, err := s.Write([]byte("100% sure: a line of the log\n")); err != nil {
		t.Fatal(err)
	}
	b.Add(50)
	b.Say("moving more rows")
	b.Stop()
	b.Stop()
	if _, err := s.Write([]byte("the end\n")); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	line, bar, end := strings.Index(text, "100% sure: a line of the log\n"), strings.Index(text, "moving more rows"), strings.Index(text, "the end\n")
	if line < 0 || bar < 0 || end < max(bar, line) || !strings.Contains(text[bar:], "100") {
		t.Errorf("drawn: %q", text)
	}
}

func TestABarThatIsStoppedAtOnceEnds(t *testing.T) {
	for range 50 {
		s := &Screen{Writer: new(terminal)}
		s.NewBar("moving rows", 0).Stop()
	}
}
