package check

import (
	"errors"

	"prescient/prescient"
)

// quoted is what an error of a job_exec said.
type quoted struct {
	text              string
	timeout, panicked bool
}

func (s quoted) Error() string { return s.text }

func (s quoted) Is(target error) bool {
	return s.timeout && target == prescient.ErrTimeout || s.panicked && target == prescient.ErrPanic
}

// Quoted asks an error all that is wanted of it. Its methods are the job_exec's own and may panic as well, as those of
// a nil pointer do: so they are called in here, where that is caught, and nowhere else.
func Quoted(err error) error {
	if err == nil {
		return nil
	}
	return quoted{text: err.Error(), timeout: errors.Is(err, prescient.ErrTimeout), panicked: errors.Is(err, prescient.ErrPanic)}
}
