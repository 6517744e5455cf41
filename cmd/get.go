package cmd

import (
	"fmt"
	"strconv"

	"github.com/spf13/cobra"
)

func (a *app) getCommand() *cobra.Command {
	var t target
	cmd := &cobra.Command{
		Use:     "get --entity NAME/KEY --exec NAME",
		GroupID: groupJobs,
		Short:   "Show one pending check, with its payload",
		Long:    `Shows one pending check with all that is known of it. If it is not pending, the exit code is 3.`,
		Example: fmt.Sprintf(`  %s get --entity order/42 --exec order-unshipped`, a.options.Program),
		Args:    a.noArgs,
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.get(cmd, t) },
	}
	t.addFlags(cmd)
	return cmd
}

func (a *app) get(cmd *cobra.Command, t target) error {
	entity, err := t.parse()
	if err != nil {
		return err
	}
	s, err := a.connect(cmd)
	if err != nil {
		return err
	}
	defer s.close()
	job, err := s.client.Get(cmd.Context(), s.db, entity, t.exec, t.tag)
	if err != nil {
		return s.explain(err)
	}
	if a.json {
		return printJSON(cmd.OutOrStdout(), job)
	}
	for _, line := range [][2]string{
		{"entity", entity.String()},
		{"job_exec", job.JobExec},
		{"tag", job.Tag},
		{"due_at", stamp(job.DueAt)},
		{"first_check_at", stamp(job.FirstCheckAt)},
		{"next_check_at", stamp(job.NextCheckAt)},
		{"check_count", strconv.Itoa(job.CheckCount)},
		{"error_count", strconv.Itoa(job.ErrorCount)},
		{"put_off_count", strconv.Itoa(job.PutOffCount)},
		{"last_error", job.LastError},
		{"total_ms", strconv.FormatInt(job.TotalMS, 10)},
		{"payload", string(job.Payload)},
		{"revision", strconv.FormatUint(job.Revision, 10)},
		{"inserted_at", stamp(job.InsertedAt)},
	} {
		if line[1] == "" {
			continue
		}
		if err := say(cmd.OutOrStdout(), "%-15s %s", line[0], line[1]); err != nil {
			return err
		}
	}
	return nil
}
