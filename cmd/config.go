package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

func configCommand(prog *program.Program) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "config",
		Short: "Print the configuration that is in effect, without secrets",
		Long: `Reads the configuration (file, environment, flags) as every command does, and prints each key with its value
and where that came from. Passwords and other secrets are masked. Nothing is connected to.`,
		Args: arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error { return showConfig(cmd, prog) },
	}
	cmd.AddCommand(configExampleCommand())
	return cmd
}

func showConfig(cmd *cobra.Command, prog *program.Program) error {
	c, err := prog.Load(cmd)
	if err != nil {
		return err
	}
	if !prog.JSON {
		_, err := io.WriteString(cmd.OutOrStdout(), c.Redacted())
		return err
	}
	return output.Lines(cmd.OutOrStdout(), c.Describe())
}
