package command

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/jobs/command/internal/group"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/output"
)

// hostile is a row whose texts would do harm in a shell, or as several arguments.
var hostile = prescient.FutureJob{EntityName: "order", EntityKey: `4 2"; touch "$HERE/owned"; $(touch owned) '` + "`id`" + ` *`, JobExec: "export", Tag: "--all",
	DueAt: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC), NextCheckAt: time.Date(2026, 3, 1, 13, 15, 0, 0, time.UTC), CheckCount: 2, ErrorCount: 1,
	CalledAt: time.Date(2026, 3, 1, 13, 15, 1, 0, time.UTC), Payload: []byte(`{"a":1}`)}

func command(t *testing.T, o Options) *Command {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// script is a command that the shell reads.
func script(t *testing.T, text string, o Options) *Command {
	t.Helper()
	o.Run, o.Shell = append([]string{text}, o.Run...), true
	return command(t, o)
}

// kept has what a command writes in a tail, as a step of a job has it.
func kept(t *testing.T) (context.Context, func() string) {
	tail := output.NewTail(1 << 20)
	return output.With(t.Context(), tail), func() string {
		text, _ := tail.Text()
		return text
	}
}

func TestExitCodesAreAnswers(t *testing.T) {
	at := func(text string) *time.Time {
		at, err := time.Parse(time.RFC3339, text)
		if err != nil {
			t.Fatal(err)
		}
		return &at
	}
	for _, test := range []struct {
		script string
		want   *time.Time
		says   string
		final  bool
		in     time.Duration // that it waits before another try
	}{
		{script: "exit 0"},
		{script: `echo '{"next_in": "2h"}'`}, // a program that logs JSON is done all the same
		{script: `echo working; echo '{"next_check_at": "2026-03-01T16:00:00Z"}'; exit 75`, want: at("2026-03-01T16:00:00Z")},
		{script: `printf '{"next_check_at": "2026-03-01T17:00:00+01:00"}'; echo trouble >&2; exit 75`, want: at("2026-03-01T16:00:00Z")},
		{script: `echo '{"next_at": "2026-03-01T16:00:00Z"}'; exit 75`, says: `exited with 75, and the last line of stdout is no time to come again: the unknown key "next_at"`},
		{script: `echo '{"next_in": "2h"}'; echo done; exit 75`, says: "text that is not JSON"},
		{script: `echo null; exit 75`, says: "wrote null: want 0 when the matter is settled"},
		{script: `exit 75`, says: "wrote nothing to stdout"},
		{script: `exit 3`, says: "command sh: exited with 3"},
		{script: `echo one; echo two >&2; echo three >&2; exit 3`, says: "command sh: exited with 3: two\nthree"},
		{script: `echo one; exit 3`, says: "exited with 3: one"},
		{script: `kill -SEGV $$`, says: "was killed by SIGSEGV"},
		{script: `kill -KILL $$`, says: "was killed by SIGKILL"},
		{script: `printf 'a\033[31mred\007\377b\n' >&2; exit 1`, says: "exited with 1: a[31mred\ufffdb"},
		{script: `exit 65`, says: "command sh: exited with 65", final: true},
		{script: `echo one; echo two >&2; exit 65`, says: "exited with 65: two", final: true},
		{script: `echo '{"next_in": "2h"}'; exit 69`, says: `exited with 69, try again in 2h: {"next_in": "2h"}`, in: 2 * time.Hour},
		{script: `echo busy >&2; echo '{"next_in": "90s"}'; exit 69`, says: "exited with 69, try again in 1m30s: busy", in: 90 * time.Second},
		{script: `echo '{"next_check_at": "1970-01-01T00:00:00Z"}'; exit 69`, says: "exited with 69, try again in the next slot", in: -1},
		{script: `echo '{"next_check_at": "9999-12-31T23:59:59Z"}'; exit 69`, says: "exited with 69, try again in ", in: math.MaxInt64},
		{script: `echo busy >&2; exit 69`, says: "exited with 69, and the last line of stdout is no time to come again: wrote nothing to stdout: busy"},
		{script: `echo '{"next_in": "-2h"}'; exit 69`, says: "no time to come again: next_in"},
		{script: `echo '{"next_in": "2h"}'; kill -TERM $$`, says: "was killed by SIGTERM"},
		{script: `echo '{"next_in": "2h"}'; exit 70`, says: "exited with 70"},
	} {
		next, err := script(t, test.script, Options{}).Check(t.Context(), hostile)
		switch {
		case test.says != "" && (err == nil || !strings.Contains(err.Error(), test.says)):
			t.Errorf("%s: %v; want %q in it", test.script, err, test.says)
		case test.says == "" && err != nil:
			t.Errorf("%s: %v", test.script, err)
		case (next == nil) != (test.want == nil) || next != nil && !next.Equal(*test.want):
			t.Errorf("%s: %v; want %v", test.script, next, test.want)
		}
		in, stated := prescient.RetryIn(err)
		if errors.Is(err, prescient.ErrFinal) != test.final || stated != (test.in != 0) || in != test.in && !(test.in < 0 && in < 0) {
			t.Errorf("%s: %v: final %t, another try in %s; want %t, %s", test.script, err, errors.Is(err, prescient.ErrFinal), in, test.final, test.in)
		}
	}
}

func TestNextInCountsFromTheDatabasesClock(t *testing.T) {
	next, err := script(t, `echo '{"next_in": "2h"}'; exit 75`, Options{}).Check(t.Context(), hostile)
	if err != nil || next.Before(hostile.CalledAt.Add(2*time.Hour)) || next.After(hostile.CalledAt.Add(2*time.Hour+time.Minute)) {
		t.Errorf("%v, %v", next, err)
	}
}

func TestAHostileArgumentStaysOneArgument(t *testing.T) {
	here := t.TempDir()
	ctx, text := kept(t)
	c := command(t, Options{Run: []string{"/usr/bin/printf", "<%s>", "{entity_key}", "a {tag}", "{not_a_field}", "$HOME $(id) *", ""}, Dir: here, Env: map[string]string{"HERE": here}})
	if _, err := c.Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	if want := "<" + hostile.EntityKey + "><a --all><{not_a_field}><$HOME $(id) *><>"; text() != want {
		t.Errorf("%s\nwant %s", text(), want)
	}
	// The same by a script: $1 and the variables are data there.
	ctx, text = kept(t)
	if _, err := script(t, `printf '<%s>' "$1" "$PRESCIENT_CHECK_ENTITY_KEY" '{entity_key}'`, Options{Run: []string{"{entity_key}"}, Dir: here}).Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	if want := "<" + hostile.EntityKey + "><" + hostile.EntityKey + "><{entity_key}>"; text() != want {
		t.Errorf("%s\nwant %s", text(), want)
	}
	if made, err := os.ReadDir(here); err != nil || len(made) != 0 {
		t.Errorf("a text was run: %v, %v", made, err)
	}
}

func TestTheRowIsInVariablesAndOnStdin(t *testing.T) {
	ctx, text := kept(t)
	c := script(t, `env | grep ^PRESCIENT_CHECK_ | grep -v _CALL= | grep -v _KEY= | sort; cat`, Options{})
	if _, err := c.Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	want := "PRESCIENT_CHECK_CALLED_AT=2026-03-01T13:15:01Z\nPRESCIENT_CHECK_COUNT=2\nPRESCIENT_CHECK_DUE_AT=2026-03-01T13:00:00Z\n" +
		"PRESCIENT_CHECK_ENTITY_NAME=order\nPRESCIENT_CHECK_ERRORS=1\nPRESCIENT_CHECK_JOB_EXEC=export\nPRESCIENT_CHECK_SLOT=2026-03-01T13:15:00Z\nPRESCIENT_CHECK_TAG=--all\n"
	head, json, _ := strings.Cut(text(), "{")
	if head != want || !strings.Contains(json, `"payload":{"a":1}`) || !strings.Contains(json, `"called_at":"2026-03-01T13:15:01Z"`) || !strings.HasSuffix(json, "}\n") {
		t.Errorf("%s\nwant %s, and the row", text(), want)
	}
}

func TestSecretsOfThisProcessAreNotPassedOn(t *testing.T) {
	t.Setenv("PRESCIENT_DSN", "app:S3cret@tcp(h)/d")
	t.Setenv("MY_TOKEN", "t0k3n")
	t.Setenv("OTHER", "secret")
	ctx, text := kept(t)
	c := script(t, `env; pwd; echo "$MY_TOKEN $OWN" >&2; exit 1`, Options{PassEnv: []string{"MY_TOKEN"}, Env: map[string]string{"OWN": "0wn-value", "LANG": "C"}, Dir: "/usr"})
	_, err := c.Check(ctx, hostile)
	if err == nil || err.Error() != "command sh: exited with 1: *** ***" {
		t.Errorf("%v", err)
	}
	got := "\n" + text()
	for _, want := range []string{"\nMY_TOKEN=t0k3n\n", "\nOWN=0wn-value\n", "\nLANG=C\n", "\nPATH=", "\nPWD=/usr\n", "\n/usr\n"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in %s", want, got)
		}
	}
	if strings.Contains(got, "S3cret") || strings.Contains(got, "OTHER") {
		t.Errorf("secrets were passed on: %s", got)
	}
}

