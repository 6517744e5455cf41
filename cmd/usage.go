package cmd

import (
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// usageTemplate is cobra's own, but it spares the subcommands the long list of flags that the configuration has.
const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} [command]{{end}}{{if .HasExample}}

Examples:
{{.Example}}{{end}}{{if .HasAvailableSubCommands}}{{$cmds := .Commands}}{{if eq (len .Groups) 0}}

Commands:{{range $cmds}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{else}}{{range $group := .Groups}}

{{.Title}}{{range $cmds}}{{if (and (eq .GroupID $group.ID) (or .IsAvailableCommand (eq .Name "help")))}}
  {{rpad .Name .NamePadding }} {{.Short}}{{end}}{{end}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Also --json, and --config and the other flags of the configuration: see "{{.Root.CommandPath}} --help".{{end}}
`

// flagError says what is wrong with a flag, without showing what may be a password: -dsn for --dsn is quickly typed.
func flagError(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var again *repeatedError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		err = fmt.Errorf("unknown flag %s; flags begin with two dashes", quoteArgument("-"+unknown.GetSpecifiedShortnames()))
	} else if !errors.As(err, &again) && secretive.MatchString(err.Error()) {
		err = errors.New("a flag cannot be read; it is not shown since it may hold a password")
	}
	return usage(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
}

// secretive matches what may be a password between a user and a host.
var secretive = regexp.MustCompile(`(?s):.*@`)

// quoteArgument shows an argument that is wrong.
func quoteArgument(text string) string {
	if secretive.MatchString(text) {
		return "a text that is not shown, since it may hold a password"
	}
	return fmt.Sprintf("%.80q", text)
}

// refuseEmpty refuses flags that were given without a value: --exec "$NAME" where NAME is not set.
func refuseEmpty(cmd *cobra.Command, flags ...string) error {
	for _, name := range flags {
		if flag := cmd.Flags().Lookup(name); flag.Changed && flag.Value.String() == "" {
			return usage(fmt.Errorf("--%s is empty: give it a value, or leave it out", name))
		}
	}
	return nil
}
