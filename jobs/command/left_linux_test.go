package command

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/sys/unix"

	"prescient/prescient"
)

// One that has taken off all that it is known by stays, and its output with it: the call does not wait for that, and says it.
func TestAnOutputThatIsHeldOpenHoldsNobodyUp(t *testing.T) {
	for _, test := range []struct{ how, held string }{
		{`ulimit -S -m unlimited; env -i setsid sleep NAP & exit EXIT`, "stdout and stderr were held open by "},
		{`ulimit -S -m unlimited; env -i setsid sleep NAP >/dev/null & exit EXIT`, "stderr was held open by "},
		{`ulimit -S -m unlimited; env -i setsid sleep NAP 2>/dev/null & exit EXIT`, "stdout was held open by "},
	} {
		for _, exit := range []string{"0", "3"} {
			nap := napping()
			var log syncBuffer
			how := strings.NewReplacer("NAP", nap, "EXIT", exit).Replace("echo said; echo told >&2; " + strings.Replace(test.how, "& exit", "& sleep 0.2; exit", 1))
			began := time.Now()
			_, err := script(t, how, Options{Log: zerolog.New(&log)}).Check(t.Context(), hostile)
			if took := time.Since(began); took > 20*time.Second { // a second after the end, and patience with a busy machine; it naps for hours
				t.Errorf("%s: answered after %s", how, took)
			}
			if !strings.Contains(log.String(), test.held) || !strings.Contains(log.String(), "(sleep)") {
				t.Errorf("%s: the log has %q", how, log.String())
			}
			if failed := exit != "0"; failed != (err != nil) || failed && (!strings.Contains(err.Error(), test.held) || !strings.HasSuffix(err.Error(), ": told")) {
				t.Errorf("%s: %v", how, err)
			}
			end(t, nap)
		}
	}
}

func TestWhatTakesOffItsEnvironmentIsEnded(t *testing.T) {
	for _, how := range []string{`env -i setsid sleep NAP & sleep 0.2; exit 0`, `(env -i setsid sh -c 'setsid sleep NAP & sleep NAP' &); sleep 0.2; exit 0`,
		`env -i setsid sh -c 'kill -STOP $$; sleep NAP' & sleep 0.2; exit 0`} {
		nap := napping()
		began := time.Now()
		if _, err := script(t, strings.ReplaceAll(how, "NAP", nap), Options{}).Check(t.Context(), hostile); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: it took %s", how, took)
		}
		gone(t, nap)
		end(t, nap)
	}
}

func TestAStoppedProgramHearsThatItEnds(t *testing.T) {
	c := script(t, `trap 'echo cleaned; exit 0' TERM; kill -STOP $$; sleep 60 & wait`, Options{Timeout: 300 * time.Millisecond, Grace: 10 * time.Second})
	ctx, text := kept(t)
	began := time.Now()
	_, err := c.Check(ctx, hostile)
	if !errors.Is(err, prescient.ErrTimeout) || strings.Contains(err.Error(), "killed") || text() != "cleaned\n" || time.Since(began) > 9*time.Second {
		t.Errorf("%v, %q, after %s", err, text(), time.Since(began))
	}
}

// mapping is a script of perl that maps shared memory, of so many MiB, and naps. It ends by itself when a test fails.
func mapping(t *testing.T, mib int, then string) string {
	t.Helper()
	if _, err := os.Stat("/usr/bin/perl"); err != nil {
		t.Skip("it takes perl to map memory: ", err)
	}
	return fmt.Sprintf(`/usr/bin/perl -e 'my $n = %d << 20; my $at = syscall(%d, 0, $n, 3, %d, -1, 0); %s; select(undef, undef, undef, 20)'`,
		mib, unix.SYS_MMAP, unix.MAP_SHARED|unix.MAP_ANONYMOUS|unix.MAP_POPULATE, then)
}

func TestSharedMemoryThatIsMappedCounts(t *testing.T) {
	began := time.Now()
	_, err := script(t, mapping(t, 60, "")+" & "+mapping(t, 60, "")+" & "+mapping(t, 60, "")+" & wait", Options{Memory: 128 << 20, Timeout: 15 * time.Second}).Check(t.Context(), hostile)
	if err == nil || !strings.Contains(err.Error(), "MiB of memory, where 128 are allowed") {
		t.Error(err)
	}
	t.Logf("%s: %v", time.Since(began), err)
}

