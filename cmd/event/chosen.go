package event

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/event"
)

// chosen are the events that resend and drop are for.
type chosen struct {
	topic       string
	all, dryRun bool
}

func (c *chosen) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.topic, "topic", "", "all of this topic")
	cmd.Flags().BoolVar(&c.all, "all", false, "all that were set aside")
	cmd.Flags().BoolVar(&c.dryRun, "dry-run", false, "with --topic or --all: only count them")
}

// deed is what is done to events: to those with some numbers, or to some that a filter matches.
type deed struct {
	done string // as in dropped
	to   func(o *event.Outbox, ctx context.Context, db prescient.DB, seqs ...uint64) (int, error)
	all  func(o *event.Outbox, ctx context.Context, db prescient.DB, m event.Matching) (event.Matched, error)
}

// change does something with the events that were chosen.
func change(cmd *cobra.Command, prog *program.Program, c chosen, args []string, do deed) error {
	var seqs []uint64
	for _, arg := range args {
		seq, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return exit.Usage(fmt.Errorf("%.80q is no number of an event; set-aside lists them", arg))
		}
		seqs = append(seqs, seq)
	}
	if ways := len(args) > 0; (ways && (c.all || c.topic != "" || c.dryRun)) || (c.all && c.topic != "") || (!ways && !c.all && c.topic == "") {
		return exit.Usage(errors.New("give numbers, or --topic, or --all"))
	}
	return prog.Connect(cmd, func(s *program.Session) error {
		outbox, by := s.Schedules.Outbox(), event.Matching{Topic: c.topic, All: c.all}
		if c.dryRun {
			is, err := outbox.CountMatching(cmd.Context(), s.DB, by)
			if err != nil {
				return s.Explain(err)
			}
			return output.Answer(cmd.OutOrStdout(), prog.JSON, is, "would have %s", countOf(is, do.done))
		}
		var refused []string
		n, err := 0, error(nil)
		if len(args) > 0 {
			n, err = do.to(outbox, cmd.Context(), s.DB, seqs...)
		} else {
			n, refused, err = changeAll(cmd.Context(), s, by, do)
		}
		if err != nil {
			return s.Explain(err)
		}
		err = output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{do.done: n}, "%s %d", do.done, n)
		if err == nil && len(refused) > 0 {
			err = &exit.Error{Code: exit.CodePartly, Err: errors.New(strings.Join(refused, "; "))}
		}
		return err
	})
}

// countOf is how many events something would be done with, as far as they were looked at.
func countOf(is event.MatchCount, done string) string {
	if is.Whole {
		return fmt.Sprintf("%s %d", done, is.Count)
	}
	return fmt.Sprintf("%s %d or more: only the first %d events that were set aside were looked at, and all that match would be %s", done, is.Count, event.MostCounted, done)
}

// changeAll does something with all that a filter matches now, some at a time, and says why some were left. What is set aside again meanwhile keeps its
// turn for the next time.
func changeAll(ctx context.Context, s *program.Session, by event.Matching, do deed) (n int, refused []string, err error) {
	for {
		did, err := do.all(s.Schedules.Outbox(), ctx, s.DB, by)
		if err != nil {
			return n, refused, err
		}
		n, refused = n+did.Count, append(refused, did.Refused...)
		if by.After, by.Until = did.Next, did.Until; by.After == 0 {
			return n, refused, nil
		}
	}
}
