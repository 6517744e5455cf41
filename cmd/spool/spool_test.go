package spool_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// A command is put into a folder and executed from there, without a database.
func TestASpoolNeedsNoDatabase(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "spool")
	run := func(args ...string) rig.Result {
		t.Helper()
		return rig.Execute(t.Context(), cmd.Options{}, nil, "", args...)
	}
	if got := run("spool", "put", dir, "--in", "3h", "--", "echo", "it's", "--json"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, "in the slot") {
		t.Errorf("%v", got)
	}
	slots, err := filepath.Glob(filepath.Join(dir, "2*"))
	if err != nil || len(slots) != 1 {
		t.Fatalf("%q, %v", slots, err)
	}
	run("spool", dir).Wants(t, cmd.ExitOK)
	if err := os.Rename(slots[0], filepath.Join(dir, "202601010000")); err != nil { // its slot is over
		t.Fatal(err)
	}
	if got := run("spool", dir, "--json"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, `"slot":"2026-01-01T00:00:00Z"`) || !strings.Contains(got.Out, `"outcome":"done","exit_code":0`) {
		t.Errorf("%v", got)
	}
	if wrote, err := filepath.Glob(filepath.Join(dir, "done", "202601010000", "*.out")); err != nil || len(wrote) != 1 {
		t.Errorf("%q, %v", wrote, err)
	}
	if err := os.Mkdir(filepath.Join(dir, "202602300000"), 0o700); err != nil {
		t.Fatal(err)
	}
	run("spool", dir).Wants(t, cmd.ExitFailure, "202602300000: there is no such time")
	for _, wrong := range []struct{ args, says string }{
		{"spool", "one folder"}, {"spool a b", "one folder"}, {"spool put " + dir + " --in 1h", "then --"}, {"spool put " + dir + " -- true", "give --at TIME or --in"},
		{"spool " + dir + " --resolution 90s", "whole minutes"}, {"spool " + dir + " --resolution 7m", "day"}, {"spool put " + dir + " --in 40d -- true", "horizon"}, {"spool /etc", "not a safe spool"},
	} {
		run(strings.Fields(wrong.args)...).Wants(t, cmd.ExitUsage, wrong.says)
	}
}
