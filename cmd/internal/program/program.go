// Package program has what all commands are made with: the program as it was called, with the flags that every command
// has ([Program]), and a command at work on a database ([Session]).
package program

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/output"
	"prescient/config"
	"prescient/jobs/command"
	"prescient/prescient/event/broker"
	"prescient/prescient/notify"
	"prescient/prescient/ops/door"
)

// Program is one command line: the program that it is of, its surroundings, and the flags that every command has.
type Program struct {
	Name       string // of the program, in its help and errors
	Version    string
	JSON       bool
	ConfigFile string
	Screen     *output.Screen
	// StatementTime is after how long the server ends a statement of the command, whose callers may be gone; 0 for never.
	StatementTime time.Duration
	// NoDatabase says that the command has one of its own, whatever the configuration says.
	NoDatabase  bool
	Stderr      io.Writer
	Env         func(name string) (string, bool)
	Environ     func() []string
	ConfigPaths []string
	// Register adds the program's own job_execs to a session's registry; nil where there are none.
	Register func(ctx context.Context, s *Session) error
	// Brokers are those that events can go to, by the schemes of their URLs, and Formats what events can be made into for them.
	Brokers map[string]broker.Open
	Formats map[string]func(source string) (broker.Format, error)
	// Mail opens what tells receivers of findings by e-mail; nil for a program without.
	Mail func(url, password, from string, to []string) (notify.Sender, error)
	// WakeUps are those of agents, by the schemes of brokers.
	WakeUps map[string]OpenWakeUp
	// Serve makes what the command serve serves; nil where there is no such command.
	Serve func(door.Serving) http.Handler
	// Calls is put around what sends the calls of jobs.http; nil for nothing.
	Calls func(http.RoundTripper) http.RoundTripper
	// Page makes the page that it serves beside; nil for none.
	Page func(ctx context.Context, s door.Serving) (http.Handler, error)
}

// withConfig is a command of the program by the configuration file that this one was given.
func (prog *Program) withConfig(command string) string {
	if prog.ConfigFile == "" {
		return prog.Name + " " + command
	}
	return fmt.Sprintf("%s %s --config '%s'", prog.Name, command, strings.ReplaceAll(prog.ConfigFile, "'", `'\''`))
}

// Load reads the configuration, which is all that some commands need. Where programs are run from there, they can be running already, as
// those of another worker: this process is shielded from them at once.
func (prog *Program) Load(cmd *cobra.Command) (config.Config, error) {
	c, err := config.Load(config.Options{File: prog.ConfigFile, SearchPaths: prog.ConfigPaths, Flags: cmd.Flags(),
		NoDatabase: prog.NoDatabase, Env: prog.Env, Environ: prog.Environ})
	if err == nil && len(c.Jobs.Command) > 0 {
		if err := command.Shield(); err != nil {
			return c, fmt.Errorf("shielding this process from its commands: %w", err)
		}
	}
	return c, err
}

// Logger returns the log of the configuration, on stderr.
func (prog *Program) Logger(c config.Log) zerolog.Logger {
	return output.NewLogger(prog.Screen, c, prog.Colourful(prog.Stderr))
}

// Colourful reports whether colours may be written: to a terminal that has them, whose user has not switched them off
// (https://no-color.org).
func (prog *Program) Colourful(w io.Writer) bool {
	if off, _ := prog.Env("NO_COLOR"); off != "" {
		return false
	}
	if kind, _ := prog.Env("TERM"); kind == "dumb" {
		return false
	}
	return output.IsTerminal(w)
}

// Bar starts a bar on stderr, or returns nil where that is no terminal, or JSON is asked for. A total of 0 is one that
// is not known.
func (prog *Program) Bar(what string, total int) *output.Bar {
	if !prog.ShowsBars() {
		return nil
	}
	return prog.Screen.NewBar(what, total)
}

// ShowsBars says whether there is somebody to show a bar to.
func (prog *Program) ShowsBars() bool { return !prog.JSON && output.IsTerminal(prog.Screen) }
