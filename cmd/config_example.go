package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/config"
)

func configExampleCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "example",
		Short: "Print a commented configuration file with every key and its default",
		Args:  arguments.None,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), config.Example)
			return err
		},
	}
}
