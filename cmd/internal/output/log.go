package output

import (
	"bytes"
	"io"
	"os"
	"time"

	"github.com/mattn/go-isatty"
	"github.com/rs/zerolog"

	"prescient/config"
	"prescient/prescient"
)

// NewLogger returns a log as it is configured, on w.
func NewLogger(w io.Writer, c config.Log, colour bool) zerolog.Logger {
	console := ForPeople(w, c)
	w = zerolog.SyncWriter(seen{w})
	if console {
		w = zerolog.ConsoleWriter{Out: w, NoColor: !colour, FormatTimestamp: func(text any) string {
			s, _ := text.(string)
			return s
		}}
	}
	return zerolog.New(w).Level(c.Level).Hook(timestamp{})
}

// ForPeople says whether a log on w is written for people, who read what else is on w.
func ForPeople(w io.Writer, c config.Log) bool {
	return c.Format == config.LogConsole || c.Format == config.LogAuto && IsTerminal(w)
}

// seen writes lines of a log, in which what cannot be seen is escaped: zerolog escapes control characters alone.
type seen struct{ to io.Writer }

// Write implements io.Writer.
func (s seen) Write(line []byte) (int, error) {
	if !bytes.ContainsFunc(line, prescient.Unseen) {
		return s.to.Write(line)
	}
	if _, err := s.to.Write(escaped(line, prescient.Unseen)); err != nil {
		return 0, err
	}
	return len(line), nil
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