func TestAProgramThatWritesWithoutEndIsReadAtAMeasure(t *testing.T) {
	c := script(t, `(yes out & yes err >&2)`, Options{Timeout: time.Second, Grace: 100 * time.Millisecond, Output: 1000})
	before := cpuOfThisProcess(t)
	_, err := c.Check(t.Context(), hostile)
	if !errors.Is(err, prescient.ErrTimeout) || !strings.HasSuffix(err.Error(), "err\nerr") || len(err.Error()) > 1000 {
		t.Errorf("%.2000v", err)
	}
	if used := cpuOfThisProcess(t) - before; used > 700*time.Millisecond {
		t.Errorf("%s of processor time to read it for a second", used)
	}
}

func cpuOfThisProcess(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// gone waits until nothing of a text runs any more, which stands in the arguments of what a test starts.
func gone(t *testing.T, text string) {
	t.Helper()
	if out, err := exec.Command("pgrep", "-f", text).Output(); err == nil {
		t.Errorf("left behind: %s", out)
	}
}

// napping is an argument of sleep that no other test has.
func napping() string { return fmt.Sprintf("7%d.%d", os.Getpid(), time.Now().UnixNano()%1e6) }

func TestAProgramThatIgnoresTermIsKilledWithItsGroup(t *testing.T) {
	nap := napping()
	c := script(t, `trap '' TERM; sleep `+nap+` & sleep `+nap+`; sleep `+nap, Options{Timeout: 300 * time.Millisecond, Grace: 200 * time.Millisecond})
	began := time.Now()
	_, err := c.Check(t.Context(), hostile)
	if !errors.Is(err, prescient.ErrTimeout) || !strings.Contains(err.Error(), "timed out after 300ms; it ignored TERM for 200ms and was killed") {
		t.Errorf("%v", err)
	}
	if took := time.Since(began); took < 500*time.Millisecond || took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	gone(t, nap)
}

func TestAProgramMayCleanUpAtTerm(t *testing.T) {
	c := script(t, `trap 'echo cleaned; exit 0' TERM; echo ready; sleep 60 & wait`, Options{Timeout: 300 * time.Millisecond})
	ctx, text := kept(t)
	_, err := c.Check(ctx, hostile)
	if !errors.Is(err, prescient.ErrTimeout) || strings.Contains(err.Error(), "killed") || text() != "ready\ncleaned\n" {
		t.Errorf("%v, %q", err, text())
	}
}

func TestAGrandchildThatOutlivesTheProgramIsKilled(t *testing.T) {
	for about, how := range map[string]string{
		"in its group":                  `sleep NAP & exit 0`,
		"in another group":              `set -m; sleep NAP & exit 0`,
		"in a session of its own":       `setsid sleep NAP & exit 0`,
		"a daemon, without its streams": `(setsid sh -c 'sleep NAP; :' </dev/null >/dev/null 2>&1 &) ; sleep 0.2; exit 0`,
	} {
		t.Run(about, func(t *testing.T) {
			nap := napping()
			began := time.Now()
			if _, err := script(t, strings.ReplaceAll(how, "NAP", nap), Options{}).Check(t.Context(), hostile); err != nil {
				t.Error(err)
			}
			if took := time.Since(began); took > 10*time.Second {
				t.Errorf("it took %s", took)
			}
			gone(t, nap)
		})
	}
}

// A worker that stops does not wait for calls that outlast its patience. What they have started must not outlive it.
func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	nap := napping()
	c := script(t, "trap '' TERM; sleep "+nap+" & wait; wait", Options{Grace: 200 * time.Millisecond})
	answered := make(chan error, 1)
	go func() {
		_, err := c.Check(t.Context(), hostile)
		answered <- err
	}()
	// The shell has these words, too, before it heeds its trap.
	within(t, "the program runs", func() bool { return exec.Command("pgrep", "-f", "^sleep "+nap+"$").Run() == nil })
	c.Close()
	if exec.Command("pgrep", "-f", "sleep "+nap).Run() == nil {
		t.Error("a process of it is left")
	}
	if err := <-answered; err == nil || !strings.Contains(err.Error(), "its worker ends; it ignored TERM for 200ms and was killed") {
		t.Error(err)
	}
	if _, err := c.Check(t.Context(), hostile); err == nil || !strings.Contains(err.Error(), "its worker ends") {
		t.Errorf("a call after that: %v", err)
	}
	c.Close()
}

