package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"prescient/config"
)

// setting is what config --json prints.
type setting struct {
	Key    string `json:"key"`
	Value  string `json:"value"`
	Source string `json:"source"`
}

func (a *app) configCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:     "config",
		GroupID: groupSetup,
		Short:   "Print the configuration that is in effect, without secrets",
		Long: `Reads the configuration (file, environment, flags) as every command does, and prints each key with its value
and where that came from. Passwords and other secrets are masked. Nothing is connected to.`,
		Args: a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.showConfig(cmd) },
	}
	cmd.AddCommand(&cobra.Command{
		Use:   "example",
		Short: "Print a commented configuration file with every key and its default",
		Args:  a.noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := io.WriteString(cmd.OutOrStdout(), config.Example)
			return err
		},
	})
	return cmd
}

func (a *app) showConfig(cmd *cobra.Command) error {
	c, err := a.load(cmd)
	if err != nil {
		return err
	}
	if !a.json {
		_, err := io.WriteString(cmd.OutOrStdout(), c.Redacted())
		return err
	}
	var settings []setting
	for _, s := range c.Describe() {
		settings = append(settings, setting(s))
	}
	return printLines(cmd.OutOrStdout(), settings)
}
