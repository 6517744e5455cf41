package operate

import (
	"bytes"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"prescient/cmd/internal/output"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
)

func TestBarsOfReslotAndPruneTellStepsAndRows(t *testing.T) {
	for want, tell := range map[string]func(b *output.Bar, log zerolog.Logger){
		"moving rows, 7 slots": func(b *output.Bar, log zerolog.Logger) {
			progress := reslotProgress(b, log)
			progress(reslot.Progress{Step: reslot.StepWait})
			progress(reslot.Progress{Step: reslot.StepMove, Slots: 7, Rows: 432})
		},
		"checking every row: inserts wait, 7 slots": func(b *output.Bar, log zerolog.Logger) {
			reslotProgress(b, log)(reslot.Progress{Step: reslot.StepCheck, Slots: 7, Rows: 432})
		},
		"pruning, 1 weeks dropped, 2 made": func(b *output.Bar, log zerolog.Logger) {
			pruneProgress(b, log)(prune.Report{Dropped: []string{"a"}, Made: []string{"b", "c"}, HistoryRows: 400, LedgerRows: 32})
		},
	} {
		var out, logged bytes.Buffer
		log := zerolog.New(&logged)
		b := (&output.Screen{Writer: &out}).NewBar("working", 0)
		tell(b, log.Level(zerolog.InfoLevel))
		b.Stop()
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
