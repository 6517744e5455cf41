package command

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"
)

// asWorker is set where this program is the worker of a test.
const asWorker = "COMMAND_TEST_WORKER"

// inWorker runs the same test in a process of its own, by way of other programs, and returns what that has written.
func inWorker(t *testing.T, files []*os.File, env []string, by ...string) string {
	t.Helper()
	args := append(by, os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v", "-test.count=1", "-test.timeout=1m")
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env, cmd.ExtraFiles = append(append(os.Environ(), asWorker+"=1"), env...), files
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	if err != nil || !strings.Contains(said.String(), "\n--- PASS: ") {
		t.Errorf("%v: %s", err, said.String())
	}
	return said.String()
}

const nobody = 65534

// A command runs as its worker's user, who is not root. What the worker was given by its environment, and in files that were open when it
// started, is not the command's.
func TestACommandCannotReadWhatItsWorkerHas(t *testing.T) {
	const secret = "S3cret-of-the-worker"
	if os.Getenv(asWorker) == "" {
		f, err := os.CreateTemp(t.TempDir(), "")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		if err := os.WriteFile(f.Name(), []byte(secret), 0o600); err != nil {
			t.Fatal(err)
		}
		said := inWorker(t, []*os.File{f, f, f}, []string{"PRESCIENT_DSN=app:" + secret + "@tcp(h)/d"})
		if !strings.Contains(said, "before: "+secret) {
			t.Errorf("nothing would have been read: %s", said)
		}
		if _, after, _ := strings.Cut(said, "after: "); strings.Contains(after, secret) {
			t.Errorf("a command read it: %s", after)
		}
		return
	}
	if os.Geteuid() == 0 {
		for _, err := range []error{syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody), unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)} {
			if err != nil { // the last, since a program that this user starts is that
				t.Fatal(err)
			}
		}
	}
	const look = `{ tr '\0' '\n' </proc/$PPID/environ; cat /proc/$PPID/task/*/environ /proc/$PPID/fd/5 /proc/$PPID/maps; cat <&5; ls -l /proc/$PPID/fd/; } 2>/dev/null | ` +
		`grep -a -o -e 'S3cret-of-the-worker' -e '[0-9a-f]*-[0-9a-f]* r-xp'; :`
	out, err := exec.Command("sh", "-c", look).Output()
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("before: %s\n", out)
	ctx, text := kept(t)
	if _, err := script(t, look, Options{}).Check(ctx, hostile); err != nil {
		t.Error(err)
	}
	fmt.Printf("after: %s.\n", text())
	if text() != "" {
		t.Error("something of the worker can be read")
	}
	for _, own := range []string{"stat", "status", "limits", "maps"} { // what metrics and profiles take
		if text, err := os.ReadFile("/proc/self/" + own); err != nil || len(text) == 0 {
			t.Errorf("the worker cannot look at itself: %v", err)
		}
	}
	if _, err := os.ReadDir("/proc/self/fd"); err != nil {
		t.Errorf("the worker cannot look at itself: %v", err)
	}
}

// The worker has no right to end what another user runs, as one that is not root has none to end a setuid program.
func TestAProgramThatCannotBeEndedHoldsNobodyUp(t *testing.T) {
	nap := os.Getenv("COMMAND_TEST_NAP_LEFT")
	if os.Getenv(asWorker) == "" {
		if _, err := exec.LookPath("setpriv"); err != nil || os.Geteuid() != 0 {
			t.Skip("only root may give away the right to end others' processes, by setpriv")
		}
		nap = napping()
		defer end(t, nap)
		inWorker(t, nil, []string{"COMMAND_TEST_NAP_LEFT=" + nap}, "setpriv", "--bounding-set", "-kill")
		return
	}
	for _, how := range []string{"exec sleep " + nap, "sleep " + nap + " & exit 0", "setsid sleep " + nap + " & exit 75"} {
		var log syncBuffer
		c := script(t, how, Options{User: "nobody", Timeout: 300 * time.Millisecond, Grace: 200 * time.Millisecond, Log: zerolog.New(&log)})
		began := time.Now()
		_, err := c.Check(t.Context(), hostile)
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %s", how, took)
		}
		if err == nil || !strings.Contains(err.Error(), "1 of its processes could not be ended: ") || !strings.Contains(err.Error(), " (sleep), of nobody") {
			t.Errorf("%s: %v", how, err)
		}
		if !strings.Contains(log.String(), "could not be ended") || !strings.Contains(log.String(), " (sleep), of nobody") {
			t.Errorf("%s: the log has %s", how, log.String())
		}
		c.Close()
		if took := time.Since(began); took > 30*time.Second {
			t.Errorf("%s: with Close it took %s", how, took)
		}
	}
	if !t.Failed() { // what waits for them stays
		fmt.Println("\n--- PASS: for as long as they go on")
		os.Exit(0)
	}
}

