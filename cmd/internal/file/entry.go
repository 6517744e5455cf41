package file

import (
	"fmt"
	"strings"

	"prescient/cmd/internal/input"
	"prescient/prescient/rule"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Entry is a schedule, a job, a shared step or a rule of a file.
type Entry struct {
	// Line is where it begins, counted from 1.
	Line int
	// One of these is there.
	Schedule *schedule.Wanted
	Job      *steps.Job
	Step     *steps.Step
	Rule     *rule.Rule
	// Enabled is false for a job or a rule that is not to run until it is resumed. True says no more than nothing does: what is paused stays so.
	Enabled *bool

	places input.Places
}

// Kind is a kind of entries, by the name under which each has its own.
type Kind string

// The kinds.
const (
	Schedule Kind = "id"
	Job      Kind = "job"
	Step     Kind = "step"
	Rule     Kind = "rule"
)

// Kind says which entry it is; nothing of one that could not be read.
func (e Entry) Kind() Kind {
	switch {
	case e.Schedule != nil:
		return Schedule
	case e.Job != nil:
		return Job
	case e.Step != nil:
		return Step
	case e.Rule != nil:
		return Rule
	}
	return ""
}

// name is that which the entry has.
func (e Entry) name() string {
	switch e.Kind() {
	case Schedule:
		return e.Schedule.ID
	case Job:
		return e.Job.Name
	case Step:
		return e.Step.Name
	case Rule:
		return e.Rule.Name
	}
	return ""
}

// Refused says what is wrong with it: in the line of the field that the error names.
func (e Entry) Refused(err error) *Bad {
	line, err := e.places.Of(err, e.Line)
	return e.bad(line, err)
}

func (e Entry) bad(line int, err error) *Bad { return &Bad{line, e.Kind(), e.name(), err} }

// String names it: job nightly, step export.
func (e Entry) String() string { return e.Kind().with(e.name()) }

func (k Kind) with(name string) string {
	if k == Schedule {
		return fmt.Sprintf("schedule %.160q", name)
	}
	return string(k) + " " + name
}

// Bad is what is wrong with an entry of a file; those behind it can be read.
type Bad struct {
	// Line is where it is wrong, or begins.
	Line int
	// Kind and Name are those of the entry; empty where there is none to be read.
	Kind Kind
	Name string
	Err  error
}

// Error names the entry.
func (b *Bad) Error() string {
	text := strings.ReplaceAll(b.Err.Error(), "\n", "; ")
	if b.Name != "" && !strings.Contains(text, fmt.Sprintf("%q", b.Name)) {
		text = b.Kind.with(b.Name) + ": " + text
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
	if e.Rule != nil {
		one := e.Rule.WithDefaults()
		e.Rule = &one
	}
	return e
}
