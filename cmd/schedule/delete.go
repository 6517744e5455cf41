package schedule

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
)

// deleteFlags are the flags of delete.
type deleteFlags struct {
	owner prescient.Entity
	yes   bool
}

func deleteCommand(prog *program.Program) *cobra.Command {
	var f deleteFlags
	cmd := &cobra.Command{
		Use:   "delete ID... | --owner NAME/KEY --yes",
		Short: "Delete schedules",
		Long: `Deletes schedules: all that are named, or with --owner all that an owner has, in one transaction. What is pending for
them ends as cancelled. That there is no such schedule is no failure: it prints how many it deleted.`,
		Example: fmt.Sprintf(`  %[1]s schedule delete digest/42 report
  %[1]s schedule delete --owner customer/42 --yes`, prog.Name),
		RunE: func(cmd *cobra.Command, ids []string) error { return deleteSchedules(cmd, prog, f, ids) },
	}
	addOwner(cmd.Flags(), &f.owner, "delete all of this owner: name/key, as in customer/42")
	cmd.Flags().BoolVar(&f.yes, "yes", false, "yes, delete all that the owner has")
	return cmd
}

func deleteSchedules(cmd *cobra.Command, prog *program.Program, f deleteFlags, ids []string) error {
	err := arguments.NotEmpty(cmd, "owner")
	owned := f.owner != (prescient.Entity{})
	switch {
	case err != nil:
	case !owned && f.yes:
		err = exit.Usage(errors.New("--yes is for --owner"))
	case !owned:
		ids, err = wantIDs(cmd, ids)
	case len(ids) > 0:
		err = exit.Usage(errors.New("give either ids or --owner"))
	case !f.yes:
		err = exit.Usage(fmt.Errorf("--owner %s: all of its schedules are deleted; give --yes if that is wanted", f.owner))
	}
	if err != nil {
		return err
	}
	return prog.Connect(cmd, func(s *program.Session) error {
		var deleted int
		if owned {
			deleted, err = s.Schedules.DeleteOwner(cmd.Context(), s.DB, f.owner)
		} else {
			deleted, err = s.Schedules.Delete(cmd.Context(), s.DB, ids...)
		}
		if err != nil {
			return s.Explain(err)
		}
		of := fmt.Sprintf("the %d named", len(ids))
		if owned {
			of = f.owner.String()
		}
		return output.Answer(cmd.OutOrStdout(), prog.JSON, map[string]int{"deleted": deleted}, "deleted %d of %s", deleted, of)
	})
}
