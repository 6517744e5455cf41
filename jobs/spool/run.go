package spool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// mostDeaths is how often a file may be under way when its process dies: then it is not executed again.
const mostDeaths = 2

// Run executes what is due, the oldest slot first, and what becomes due meanwhile, until nothing is. Each file is executed once, or again where the
// process died under it. It returns once nothing of it runs any more; where ctx ends, what was interrupted stays due. The error wraps ErrBusy,
// ErrUnsafe, ErrLeft or prescient.ErrInvalid; that of a file is no error of Run.
func Run(ctx context.Context, o Options) (err error) {
	if err := o.complete(); err != nil {
		return err
	}
	if err := o.executes(); err != nil {
		return err
	}
	if err := ready(o.Dir); err != nil {
		return err
	}
	unlock, err := lock(o.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	r := &runner{Options: o, left: make(map[string]error)}
	if err := r.recover(); err != nil {
		return err
	}
	for ctx.Err() == nil {
		began, err := r.pass(ctx)
		if err != nil {
			return err
		}
		if began == 0 {
			break
		}
	}
	return errors.Join(r.forget(), r.whatIsLeft())
}

// runner is one Run under way.
type runner struct {
	Options
	mu     sync.Mutex       // one tells at a time
	filing sync.Mutex       // one names a file in done at a time
	left   map[string]error // files and folders that stay where they are, by their paths
}

// leave leaves a file or folder where it is, and lets all others be executed.
func (r *runner) leave(path string, why error) {
	if r.left[path] != nil {
		return
	}
	r.left[path] = why
	r.Log.Error().Err(why).Str("path", path).Msg("it stays, and is not executed")
}

// whatIsLeft is an error that names a few of those that were left.
func (r *runner) whatIsLeft() error {
	const named = 3
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(r.left)) {
		if len(errs) == named {
			errs = append(errs, fmt.Errorf("%w: %d more", ErrLeft, len(r.left)-named))
			break
		}
		errs = append(errs, fmt.Errorf("%w: %s: %w", ErrLeft, path, r.left[path]))
	}
	return errors.Join(errs...)
}

// recover puts back what was under way when a process died.
func (r *runner) recover() error {
	entries, err := os.ReadDir(filepath.Join(r.Dir, running))
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(r.Dir, running, e.Name())
		folder, f, ok := parseUnderWay(e.Name())
		if !ok {
			continue
		}
		if f.deaths++; f.deaths > mostDeaths {
			r.file(folder, f, path, Ran{Outcome: crashed, Code: -1, Error: fmt.Sprintf("its process died %d times", f.deaths)}, "")
			continue
		}
		if err := r.move(path, folder, f); err != nil {
			r.leave(path, err)
		}
	}
	return nil
}

// due are the folders of slots that have come, the oldest first. What only looks like one is left.
func (r *runner) due() (folders []string, err error) {
	entries, err := os.ReadDir(r.Dir)
	if err != nil {
		return nil, err
	}
	now := r.Now()
	at := make(map[string]time.Time)
	for _, e := range entries {
		slot, ok := slotOf(e.Name())
		path := filepath.Join(r.Dir, e.Name())
		switch {
		case !ok && looksLikeSlot(e.Name()):
			r.leave(path, errors.New("there is no such time; yyyymmddhhmm is allowed"))
		case ok && !e.IsDir():
			r.leave(path, errors.New("it is no folder"))
		case ok && !slot.After(now) && r.left[path] == nil:
			at[e.Name()] = slot
			folders = append(folders, e.Name())
		}
	}
	slices.SortFunc(folders, func(a, b string) int { return cmp.Or(at[a].Compare(at[b]), strings.Compare(a, b)) })
	return folders, nil
}

// pass executes what is due, a slot after the other, and says how many files that were.
func (r *runner) pass(ctx context.Context) (began int, err error) {
	folders, err := r.due()
	if err != nil {
		return 0, err
	}
	for _, folder := range folders {
		n, err := r.slot(ctx, folder)
		began += n
		if err != nil {
			r.leave(filepath.Join(r.Dir, folder), err)
		}
		if ctx.Err() != nil || n > 0 {
			return began, nil // an older one may have come meanwhile
		}
	}
	return began, nil
}

// slot executes the files of a slot, some at a time, and removes its folder where it is empty then.
func (r *runner) slot(ctx context.Context, folder string) (began int, err error) {
	path := filepath.Join(r.Dir, folder)
	if err := ownAlone(path, 0o022); err != nil { // others do not come as far as to read it
		return 0, err
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return 0, err
	}
	ended := filepath.Join(r.Dir, done, folder)
	if err := os.MkdirAll(ended, 0o700); err != nil { // else nobody could tell later that they were executed
		return 0, err
	}
	places := make(chan struct{}, r.Concurrency)
	var all sync.WaitGroup
	for _, e := range entries {
		name := filepath.Join(path, e.Name())
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") || r.left[name] != nil {
			continue
		}
		places <- struct{}{} // one that waits for its turn is not under way
		if ctx.Err() != nil {
			break
		}
		taken, f, err := r.take(folder, e.Name())
		if err != nil {
			<-places
			if !errors.Is(err, fs.ErrNotExist) { // else somebody has removed it
				r.leave(name, err)
			}
			continue
		}
		began++
		all.Go(func() {
			defer func() { <-places }()
			r.execute(ctx, folder, f, taken)
		})
	}
	all.Wait()
	for _, empty := range []string{path, ended} {
		if err := os.Remove(empty); err != nil && !errors.Is(err, fs.ErrExist) && !errors.Is(err, fs.ErrNotExist) {
			return began, err
		}
	}
	return began, nil
}

// take has a file be under way: its name says so before anything of it runs.
func (r *runner) take(folder, name string) (path string, f file, err error) {
	if f = parseFile(name); len(f.name) > longestName {
		return "", f, fmt.Errorf("its name has %d bytes; %d are allowed", len(f.name), longestName)
	}
	from := filepath.Join(r.Dir, folder, name)
	return put(from, f, func(f file) string { return filepath.Join(r.Dir, running, underWay(folder, f)) })
}

// move puts a file that is under way into the folder of a slot.
func (r *runner) move(from, folder string, f file) error {
	path := filepath.Join(r.Dir, folder)
	if err := os.Mkdir(path, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	_, _, err := put(from, f, func(f file) string { return filepath.Join(path, f.String()) })
	return err
}

// put renames a file to where it is to be. Where one of its name is there it gets another, and neither is lost.
func put(from string, f file, to func(file) string) (path string, is file, err error) {
	is = f
	for n := 2; ; n++ {
		path = to(is)
		if err = rename(from, path); !errors.Is(err, fs.ErrExist) {
			return path, is, err
		}
		is.name = fmt.Sprintf("%s~%d", f.name, n)
	}
}

// forget removes slots of which nothing was executed for longer than that is kept, and what a Put that died has left behind.
func (r *runner) forget() error {
	var errs []error
	for folder, which := range map[string]func(name string) bool{
		done:     func(name string) bool { _, ok := slotOf(name); return ok },
		incoming: func(string) bool { return true },
	} {
		entries, err := os.ReadDir(filepath.Join(r.Dir, folder))
		errs = append(errs, err)
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && which(e.Name()) && r.Now().Sub(info.ModTime()) > r.Keep {
				err = os.RemoveAll(filepath.Join(r.Dir, folder, e.Name()))
			}
			if !errors.Is(err, fs.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}
