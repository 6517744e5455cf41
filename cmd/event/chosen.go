package event

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/event"
)

// chosen are the events that resend and drop are for.
type chosen struct {
	topic string
	all   bool
}

func (c *chosen) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.topic, "topic", "", "all of this topic")
	cmd.Flags().BoolVar(&c.all, "all", false, "all that were set aside")
}

// change does something with the events that were chosen.
func change(cmd *cobra.Command, prog *program.Program, c chosen, args []string, done string,
	do func(o *event.Outbox, ctx context.Context, db prescient.DB, seqs ...uint64) (int, error)) error {
	var seqs []uint64
	for _, arg := range args {
		seq, err := strconv.ParseUint(arg, 10, 64)
		if err != nil {
			return exit.Usage(fmt.Errorf("%.80q is no number of an event; set-aside lists them", arg))
		}
		seqs = append(seqs, seq)
	}
	if ways := len(args) > 0; (ways && (c.all || c.topic != "")) || (c.all && c.topic != "") || (!ways && !c.all && c.topic == "") {
		return exit.Usage(errors.New("give numbers, or --topic, or --all"))
	}
	return prog.Connect(cmd, func(s *program.Session) (err error) {
		n := 0
		if len(args) > 0 {
			n, err = do(s.Schedules.Outbox(), cmd.Context(), s.DB, seqs...)
		} else {
			n, err = changeAll(cmd.Context(), s, c.topic, do)
		}
		if err != nil {
			return s.Explain(err)
		}
		return output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{done: n}, "%s %d", done, n)
	})
}

// changeAll does something with all events of a topic that are set aside now, some at a time. What is set aside again meanwhile keeps its
// turn for the next time.
func changeAll(ctx context.Context, s *program.Session, topic string, do func(o *event.Outbox, ctx context.Context, db prescient.DB, seqs ...uint64) (int, error)) (n int, err error) {
	outbox := s.Schedules.Outbox()
	began, err := s.Now(ctx)
	if err != nil {
		return 0, err
	}
	filter := event.SetAsideFilter{Topic: topic, Limit: mostListed}
	for {
		list, err := outbox.SetAside(ctx, s.DB, filter)
		if err != nil || len(list) == 0 {
			return n, err
		}
		var seqs []uint64
		for _, e := range list {
			filter.After = e.Seq
			if !e.RefusedAt.After(began) {
				seqs = append(seqs, e.Seq)
			}
		}
		some, err := do(outbox, ctx, s.DB, seqs...)
		n += some
		if err != nil {
			return n, err
		}
	}
}
