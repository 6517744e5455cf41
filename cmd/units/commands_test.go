package units_test

import (
	"strings"
	"testing"

	"prescient/cmd/internal/rig"
)

// What units write are commands that are there.
func TestUnitsNameCommands(t *testing.T) {
	seen := 0
	for _, args := range [][]string{{"systemd"}, {"systemd", "--work"}, {"cron"}} {
		for _, text := range texts(t, args...) {
			for line := range strings.Lines(text) {
				if _, rest, is := strings.Cut(line, "/opt/prescient "); is {
					seen++
					if command := strings.Fields(rest)[0]; rig.Uses[command].Role != "worker" && command != "prune" && command != "forward" {
						t.Errorf("%q has the command %s", line, command)
					}
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d lines with a command", seen)
	}
}
