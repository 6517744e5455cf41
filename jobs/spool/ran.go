package spool

import (
	"time"

	"prescient/prescient"
)

// The outcomes of files are those of checks, and refused: it is none that may be executed.
const (
	crashed = string(prescient.Crashed)
	refused = "refused"
)

// Ran is what came of one file, as the JSON beside it in done has it.
type Ran struct {
	Slot time.Time `json:"slot"`
	Name string    `json:"name"`
	// Outcome is how it ended, by the words of checks; empty where it comes again at Next.
	Outcome string     `json:"outcome,omitempty"`
	Next    *time.Time `json:"next,omitempty"`
	// Code is its exit code; -1 where it did not exit by itself.
	Code    int       `json:"exit_code"`
	Error   string    `json:"error,omitempty"`
	Started time.Time `json:"started_at"`
	RanMS   int64     `json:"ran_ms"`
}
