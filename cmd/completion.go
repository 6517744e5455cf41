package cmd

import (
	"context"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/checks"
	"prescient/cmd/internal/program"
	"prescient/config"
	"prescient/prescient"
)

// completionTime bounds what a completion asks: a person waits for it.
const completionTime = 2 * time.Second

// addCompletions makes the shell complete the values of flags, in every command that has them. The command completion
// itself is cobra's.
func addCompletions(prog *program.Program, root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	var outcomes []string
	for _, outcome := range prescient.Outcomes() {
		outcomes = append(outcomes, string(outcome))
	}
	onPending := []string{string(prescient.Keep), string(prescient.Replace), string(prescient.Earlier), string(prescient.Later),
		string(prescient.OnPendingError)}
	values := map[string]cobra.CompletionFunc{
		"exec": func(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return completeExecs(cmd, prog)
		},
		"outcome":    cobra.FixedCompletions(outcomes, cobra.ShellCompDirectiveNoFileComp),
		"on-pending": cobra.FixedCompletions(onPending, cobra.ShellCompDirectiveNoFileComp),
		"format":     cobra.FixedCompletions([]string{checks.FormatJSONL, checks.FormatCSV}, cobra.ShellCompDirectiveNoFileComp),
		"log-level": cobra.FixedCompletions([]string{"trace", "debug", "info", "warn", "error", "disabled"},
			cobra.ShellCompDirectiveNoFileComp),
		"log-format": cobra.FixedCompletions([]string{config.LogAuto, config.LogConsole, config.LogJSON}, cobra.ShellCompDirectiveNoFileComp),
		"server":     cobra.FixedCompletions([]string{"mariadb", "mysql"}, cobra.ShellCompDirectiveNoFileComp),
		"file":       files, "config": files, "dsn-file": files, "secret-file": files, "binary": files,
		"dir": func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
	}
	var add func(cmd *cobra.Command)
	add = func(cmd *cobra.Command) {
		for name, complete := range values {
			if cmd.Flags().Lookup(name) != nil || cmd.PersistentFlags().Lookup(name) != nil {
				// It fails where a flag has one already, or is not there.
				_ = cmd.RegisterFlagCompletionFunc(name, complete)
			}
		}
		for _, sub := range cmd.Commands() {
			add(sub)
		}
	}
	add(root)
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

// completeExecs returns the names of the job_execs: those of the configuration, and the program's own, which may want the
// database; where that does not answer at once they are left out.
func completeExecs(cmd *cobra.Command, prog *program.Program) ([]string, cobra.ShellCompDirective) {
	const directive = cobra.ShellCompDirectiveNoFileComp
	c, err := prog.Load(cmd)
	if err != nil {
		return nil, directive
	}
	if prog.Register != nil {
		if names, err := registeredNames(cmd, prog); err == nil {
			return names, directive
		}
	}
	var names []string
	for _, job := range c.Jobs.HTTP {
		names = append(names, job.Exec)
	}
	for _, job := range c.Jobs.SQL {
		names = append(names, job.Exec)
	}
	if c.Jobs.Orders.Enabled {
		names = append(names, c.Jobs.Orders.Exec)
	}
	slices.Sort(names)
	return names, directive
}

func registeredNames(cmd *cobra.Command, prog *program.Program) (names []string, err error) {
	before := cmd.Context()
	ctx, cancel := context.WithTimeout(before, completionTime)
	defer cancel()
	cmd.SetContext(ctx)
	defer cmd.SetContext(before)
	err = prog.ConnectWithExecs(cmd, func(s *program.Session) error {
		names = s.Execs()
		return nil
	})
	return names, err
}
