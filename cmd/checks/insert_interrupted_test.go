package checks_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// Whoever types Ctrl-C must not have to end the input first, and no file stays behind, not even where the process is
// killed.
func TestASignalEndsAnInsertThatWaitsForInput(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	check := []string{"insert", "--entity", "order/1", "--exec", "x", "--in", "1h", "--payload"}
	for _, args := range [][]string{{"insert", "--file", "-"}, {"insert", "--file", pipe}, append(check, "-"), append(check, "@"+pipe)} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			var said rig.Buffer
			temporary := t.TempDir()
			process := exec.Command(rig.Program(t), args...)
			process.Env = []string{"PRESCIENT_DSN=" + rig.NoServer, "TMPDIR=" + temporary}
			process.Stderr = &said
			input, err := process.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := process.Start(); err != nil {
				t.Fatal(err)
			}
			if last := args[len(args)-1]; strings.HasSuffix(last, pipe) {
				if input, err = os.OpenFile(pipe, os.O_WRONLY, 0); err != nil { // it waits for the reader
					t.Fatal(err)
				}
			}
			// It is more than a pipe holds: once all is written, the process is reading.
			if _, err := io.WriteString(input, strings.Repeat(`{"entity": "order/1", "job_exec": "x", "in": "1h"}`+"\n", 5000)); err != nil {
				t.Fatal(err)
			}
			if left, err := os.ReadDir(temporary); err != nil || len(left) > 0 {
				t.Errorf("killed now it would leave %v (%v)", left, err)
			}
			if err := process.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				_ = process.Wait()
			}()
			select {
			case <-ended:
			case <-time.After(time.Minute):
				t.Error("it still waits for input a minute after the signal")
				_ = process.Process.Kill()
				<-ended
			}
			_ = input.Close()
			if code := process.ProcessState.ExitCode(); code != cmd.ExitInterrupted || said.String() != "prescient: interrupted\n" {
				t.Errorf("exit code %d, and said %q", code, said.String())
			}
		})
	}
}

func TestAnInsertDoesNotWaitForAPipeThatNobodyWritesTo(t *testing.T) {
	t.Parallel()
	var writer *os.File
	t.Cleanup(func() { _ = writer.Close() }) // once the pipe is gone, for a reader that only comes now
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // lets the reader go
		var err error
		if writer, err = os.OpenFile(pipe, os.O_RDWR, 0); err != nil {
			t.Error(err)
		}
	})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rig.Execute(ctx, cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "", "insert", "--file", pipe).
		Wants(t, cmd.ExitInterrupted, "prescient: interrupted\n")
}

// The list of bad lines is one list: what the lines say and what the database says of them, in their order.
func TestEveryWayToInsertAFileNamesTheSameBadLines(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.At("13:00")
		r.OK("insert", "--entity", "order/there", "--exec", "x", "--in", "1h")
		list := rig.File(r.T, "list.jsonl", strings.Join([]string{
			`{"entity": "order/1", "job_exec": "x", "in": "31d"}`,
			`{"entity": "order/2", "job_exec": "x", "in": "soon"}`,
			`{"entity": "order/3", "job_exec": "x", "in": "1h"}`,
			`{"entity": "order/there", "job_exec": "x", "in": "1h", "on_pending": "error"}`,
			`{`,
			`{"entity": "order/3", "job_exec": "x", "in": "1h", "on_pending": "error"}`,
		}, "\n"))
		badLines := func(said string) (bad []string) {
			for line := range strings.Lines(said) {
				if strings.Contains(line, list) {
					bad = append(bad, line)
				}
			}
			return bad
		}
		all := r.Execute("insert", "--file", list)
		all.Wants(r.T, cmd.ExitUsage, "5 of 6 lines are bad; nothing was inserted")
		some := r.Execute("insert", "--file", list, "--keep-going")
		some.Wants(r.T, cmd.ExitPartly, "5 of 6 lines are bad and were left out")
		want := badLines(all.Err)
		if got := badLines(some.Err); len(want) != 5 || fmt.Sprint(got) != fmt.Sprint(want) {
			r.Errorf("with --keep-going: %q\nwithout: %q", got, want)
		}
		for i, number := range []int{1, 2, 4, 5, 6} {
			if i < len(want) && !strings.Contains(want[i], fmt.Sprintf("%s:%d: ", list, number)) {
				r.Errorf("%d: %s", number, want[i])
			}
		}
	})
}

// holdUp inserts a file of 1500 lines whose second chunk waits for a row that somebody has locked, tells it to stop then,
// and returns what it said.
func holdUp(r *rig.Rig, args ...string) rig.Result {
	r.Helper()
	r.Migrate()
	r.OK("insert", "--entity", "order/1400", "--exec", "x", "--in", "1h")
	var text strings.Builder
	for i := range 1500 {
		fmt.Fprintf(&text, `{"entity": "order/%d", "job_exec": "x", "in": "2h", "on_pending": "replace"}`+"\n", i)
	}
	list := rig.File(r.T, "list.jsonl", text.String())
	held, err := r.DB.BeginTx(r.Context(), &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // no gaps
	r.Must(err)
	defer held.Rollback()
	var key string
	r.Must(held.QueryRow("SELECT entity_key FROM future_job FOR UPDATE").Scan(&key))
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	did := make(chan rig.Result, 1)
	full := append([]string{"insert", "--file", list}, args...)
	env := r.EnvironmentOf(full)
	go func() { did <- rig.Execute(ctx, r.Options, env, "", full...) }()
	rig.Eventually(r.T, "the first chunk is written", func() bool {
		dirty, err := r.DB.BeginTx(r.Context(), &sql.TxOptions{Isolation: sql.LevelReadUncommitted})
		r.Must(err)
		defer dirty.Rollback()
		var n int
		r.Must(dirty.QueryRow("SELECT COUNT(*) FROM future_job").Scan(&n))
		return n >= 1001
	})
	cancel()
	select {
	case got := <-did:
		return got
	case <-time.After(time.Minute):
		r.Fatal("it has not ended a minute after it was told to")
		return rig.Result{}
	}
}

func TestAnInterruptedInsertOfAFileSaysWhatItInserted(t *testing.T) {
	t.Run("all or nothing", func(t *testing.T) {
		rig.EachFlavour(t, func(r *rig.Rig) {
			got := holdUp(r)
			got.Wants(r.T, cmd.ExitInterrupted, "prescient: nothing was inserted: ", "interrupted\n")
			if n := strings.Count(got.Err, "\n"); n != 1 || got.Out != "" {
				r.Errorf("%v", got)
			}
			rig.Eventually(r.T, "nothing is inserted", func() bool { return r.Count("SELECT COUNT(*) FROM future_job") == 1 })
		})
	})
	t.Run("chunk by chunk", func(t *testing.T) {
		rig.EachFlavour(t, func(r *rig.Rig) {
			got := holdUp(r, "--keep-going")
			got.Wants(r.T, cmd.ExitInterrupted, "prescient: inserted 1000, replaced 0, kept 0 before line 1001", "interrupted\n")
			if n := strings.Count(got.Err, "\n"); n != 1 || got.Out != "" {
				r.Errorf("%v", got)
			}
			if n := r.Count("SELECT COUNT(*) FROM future_job"); n != 1001 {
				r.Errorf("%d rows", n)
			}
		})
	})
}
