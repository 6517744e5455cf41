package cmd

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/rs/zerolog"

	"prescient/prescient/prune"
	"prescient/prescient/reslot"
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
	s := &screen{Writer: &out}
	b := s.newBar("moving rows", 200)
	b.set(50)
	if _, err := s.Write([]byte("100% sure: a line of the log\n")); err != nil {
		t.Fatal(err)
	}
	b.add(50)
	b.say("moving more rows")
	b.stop()
	b.stop()
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
		s := &screen{Writer: new(terminal)}
		s.newBar("moving rows", 0).stop()
	}
}

func TestThereIsNoBarWhereThereIsNoTerminal(t *testing.T) {
	var out terminal
	a := &app{screen: &screen{Writer: &out}}
	b := a.newBar("moving rows", 3)
	b.set(1)
	b.add(1)
	b.say("moving")
	b.stop()
	if b != nil || out.String() != "" {
		t.Errorf("drawn: %q", out.String())
	}
}

func TestBarsOfReslotAndPruneTellStepsAndRows(t *testing.T) {
	for want, tell := range map[string]func(b *bar, log zerolog.Logger){
		"moving rows, 7 slots": func(b *bar, log zerolog.Logger) {
			progress := reslotProgress(b, log)
			progress(reslot.Progress{Step: reslot.StepWait})
			progress(reslot.Progress{Step: reslot.StepMove, Slots: 7, Rows: 432})
		},
		"checking every row: inserts wait, 7 slots": func(b *bar, log zerolog.Logger) {
			reslotProgress(b, log)(reslot.Progress{Step: reslot.StepCheck, Slots: 7, Rows: 432})
		},
		"pruning, 1 weeks dropped, 2 made": func(b *bar, log zerolog.Logger) {
			pruneProgress(b, log)(prune.Report{Dropped: []string{"a"}, Made: []string{"b", "c"}, HistoryRows: 400, LedgerRows: 32})
		},
	} {
		var out, logged terminal
		log := zerolog.New(&logged)
		b := (&screen{Writer: &out}).newBar("working", 0)
		tell(b, log.Level(zerolog.InfoLevel))
		b.stop()
		if text := out.String(); !strings.Contains(text, want) || !strings.Contains(text, "432") || logged.String() != "" {
			t.Errorf("drawn: %q, logged: %q; want %q and 432 on the bar", text, logged.String(), want)
		}
		tell(nil, log) // no terminal
		if text := logged.String(); !strings.Contains(text, "32") {
			t.Errorf("logged: %q", text)
		}
	}
	for _, step := range []reslot.Step{reslot.StepWait, reslot.StepAlter, reslot.StepMove, reslot.StepCheck, reslot.StepFinish} {
		if reslotSteps[step] == "" {
			t.Errorf("a bar says nothing of the step %s", step)
		}
	}
}
