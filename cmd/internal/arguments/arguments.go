// Package arguments refuses flags and arguments that are not allowed, in plain words and without showing what may be a
// password. Flags that take more than any text know themselves what is allowed (values.go).
package arguments

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"prescient/cmd/internal/exit"
)

// FlagError says what is wrong with a flag, without showing what may be a password: -dsn for --dsn is quickly typed.
func FlagError(cmd *cobra.Command, err error) error {
	var refused *Refused
	if errors.As(err, &refused) {
		return exit.Usage(err)
	}
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "" {
		err = fmt.Errorf("unknown flag %s; flags begin with two dashes", quoteArgument("-"+unknown.GetSpecifiedShortnames()))
	} else if unknown != nil && cmd.Flags().Lookup("before") != nil && slices.Contains(spanNames, unknown.GetSpecifiedName()) {
		err = fmt.Errorf("%w; a span of time is --from and --before", err)
	} else if !errors.Is(err, ErrRepeated) && secretive.MatchString(err.Error()) {
		err = errors.New("a flag cannot be read; it is not shown since it may hold a password")
	}
	return exit.Usage(fmt.Errorf("%w (see %s --help)", err, cmd.CommandPath()))
}

// spanNames are what other programs call the ends of a span of time. No flag here has such a name.
var spanNames = []string{"since", "until", "to"}

// secretive matches what may be a password between a user and a host.
var secretive = regexp.MustCompile(`(?s):.*@`)

// quoteArgument shows an argument that is wrong.
func quoteArgument(text string) string {
	if secretive.MatchString(text) {
		return "a text that is not shown, since it may hold a password"
	}
	return fmt.Sprintf("%.80q", text)
}

// None refuses arguments, and a subcommand that there is not.
func None(cmd *cobra.Command, args []string) error {
	switch {
	case len(args) == 0:
		return nil
	case !cmd.HasSubCommands():
		return exit.Usage(fmt.Errorf("%s takes no argument, but was given %s", cmd.Name(), quoteArgument(args[0])))
	}
	hint := ""
	cmd.SuggestionsMinimumDistance = max(cmd.SuggestionsMinimumDistance, 2) // of letters; by itself it is 0
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "; did you mean " + near[0] + "?"
	}
	return exit.Usage(fmt.Errorf("unknown command %s for %s%s", quoteArgument(args[0]), cmd.CommandPath(), hint))
}
