// Package variable says which variables of the environment a command can be given: by a program, or by the configuration.
package variable

import (
	"errors"
	"regexp"
	"slices"
	"strings"
)

// Prefix begins the names of the variables that every call has of its row.
const Prefix = "PRESCIENT_CHECK_"

var pattern = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// shells are variables that a shell, which starts the program, would not pass on as it got them: dash, bash, ksh and those of busybox set
// them themselves, drop them, or end at once where they have another form.
var shells = []string{
	"IFS", "LINENO", "OLDPWD", "OPTARG", "OPTERR", "OPTIND", "POSIXLY_CORRECT", "PPID", "PS1", "PS2", "PS4", "PWD", "RANDOM", "SECONDS", "SHLVL", "_",
	"BASH", "BASHOPTS", "BASHPID", "BASH_ARGV0", "BASH_COMMAND", "BASH_EXECUTION_STRING", "BASH_MONOSECONDS", "BASH_SUBSHELL", "BASH_TRAPSIG",
	"BASH_VERSINFO", "BASH_VERSION", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "SHELLOPTS", "SRANDOM",
}

// Check returns an error that says, without the name, why a command cannot be given a variable of that name.
func Check(name string) error {
	switch {
	case !pattern.MatchString(name):
		return errors.New("only letters, digits and _ are, without a digit first, since shells drop others")
	case strings.HasPrefix(name, Prefix):
		return errors.New("every call has its own")
	case slices.Contains(shells, name):
		return errors.New("the shell that starts the command sets it itself, or drops it")
	}
	return nil
}
