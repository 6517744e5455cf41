package job

import (
	"errors"
	"fmt"
	"strconv"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/program"
)

func backCommand(prog *program.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "back NAME VERSION",
		Short: "Make a version of a job its definition again",
		Long: `Makes a version of a job its definition again, as edit would: by a version of its own. Shared steps are not the job's, and
stay as they are; runs that have begun keep their version. A job that was deleted is created again. "versions" lists them.`,
		Example: fmt.Sprintf(`  %s job back nightly 3`, prog.Name),
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 2 {
				return exit.Usage(errors.New("job back takes the name of a job, and one of its versions"))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error { return back(cmd, prog, args[0], args[1]) },
	}
}

func back(cmd *cobra.Command, prog *program.Program, name, number string) error {
	version, err := strconv.ParseUint(number, 10, 63)
	if err != nil || version == 0 {
		return exit.Usage(fmt.Errorf("version %.40q: a number from 1 on is wanted", number))
	}
	return prog.Connect(cmd, func(s *program.Session) error {
		changed, err := s.Jobs.GoBack(cmd.Context(), s.DB, name, version, 0)
		if err != nil {
			return s.Explain(err)
		}
		return kind(prog).WentBack(cmd, name, version, changed)
	})
}