func TestTheEndOfTheContextEndsIt(t *testing.T) {
	cancelled := errors.New("cancelled by the app")
	for _, cause := range []error{cancelled, longrun.ErrHandOn, longrun.ErrDropped} {
		nap := napping()
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(200*time.Millisecond, func() { cancel(cause) })
		_, err := script(t, `sleep `+nap, Options{}).Check(ctx, hostile)
		if !errors.Is(err, cause) || !strings.Contains(err.Error(), "ended after ") {
			t.Errorf("%v: %v", cause, err)
		}
		gone(t, nap)
	}
}

// Another agent has the run by now, and starts the program: there is no time for a grace.
func TestALostRunIsKilledAtOnce(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	began := make(chan time.Time, 1)
	time.AfterFunc(300*time.Millisecond, func() { began <- time.Now(); cancel(longrun.ErrLost) })
	_, err := script(t, `trap '' TERM; sleep 60; sleep 60`, Options{Grace: 30 * time.Second}).Check(ctx, hostile)
	if took := time.Since(<-began); !errors.Is(err, longrun.ErrLost) || took > 5*time.Second {
		t.Errorf("%s, %v", took, err)
	}
}

func TestItsPlaceAndItsLimits(t *testing.T) {
	dir := t.TempDir()
	ctx, text := kept(t)
	c := script(t, `pwd; nice; ulimit -v; ulimit -t; ulimit -n; ulimit -c; cat /proc/self/oom_score_adj`,
		Options{Dir: dir, Memory: 512 << 20, CPU: 7 * time.Second, Files: 50, Nice: 5})
	if _, err := c.Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	if want := dir + "\n5\n" + strconv.Itoa(512<<10) + "\n7\n50\n0\n1000\n"; text() != want {
		t.Errorf("%q; want %q", text(), want)
	}
	ctx, text = kept(t)
	if _, err := script(t, `nice; ulimit -v`, Options{Memory: None, Nice: None, Processes: None}).Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	if want := "0\nunlimited\n"; text() != want {
		t.Errorf("%q; want %q", text(), want)
	}
}

