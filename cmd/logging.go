package cmd

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"prescient/config"
)

// newLogger returns the log of the configuration, on stderr.
func (a *app) newLogger(c config.Log) zerolog.Logger {
	return newLogger(a.screen, c, a.colourful(a.options.Stderr))
}

func newLogger(w io.Writer, c config.Log, colour bool) zerolog.Logger {
	console := c.Format == config.LogConsole || c.Format == config.LogAuto && isTerminal(w)
	w = zerolog.SyncWriter(w)
	if console {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !colour, FormatTimestamp: func(text any) string {
			s, _ := text.(string)
			return s
		}}
	}
	return zerolog.New(w).Level(c.Level).Hook(timestamp{})
}

// timestamp adds the time to each line, in UTC and with milliseconds, whatever zerolog's globals say.
type timestamp struct{}

// Run implements zerolog.Hook.
func (timestamp) Run(e *zerolog.Event, _ zerolog.Level, _ string) {
	e.Str(zerolog.TimestampFieldName, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"))
}

// isTerminal reports whether a person reads what is written.
func isTerminal(w io.Writer) bool {
	if s, ok := w.(*screen); ok {
		w = s.Writer
	}
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}

// colourful reports whether colours may be written: to a terminal that has them, whose user has not switched them off
// (https://no-color.org).
func (a *app) colourful(w io.Writer) bool {
	if off, _ := a.options.Env("NO_COLOR"); off != "" {
		return false
	}
	if kind, _ := a.options.Env("TERM"); kind == "dumb" {
		return false
	}
	return isTerminal(w)
}
