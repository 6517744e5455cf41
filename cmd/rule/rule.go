package rule

import (
	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/program"
)

// Command returns the command rule.
func Command(prog *program.Program) *cobra.Command {
	rule := &cobra.Command{
		Use:   "rule",
		Short: "Say which check comes after which occasion",
		Long: `An app reports occasions, such as order.placed. A rule says which check comes after one, when, and which other occasions end it:
no app changes where a rule does. A change moves what is pending, too.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	rule.AddCommand(listCommand(prog), showCommand(prog), tryCommand(prog), exportCommand(prog))
	for _, changes := range []*cobra.Command{setCommand(prog), pauseCommand(prog), resumeCommand(prog), deleteCommand(prog), moveCommand(prog), reportCommand(prog), importCommand(prog)} {
		rule.AddCommand(program.Reasoned(changes))
	}
	return rule
}
