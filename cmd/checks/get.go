package checks

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/client"
)

// Get returns the command get.
func Get(prog *program.Program) *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:   "get --entity NAME/KEY --exec NAME",
		Short: "Show one pending check, with its payload",
		Long: `Shows one pending check with all that is known of it. If it is not pending, the exit code is 3, and
how it ended last is said.`,
		Example: fmt.Sprintf(`  %s get --entity order/42 --exec order-unshipped`, prog.Name),
		Args:    arguments.None,
		RunE:    func(cmd *cobra.Command, _ []string) error { return get(cmd, prog, t) },
	}
	t.addFlags(cmd)
	return cmd
}

func get(cmd *cobra.Command, prog *program.Program, t target) error {
	entity, err := t.parse()
	if err != nil {
		return err
	}
	return prog.Read(cmd, func(s *program.Session) error {
		job, err := s.Client.Get(cmd.Context(), s.DB, entity, t.exec, t.tag)
		if errors.Is(err, prescient.ErrNotFound) {
			return notPending(cmd.Context(), s, entity, t, err)
		}
		if err != nil {
			return s.Explain(err)
		}
		if prog.JSON {
			return output.JSON(cmd.OutOrStdout(), job)
		}
		return output.Fields(cmd.OutOrStdout(), 15, [][2]string{
			{"entity", entity.String()},
			{"job_exec", job.JobExec},
			{"tag", job.Tag},
			{"due_at", output.Stamp(job.DueAt)},
			{"expires_at", output.Maybe(job.ExpiresAt)},
			{"first_check_at", output.Stamp(job.FirstCheckAt)},
			{"next_check_at", output.Stamp(job.NextCheckAt)},
			{"check_count", strconv.Itoa(job.CheckCount)},
			{"error_count", strconv.Itoa(job.ErrorCount)},
			{"put_off_count", strconv.Itoa(job.PutOffCount)},
			{"last_error", job.LastError},
			{"total_ms", strconv.FormatInt(job.TotalMS, 10)},
			{"payload", string(job.Payload)},
			{"revision", strconv.FormatUint(job.Revision, 10)},
			{"inserted_at", output.Stamp(job.InsertedAt)},
		})
	})
}

// notPending says how a check ended that is not pending.
func notPending(ctx context.Context, s *program.Session, entity prescient.Entity, t target, notFound error) error {
	ends, err := s.Client.History(ctx, s.DB, client.ListFilter{Entity: entity, JobExec: t.exec, Tag: t.tag, Limit: 1})
	switch {
	case err != nil:
		return fmt.Errorf("%w; %s history --entity %s says whether it has ended, by an account that may read it", notFound, s.Program.Name, entity)
	case len(ends) == 0:
		return notFound
	}
	return fmt.Errorf("%w; it ended as %s at %s: %s history --entity %s has the rest", notFound, ends[0].Outcome, output.Stamp(ends[0].EndedAt), s.Program.Name, entity)
}