// What several have of one memory is there once: 60 MiB in five processes are no 300.
func TestMemoryThatIsSharedCountsOnce(t *testing.T) {
	touch := fmt.Sprintf(`open(Z, "</dev/zero"); for (1 .. 4) { last unless fork } syscall(%d, fileno(Z), $at, $n) == $n or die "$!"; select(undef, undef, undef, 2.5); exit 0`, unix.SYS_READ)
	if _, err := script(t, mapping(t, 60, touch), Options{Memory: 128 << 20, Timeout: 15 * time.Second}).Check(t.Context(), hostile); err != nil {
		t.Error(err)
	}
}

func TestOutputsThatAreNoText(t *testing.T) {
	for how, want := range map[string]string{
		`head -c 3000000 /dev/zero | tr '\0' x; exit 3`:      "exited with 3: …xxx",
		`head -c 3000000 /dev/zero; exit 3`:                  "exited with 3",
		`head -c 3000000 /dev/zero | tr '\0' x; exit 75`:     "the last line of stdout is no time to come again: text that is not JSON",
		`head -c 3000000 /dev/zero; exit 75`:                 "the last line of stdout is no time to come again: text that is not JSON",
		`printf '{"next_in": "2h"}\0'; exit 75`:              "the last line of stdout is no time to come again: text that is not JSON",
		`printf '{"%01000d": "2h"}' 1; exit 75`:              "the last line of stdout is no time to come again: the unknown key",
		`printf 'a\0b\0' >&2; kill -9 $$`:                    "was killed by SIGKILL: ab",
		`yes "" | head -c 2000000; echo last >&2; exit 1`:    "exited with 1: last",
		`head -c 100000 /dev/urandom | tr -d '\n'; exit 1`:   "exited with 1",
		`head -c 100000 /dev/urandom | tr -d '\n'; exit 75`:  "the last line of stdout is no time to come again",
		`printf '{"next_in": "\033[31m\0037"}' 1; exit 75`:   "the last line of stdout is no time to come again",
		`printf '{"next_in": "%0100000d"}' 1; exit 75`:       "the last line of stdout is no time to come again",
		`printf '{"next_check_at": "%0100d"}' 1; exit 75`:    "the last line of stdout is no time to come again",
		`printf '%0100000d' 1 | tr 0 '['; exit 75`:           "the last line of stdout is no time to come again",
		`printf '{"a\\u0000\\u001b": "%0100d"}' 1; exit 75`:  "the last line of stdout is no time to come again",
		`while :; do printf x; done | head -c 70000; exit 1`: "exited with 1: …xxx",
	} {
		_, err := script(t, how, Options{Timeout: 20 * time.Second}).Check(t.Context(), hostile)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %.300v; want %q in it", how, err, want)
			continue
		}
		if text := err.Error(); len(text) > 1000 || strings.ContainsAny(text, "\x00\x1b") || strings.ToValidUTF8(text, "") != text {
			t.Errorf("%s: %d bytes: %.300q", how, len(text), text)
		}
	}
}

func TestAProgramThatIsGoneIsAnError(t *testing.T) {
	program := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(program, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	c := command(t, Options{Run: []string{program}})
	if _, err := c.Check(t.Context(), hostile); err != nil {
		t.Error(err)
	}
	for _, gone := range []func() error{
		func() error { return os.WriteFile(program, []byte("#!/no/such/program\n"), 0o700) },
		func() error { return os.Chmod(program, 0) },
		func() error { return os.Remove(program) },
		func() error { return os.Mkdir(program, 0o700) },
	} {
		if err := gone(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.Check(t.Context(), hostile); err == nil || !strings.Contains(err.Error(), program) {
			t.Errorf("%v", err)
		}
	}
}

// The program's own PATH need not have what starts it.
func TestItsPathIsItsOwn(t *testing.T) {
	ctx, text := kept(t)
	if _, err := command(t, Options{Run: []string{"/usr/bin/env"}, Env: map[string]string{"PATH": "/nowhere"}}).Check(ctx, hostile); err != nil || !strings.Contains(text(), "PATH=/nowhere\n") {
		t.Errorf("%v: %s", err, text())
	}
}
