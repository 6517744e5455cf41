package command

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
)

func TestOptionsThatAreRefused(t *testing.T) {
	for want, o := range map[string]Options{
		"Run is empty":                       {},
		"Run has a NUL byte":                 {Run: []string{"true", "a\x00b"}},
		`"no-such-program": executable file`: {Run: []string{"no-such-program"}},
		`stat /no/such: no such file`:        {Run: []string{"/no/such"}},
		`stat /usr/no/such: no such file`:    {Run: []string{"no/such"}, Dir: "/usr"},
		`Dir "here": want an absolute path`:  {Run: []string{"true"}, Dir: "here"},
		"Timeout -1s":                        {Run: []string{"true"}, Timeout: -time.Second},
		"Grace 1m0s: up to 30s":              {Run: []string{"true"}, Grace: time.Minute},
		"Memory of 1000 bytes: at least":     {Run: []string{"true"}, Memory: 1000},
		"CPU 1.5s: want whole seconds":       {Run: []string{"true"}, CPU: 1500 * time.Millisecond},
		"Nice 20: 1 to 19":                   {Run: []string{"true"}, Nice: 20},
		"Processes -2":                       {Run: []string{"true"}, Processes: -2},
		"Files 3: at least 8":                {Run: []string{"true"}, Files: 3},
		"Output of 100000000 bytes":          {Run: []string{"true"}, Output: 1e8},
		`a variable "A=B" is not allowed`:    {Run: []string{"true"}, Env: map[string]string{"A=B": ""}},
		"every call has its own":             {Run: []string{"true"}, Env: map[string]string{"PRESCIENT_CHECK_TAG": "x"}},
		"variable A has a NUL byte":          {Run: []string{"true"}, Env: map[string]string{"A": "\x00"}},
		`a variable "" is not allowed`:       {Run: []string{"true"}, PassEnv: []string{""}},
		`"spring.profiles.active" is not`:    {Run: []string{"true"}, Env: map[string]string{"spring.profiles.active": "x"}},
		`a variable "IFS" is not allowed`:    {Run: []string{"true"}, PassEnv: []string{"IFS"}},
		`User "no such user": `:              {Run: []string{"true"}, User: "no such user"},
	} {
		if _, err := New(o); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q in it", o, err, want)
		}
	}
}

func TestGuardsLeaveTimeToEndTheProgram(t *testing.T) {
	c := command(t, Options{Run: []string{"true"}, Timeout: time.Minute, Grace: 2 * time.Second})
	if g := c.Guards(prescient.Guards{MaxErrors: 3, Timeout: time.Second}); g.MaxErrors != 3 || g.Timeout != time.Minute+2*time.Second+endSlack {
		t.Errorf("%+v", g)
	}
	if g := command(t, Options{Run: []string{"true"}}).Guards(prescient.Guards{Timeout: time.Second}); g.Timeout != time.Second {
		t.Errorf("%+v", g)
	}
}

func TestWhatCannotBeSetUpIsAnErrorThatSaysWhy(t *testing.T) {
	gone := t.TempDir()
	c := script(t, "exit 0", Options{Dir: gone})
	if err := os.Remove(gone); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Check(t.Context(), hostile); err == nil || !strings.Contains(err.Error(), "it could not be started: ") {
		t.Errorf("without its folder: %v", err)
	} else if !strings.Contains(err.Error(), "stat "+gone) {
		t.Errorf("it does not name the folder: %v", err)
	}
	c = script(t, "exit 0", Options{Memory: minMemory})
	c.options.Memory = 64 << 10 // less than a program needs to be loaded
	if _, err := c.Check(t.Context(), hostile); err == nil {
		t.Error("it ran in 64 KiB")
	}
}

// child is set where this program is the worker that a test kills.
const child = "COMMAND_TEST_NAP"

func TestAProgramDiesWithItsWorker(t *testing.T) {
	if nap := os.Getenv(child); nap != "" {
		_, _ = command(t, Options{Run: []string{"sleep", nap}}).Check(t.Context(), hostile)
		return
	}
	nap := napping()
	worker := exec.Command(os.Args[0], "-test.run=^TestAProgramDiesWithItsWorker$")
	worker.Env = append(os.Environ(), child+"="+nap)
	if err := worker.Start(); err != nil {
		t.Fatal(err)
	}
	runs := func() bool { return exec.Command("pgrep", "-f", "sleep "+nap).Run() == nil }
	within(t, "the program runs", runs)
	if err := worker.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = worker.Wait()
	within(t, "the program is gone", func() bool { return !runs() })
}

func within(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("it was not so within 20 s that %s", what)
		}
	}
}
