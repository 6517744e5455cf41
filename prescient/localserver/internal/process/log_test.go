package process

import (
	"path/filepath"
	"strings"
	"testing"
)

// say runs a program that says a text, to its end.
func say(t *testing.T, log, text string) *Process {
	t.Helper()
	p, err := Start(Command{Program: "/bin/sh", Args: []string{"-c", "cat"}, Dir: t.TempDir(), Input: strings.NewReader(text), Log: log, Hidden: "sesame"})
	if err != nil {
		t.Fatal(err)
	}
	<-p.Exited()
	if p.Err() != nil || !p.Gone() {
		t.Fatalf("it ended with %v", p.Err())
	}
	return p
}

func TestALogIsThatOfAllRunsButWhatIsAskedForIsOfTheLast(t *testing.T) {
	log := filepath.Join(t.TempDir(), "error.log")
	if first := say(t, log, "the port is taken\n"); !first.Logged("nothing", "port is taken") || first.Logged("nothing") {
		t.Errorf("of its own part: %q", first.LogTail())
	}
	second := say(t, log, "ready\n")
	if second.Logged("port is taken") {
		t.Error("what an earlier run wrote counts as the second's")
	}
	if want := "; the end of its log:\n\tthe port is taken\n\tready"; second.LogTail() != want {
		t.Errorf("%q; want %q", second.LogTail(), want)
	}
}

func TestTheEndOfALogIsShortAndHidesWhatIsToBeHidden(t *testing.T) {
	p := say(t, filepath.Join(t.TempDir(), "error.log"), strings.Repeat("open sesame\n", 50))
	if n := strings.Count(p.LogTail(), "\n\topen [password]"); n != tailLines || strings.Contains(p.LogTail(), "sesame") {
		t.Errorf("%d lines: %q", n, p.LogTail())
	}
	if empty := say(t, filepath.Join(t.TempDir(), "error.log"), ""); empty.LogTail() != "" {
		t.Errorf("of an empty log: %q", empty.LogTail())
	}
}

func TestAProcessThatIsKilledIsGone(t *testing.T) {
	p, err := Start(Command{Program: "/bin/sh", Args: []string{"-c", "exec sleep 600"}, Dir: t.TempDir(), Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	if p.Gone() {
		t.Fatal("it ended by itself")
	}
	p.Kill()
	if !p.Gone() || p.Err() == nil {
		t.Errorf("gone: %v, by %v", p.Gone(), p.Err())
	}
}

func TestAProcessThatIsAskedToStopEnds(t *testing.T) {
	p, err := Start(Command{Program: "/bin/sh", Args: []string{"-c", "exec sleep 600"}, Dir: t.TempDir(), Log: filepath.Join(t.TempDir(), "log")})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Stop(); err != nil || !p.Gone() {
		t.Errorf("gone: %v, %v", p.Gone(), err)
	}
}
