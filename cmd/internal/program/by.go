package program

import (
	"cmp"
	"fmt"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/audit"
)

// reasonFlag marks the commands whose changes are an operator's.
const reasonFlag = "reason"

// Reasoned adds --reason to a command that changes something, unless it has one. What it changes then stands in the audit as an
// operator's: who, by which command, and why.
func Reasoned(cmd *cobra.Command) *cobra.Command {
	if cmd.Flags().Lookup(reasonFlag) == nil {
		cmd.Flags().String(reasonFlag, "", "why, for the audit")
	}
	return cmd
}

// sayBy puts into the command's context who makes its changes.
func (prog *Program) sayBy(cmd *cobra.Command, c config.Config) error {
	flag := cmd.Flags().Lookup(reasonFlag)
	if flag == nil {
		return nil
	}
	reason := flag.Value.String()
	if err := prescient.ValidText("--reason", reason, 1000); err != nil {
		return exit.Usage(err)
	}
	name := strings.TrimSpace(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()))
	cmd.SetContext(audit.With(cmd.Context(), audit.By{Person: prog.Person(c), Reason: reason, Program: prog.Name, Command: name, Operator: true}))
	return nil
}

// Person is who works with the program: that of the configuration, or the user of the system, of sudo before others, by number where
// it has no name.
func (prog *Program) Person(c config.Config) string {
	if c.Person != "" {
		return c.Person
	}
	behind, _ := prog.Env("SUDO_USER")
	name, _ := prog.Env("USER")
	if name = cmp.Or(behind, name); name != "" {
		return name
	}
	if me, err := user.Current(); err == nil {
		return me.Username
	}
	return fmt.Sprintf("uid %d", os.Getuid())
}
