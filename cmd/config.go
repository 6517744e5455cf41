package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
)

// setting is what config --json prints.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

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
	var settings []setting
	for _, s := range c.Describe() {
		settings = append(settings, setting(s))
	}
	return output.Lines(cmd.OutOrStdout(), settings)
}
