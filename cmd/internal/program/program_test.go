package program

import (
	"bytes"
	"testing"

	"prescient/cmd/internal/output"
)

func TestThereIsNoBarWhereThereIsNoTerminal(t *testing.T) {
	var out bytes.Buffer
	prog := &Program{Screen: &output.Screen{Writer: &out}}
	b := prog.Bar("moving rows", 3)
	b.Set(1)
	b.Add(1)
	b.Say("moving")
	b.Stop()
	if b != nil || out.String() != "" {
		t.Errorf("drawn: %q", out.String())
	}
}