// syncBuffer may be written to by several goroutines.
type syncBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *syncBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *syncBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}

// end kills what a test has left, by words that nothing else has.
func end(t *testing.T, words string) {
	t.Helper()
	out, _ := exec.Command("pgrep", "-f", "sleep "+words).Output()
	for pid := range strings.FieldsSeq(string(out)) {
		if n, err := strconv.Atoi(pid); err == nil {
			_ = syscall.Kill(n, syscall.SIGKILL)
		}
	}
}

// leaving are scripts that leave processes behind, which the kernel gives to process 1, or to a subreaper.
var leaving = []string{
	`sleep 9 & exit 0`,
	`setsid sleep 9 & exit 0`,
	`(setsid sh -c 'sleep 9; :' >/dev/null 2>&1 &); sleep 0.1; exit 0`,
	`(setsid true &); (true &); (env -i setsid true &); sleep 0.2; exit 0`, // they have ended before anybody could look
	`(env -i setsid sh -c 'setsid sleep 0.1 & sleep 0.05' &); sleep 0.3; exit 0`,
	`setsid sh -c 'setsid sh -c "sleep 9" & sleep 0.01' & exit 3`,
}

// The worker reaps what its calls left, and takes no exit code from the program that it is part of, whose children may have sessions and
// orphans of their own.
func TestAWorkerThatAdoptsLeavesNoZombies(t *testing.T) {
	switch os.Getenv(asWorker) {
	case "":
		t.Run("as a subreaper", func(t *testing.T) { inWorker(t, nil, []string{asWorker + "=subreaper"}) })
		t.Run("as process 1", func(t *testing.T) {
			if out, err := exec.Command("unshare", "-fp", "--mount-proc", "true").CombinedOutput(); err != nil {
				t.Skipf("no namespace of processes can be had here: %v: %s", err, out)
			}
			inWorker(t, nil, []string{asWorker + "=1"}, "unshare", "-fp", "--mount-proc")
		})
		return
	case "subreaper":
		if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
			t.Fatal(err)
		}
	default:
		if os.Getpid() != 1 {
			t.Fatalf("this is process %d", os.Getpid())
		}
	}
	var both sync.WaitGroup
	stop := make(chan struct{})
	for range 2 {
		both.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				own := exec.Command("sh", "-c", "sleep 0.02; exit 7")
				own.SysProcAttr = &syscall.SysProcAttr{Setsid: n%2 == 0}
				if err := own.Run(); own.ProcessState == nil || own.ProcessState.ExitCode() != 7 {
					t.Errorf("an exit code was stolen: %v", err)
				}
			}
		})
	}
	var calls sync.WaitGroup
	for _, how := range leaving {
		c := script(t, how, Options{})
		for range 2 {
			calls.Go(func() { _, _ = c.Check(t.Context(), hostile) })
		}
	}
	calls.Wait()
	close(stop)
	both.Wait()
	if left := children(t); len(left) > 0 {
		t.Errorf("%d of %d calls' processes are left: %q", len(left), 2*len(leaving), left)
	}
}

// children are those of this process.
func children(t *testing.T) (list []string) {
	t.Helper()
	stats, err := filepath.Glob("/proc/[0-9]*/stat")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range stats {
		text, _ := os.ReadFile(name)
		fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
		if len(fields) > 2 && fields[1] == strconv.Itoa(os.Getpid()) {
			list = append(list, string(text[:min(len(text), 60)]))
		}
	}
	slices.Sort(list)
	return list
}
