package file

import (
	"fmt"
	"strings"

	"prescient/cmd/internal/input"
	"prescient/prescient/steps"
)

// Entry is a job or a shared step of a file.
type Entry struct {
	// Line is where it begins, counted from 1.
	Line int
	// Job is nil for a step, Step for a job.
	Job  *steps.Job
	Step *steps.Step
	// Enabled is false for a job that is not to run until it is resumed. True says no more than nothing does: what is paused stays so.
	Enabled *bool

	places input.Places
}

// Refused says what is wrong with it: in the line of the field that the error names.
func (e Entry) Refused(err error) *Bad {
	line, err := e.places.Of(err, e.Line)
	return &Bad{line, e.name(), err}
}

// String names it: job nightly, step export.
func (e Entry) String() string {
	if e.Job != nil {
		return "job " + e.Job.Name
	}
	return "step " + e.Step.Name
}

// Bad is what is wrong with an entry of a file; those behind it can be read.
type Bad struct {
	// Line is where it is wrong, or begins.
	Line int
	// Name is that of the entry, as String has it; empty where there is none to be read.
	Name string
	Err  error
}

// Error names the entry.
func (b *Bad) Error() string {
	text := strings.ReplaceAll(b.Err.Error(), "\n", "; ")
	if b.Name != "" && !strings.Contains(text, fmt.Sprintf("%q", b.Name[strings.Index(b.Name, " ")+1:])) {
		text = b.Name + ": " + text
	}
	return text
}

// Unwrap returns what is wrong.
func (b *Bad) Unwrap() error { return b.Err }

// Normal is the entry with what the default is of that which it leaves out, as a stored one has it, and what its shared steps say of
// themselves left to these.
func (e Entry) Normal() Entry {
	if e.Job != nil {
		job := e.Job.WithDefaults()
		e.Job = &job
	}
	if e.Step != nil {
		step := e.Step.WithDefaults()
		e.Step = &step
	}
	return e
}
