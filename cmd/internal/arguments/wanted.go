package arguments

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/config/value"
)

// NotEmpty refuses flags that were given without a value: --exec "$NAME" where NAME is not set must not widen what a command does.
func NotEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return exit.Usage(fmt.Errorf("--%s is empty: give it a value, or leave it out", name))
		}
	}
	return nil
}

// Exclusive refuses flags of which more than one is given. One that is no flag of the command is passed over, as is --no-owner=false.
func Exclusive(cmd *cobra.Command, flags ...string) error {
	var all []string
	given := 0
	for _, name := range flags {
		all = append(all, "--"+name)
		flag := cmd.Flags().Lookup(name)
		if flag != nil && flag.Changed && (flag.Value.Type() != "bool" || flag.Value.String() == "true") {
			given++
		}
	}
	if given < 2 {
		return nil
	}
	return exit.Usage(fmt.Errorf("%s exclude each other; give one of them", value.List(all, "and")))
}

// One wants one argument, such as "the name of one job".
func One(what string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) != 1 || args[0] == "" {
			return exit.Usage(fmt.Errorf("%s takes %s", cmd.CommandPath(), what))
		}
		return nil
	}
}

// File wants the name of one file.
func File(cmd *cobra.Command, args []string) error { return One("a file, or - for stdin")(cmd, args) }

// Names wants names of what, each once: of "jobs".
func Names(what string) func(cmd *cobra.Command, names []string) ([]string, error) {
	return func(cmd *cobra.Command, names []string) ([]string, error) {
		if len(names) == 0 {
			return nil, exit.Usage(fmt.Errorf("%s takes the names of %s", cmd.CommandPath(), what))
		}
		for i, name := range names {
			if slices.Contains(names[:i], name) {
				return nil, exit.Usage(fmt.Errorf("%q is there twice", name))
			}
		}
		return names, nil
	}
}
