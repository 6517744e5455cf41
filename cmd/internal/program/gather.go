package program

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"sync"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/prescient/shards"
)

// List prints a page of a list, whose rows read reads in a session; the page has all else, and early is nil where its search came to the end. On the
// keyspace of a Vitess that is one page of what all shards have; those that do not answer are named in the error, and what the others have is printed.
func List[R interface{ Cursor() string }](cmd *cobra.Command, prog *Program, page output.Page[R], read func(s *Session) (rows []R, early *output.Early, err error)) error {
	return Merged(cmd, prog, page, read, func(page output.Page[R]) error { return page.Print(cmd.OutOrStdout(), cmd.ErrOrStderr(), prog.JSON) })
}

// Merged is List for a page that is printed in another way.
func Merged[R interface{ Cursor() string }](cmd *cobra.Command, prog *Program, page output.Page[R], read func(s *Session) (rows []R, early *output.Early, err error),
	printed func(page output.Page[R]) error) error {
	type found struct {
		rows  []R
		early *output.Early
	}
	stderr := cmd.ErrOrStderr()
	cmd.SetErr(&oneByOne{to: stderr}) // reads of several shards may warn at the same time
	defer cmd.SetErr(stderr)
	return prog.Open(cmd, 0, func(s *Session) error {
		all, away := gather(cmd.Context(), s, func(s *Session) (f found, err error) {
			f.rows, f.early, err = read(s)
			return f, err
		})
		if len(all) == 0 {
			return away
		}
		pages, looked := make([]shards.Page[R], len(all)), 0
		for i, of := range all {
			pages[i].Rows = of.rows
			if of.early != nil {
				pages[i].Reached = of.early.After
				looked += of.early.Looked
			}
		}
		var reached string
		page.Rows, reached = shards.Merge(pages, page.LatestFirst, page.Limit+1)
		for _, of := range all {
			if of.early != nil && of.early.After == reached {
				page.Early = of.early
				page.Early.Looked = looked
			}
		}
		if len(page.Rows) == 0 && away != nil { // that nothing is there nobody knows
			return away
		}
		return cmp.Or(printed(page), away)
	})
}

// oneByOne is a writer for several who write at the same time.
type oneByOne struct {
	mu sync.Mutex
	to io.Writer
}

// Write implements io.Writer.
func (o *oneByOne) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.to.Write(p)
}

// gather reads from the database of a session or, where the DSN is that of a keyspace of Vitess, in a session on each shard, at the same time: what
// they have, from the first shard to the last. The error is of those that did not answer, which it names.
func gather[T any](ctx context.Context, s *Session, read func(s *Session) (T, error)) ([]T, error) {
	list, err := s.Shards(ctx)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		var one T
		if err := s.read(ctx, func(s *Session) (err error) { one, err = read(s); return err }); err != nil {
			return nil, err
		}
		return []T{one}, nil
	}
	answers, errs := make([]T, len(list)), make([]error, len(list))
	var all sync.WaitGroup
	for i, shard := range list {
		all.Go(func() {
			err := s.OnShard(shard, nil, func(s *Session) error {
				return s.read(ctx, func(s *Session) (err error) { answers[i], err = read(s); return err })
			})
			if err != nil {
				errs[i] = fmt.Errorf("shard %s: %w", shard, err)
			}
		})
	}
	all.Wait()
	var got []T
	for i, answer := range answers {
		if errs[i] == nil {
			got = append(got, answer)
		}
	}
	return got, together(slices.DeleteFunc(errs, func(err error) bool { return err == nil }))
}