func TestOneThatComputesWithoutEndIsEndedByItsProcessorTime(t *testing.T) {
	_, err := script(t, `while :; do :; done`, Options{CPU: time.Second}).Check(t.Context(), hostile)
	if err == nil || !strings.Contains(err.Error(), "used more than 1s of processor time") {
		t.Error(err)
	}
}

func TestOneThatAllocatesWithoutEndIsEnded(t *testing.T) {
	_, err := script(t, `exec awk 'BEGIN { s = "x"; for (;;) s = s s }'`, Options{Memory: 256 << 20, Timeout: time.Minute}).Check(t.Context(), hostile)
	if err == nil || errors.Is(err, prescient.ErrTimeout) {
		t.Errorf("%v", err)
	}
}

// None of them has too much, and all of them have.
func TestManyThatAllocateALittleAreEndedTogether(t *testing.T) {
	hog := filepath.Join(t.TempDir(), "hog")
	if err := os.WriteFile(hog, []byte("#!/bin/sh\nexec awk 'BEGIN { s = \"0123456789\"; while (length(s) < 60000000) s = s s; system(\"sleep 60\") }'\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	_, err := script(t, `for i in 1 2 3 4 5 6; do `+hog+` & done; wait`, Options{Memory: 256 << 20, Timeout: time.Minute}).Check(t.Context(), hostile)
	if err == nil || !strings.Contains(err.Error(), "MiB of memory, where 256 are allowed") {
		t.Error(err)
	}
}

// All of these end by themselves, at less than 200 processes, lest a test that fails take the machine with it.
func TestOneThatForksWithoutEndIsEnded(t *testing.T) {
	const doubling = `f() { [ $1 -gt 0 ] && { f $(($1-1)) & f $(($1-1)) & }; sleep NAP; }; f 6`
	for about, test := range map[string]struct{ script, user string }{
		"one after the other":                 {`for i in $(seq 150); do sleep NAP & done; wait`, ""},
		"doubling":                            {doubling, ""},
		"doubling, as a user":                 {doubling, "nobody"},
		"in sessions of their own":            {`for i in $(seq 150); do setsid sleep NAP & done; wait`, ""},
		"in sessions of their own, as a user": {`for i in $(seq 150); do setsid sleep NAP & done; wait`, "nobody"},
	} {
		t.Run(about, func(t *testing.T) {
			if test.user != "" && os.Geteuid() != 0 {
				t.Skip("only root may run a program as another user")
			}
			nap := napping()
			began := time.Now()
			_, err := script(t, strings.ReplaceAll(test.script, "NAP", nap), Options{Processes: 20, Timeout: 20 * time.Second, User: test.user}).Check(t.Context(), hostile)
			if err == nil || !strings.Contains(err.Error(), "processes, where 20 are allowed") {
				t.Error(err)
			}
			t.Logf("%s: %v", time.Since(began), err)
			gone(t, nap)
		})
	}
}

// The kernel itself has it start no more.
func TestAUserStartsNoMoreThanTheLimit(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root may run a program as another user")
	}
	ctx, text := kept(t)
	if _, err := script(t, `id -un; echo $HOME $USER; cat /proc/self/limits | grep processes`, Options{User: "nobody", Processes: 10}).Check(ctx, hostile); err != nil {
		t.Fatal(err)
	}
	var most int
	_, limits, _ := strings.Cut(text(), "Max processes")
	if _, err := fmt.Sscan(limits, &most); err != nil || most < 10 || most > group.ThreadsHere()+5000 || !strings.HasPrefix(text(), "nobody\n/nonexistent nobody\n") {
		t.Errorf("%d, %v: %s", most, err, text())
	}
}
