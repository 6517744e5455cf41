package event

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/cmd/internal/words"
	"prescient/prescient"
	"prescient/prescient/event"
)

func statusCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show what waits in the outbox, by topic",
		Long: fmt.Sprintf(`Shows how many events wait in the outbox for each topic, for how long the oldest has, and of a topic that cannot be
published to since when and why. It looks at the first %d events.`, event.MaxBacklog),
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return status(cmd, prog) },
	}
}

// sayPaused says why forwarders publish nothing.
func sayPaused(cmd *cobra.Command, s *program.Session) error {
	list, err := s.Client.Pauses(cmd.Context(), s.DB)
	if err != nil {
		return err
	}
	for _, p := range list {
		if p.JobExec == prescient.AllExecs || p.JobExec == prescient.AllEvents {
			return output.Say(cmd.OutOrStdout(), "forwarders are paused since %s by %q: %q", output.Second(&p.Since), p.By, p.Reason)
		}
	}
	return nil
}

func status(cmd *cobra.Command, prog *program.Program) error {
	return prog.ReadEach(cmd, func(s *program.Session) error {
		list, err := s.Outbox(cmd.Context())
		if err == nil && !prog.JSON {
			err = sayPaused(cmd, s)
		}
		if err != nil {
			return s.Explain(err)
		}
		seen := 0
		for _, w := range list {
			seen += w.Events
		}
		if seen >= event.MaxBacklog && !prog.JSON {
			err = output.Say(cmd.OutOrStdout(), "the first %d events of the outbox; there may be more", seen)
		}
		if err != nil {
			return err
		}
		return output.Rows(cmd.OutOrStdout(), prog.JSON, list, "nothing waits in the outbox", []output.Column{{Title: "topic"}, {Title: "events"}, {Title: "oldest"},
			{Title: "failing since (UTC)"}, {Title: "reason"}}, waitingCells)
	})
}

func waitingCells(w event.Waiting) []string {
	return []string{words.Clean(w.Topic), fmt.Sprint(w.Events), w.Age.Round(time.Millisecond).String(), output.Second(&w.FailingSince), words.Clip(w.Reason, 100)}
}
