package output

import (
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"prescient/config"
)

// NewLogger returns a log as it is configured, on w.
func NewLogger(w io.Writer, c config.Log, colour bool) zerolog.Logger {
	console := c.Format == config.LogConsole || c.Format == config.LogAuto && IsTerminal(w)
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

// IsTerminal reports whether a person reads what is written.
func IsTerminal(w io.Writer) bool {
	if s, ok := w.(*Screen); ok {
		w = s.Writer
	}
	file, ok := w.(*os.File)
	return ok && isatty.IsTerminal(file.Fd())
}
