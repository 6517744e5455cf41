// Package slogged makes the Log of options of a logger of log/slog ([New]). The other way is zerolog's: slog.New(zerolog.NewSlogHandler(deps.Log)).
package slogged
