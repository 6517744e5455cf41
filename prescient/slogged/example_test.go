package slogged_test

import (
	"log/slog"
	"os"

	"github.com/rs/zerolog"

	"prescient/prescient/service"
	"prescient/prescient/slogged"
	"prescient/prescient/worker"
)

// untimed is a logger whose lines are the same at each time.
func untimed() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
}

// A program that has a logger of slog gives it to the service.
func ExampleNew() {
	options := service.Options{Worker: worker.Options{Log: slogged.New(untimed().With("app", "shop"))}}

	options.Worker.Log.Warn().Int("rows", 3).Msg("put off")
	// Output:
	// level=WARN msg="put off" app=shop rows=3
}

// A job_exec that logs by slog has its lines in the log of the program.
func Example_zerolog() {
	log := zerolog.New(zerolog.ConsoleWriter{Out: os.Stdout, NoColor: true, PartsExclude: []string{zerolog.TimestampFieldName}})

	slog.New(zerolog.NewSlogHandler(log)).Warn("unpaid", "order", 42)
	// Output:
	// WRN unpaid order=42
}
