package spool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"prescient/jobs/command"
	"prescient/prescient"
	"prescient/prescient/output"
)

// keptOutput is how much of what a file writes is kept, from the end.
const keptOutput = 1 << 20

// execute runs a file that is under way, and has it go where it belongs then.
func (r *runner) execute(ctx context.Context, folder string, f file, path string) {
	slot, _ := slotOf(folder)
	ran := Ran{Code: -1, Started: r.Now().UTC()}
	if err := executable(path); err != nil {
		ran.Outcome, ran.Error = refused, err.Error()
		r.file(folder, f, path, ran, "")
		return
	}
	tail := output.NewTail(keptOutput)
	began := time.Now()
	job := prescient.FutureJob{EntityName: "spool", EntityKey: f.name, JobExec: "spool", DueAt: slot, FirstCheckAt: slot, NextCheckAt: slot,
		CheckCount: f.checks, ErrorCount: f.errors, InsertedAt: slot, CalledAt: ran.Started}
	next, err := r.call(output.With(ctx, tail), path, job)
	ran.RanMS = time.Since(began).Milliseconds()
	if err != nil && ctx.Err() != nil && errors.Is(err, context.Cause(ctx)) { // it was interrupted, and stays due
		r.say(folder, r.move(path, folder, f))
		return
	}
	ran.Code = codeOf(next, err)
	v := prescient.Decide(r.Grid, r.Guards, job, prescient.Answer{Next: next, Err: err}, r.Now())
	if err != nil {
		ran.Error = err.Error()
	} else if v.Reason != "" {
		ran.Error = v.Reason
	}
	if v.Outcome == "" {
		f.checks, f.errors, f.deaths = v.CheckCount, v.ErrorCount, 0
		ran.Next = &v.Slot
		r.tell(folder, f, ran)
		r.say(folder, r.move(path, folderOf(v.Slot), f))
		return
	}
	ran.Outcome = string(v.Outcome)
	text, _ := tail.Text()
	r.file(folder, f, path, ran, text)
}

// call runs a file as a command is run.
func (r *runner) call(ctx context.Context, path string, job prescient.FutureJob) (*time.Time, error) {
	options := r.Command
	options.Run = []string{path}
	c, err := command.New(options)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	return c.Check(ctx, job)
}

// executable refuses what is no program of its user's.
func executable(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no regular file", ErrUnsafe)
	}
	if err := ownAlone(path, 0o022); err != nil {
		return err
	}
	if info.Mode().Perm()&0o100 == 0 {
		return fmt.Errorf("%w: it is not executable: its mode is %04o", ErrUnsafe, info.Mode().Perm())
	}
	return nil
}

// codeOf is the exit code of a call.
func codeOf(next *time.Time, err error) int {
	var exited *command.Exited
	switch {
	case errors.As(err, &exited):
		return exited.Code
	case err != nil:
		return -1
	case next != nil:
		return command.ExitAgain
	}
	return 0
}

// file puts a file that will not be executed again into done, with what it wrote and what came of it. It goes there also where that cannot be written: it was
// executed.
func (r *runner) file(folder string, f file, path string, ran Ran, wrote string) {
	r.tell(folder, f, ran)
	r.filing.Lock()
	defer r.filing.Unlock()
	to := filepath.Join(r.Dir, done, folder)
	err := os.MkdirAll(to, 0o700)
	base := filepath.Join(to, f.name)
	for n := 2; exists(base) || exists(base+".out") || exists(base+".json"); n++ { // one of its name was executed before
		base = filepath.Join(to, fmt.Sprintf("%s~%d", f.name, n))
	}
	ran = r.named(folder, f, ran)
	text, failed := json.MarshalIndent(ran, "", "  ")
	err = errors.Join(err, failed)
	if err == nil {
		err = errors.Join(write(base+".out", []byte(wrote), 0o600), write(base+".json", append(text, '\n'), 0o600))
	}
	if err != nil {
		r.Log.Error().Err(err).Str("slot", folder).Str("file", f.name).Msg("what came of a file cannot be written")
	}
	r.say(folder, rename(path, base))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func (r *runner) named(folder string, f file, ran Ran) Ran {
	ran.Slot, _ = slotOf(folder)
	ran.Name = f.name
	return ran
}

// tell has the caller know what came of a file.
func (r *runner) tell(folder string, f file, ran Ran) {
	r.mu.Lock()
	defer r.mu.Unlock()
	ran = r.named(folder, f, ran)
	r.Tell(ran)
	r.Log.Debug().Str("file", ran.Name).Time("slot", ran.Slot).Str("outcome", ran.Outcome).Int("code", ran.Code).Str("error", ran.Error).Msg("executed")
}

// say logs that a file cannot be put where it is to go: it stays under way, and the next Run finds it. One that has removed or moved itself is nowhere to
// be put.
func (r *runner) say(folder string, err error) {
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.Log.Error().Err(err).Str("slot", folder).Msg("a file that was executed cannot be put where it is to go; it is executed again")
	}
}
