package caught

import (
	"errors"

	"prescient/prescient"
)

// quoted is what an error said: its text, and what of it is known.
type quoted struct {
	text string
	is   []error
}

func (q *quoted) Error() string   { return q.text }
func (q *quoted) Unwrap() []error { return q.is }

// Quoted asks an error all that is wanted of it: its text, which of the errors it is that the vocabulary has for a call, and which of some others, and
// when to try again. Its methods are the job_exec's own and may panic as well, as those of a nil pointer do: so they are called in here, where
// that is caught, and nowhere else.
func Quoted(err error, others ...error) error {
	if err == nil {
		return nil
	}
	q := &quoted{text: err.Error()}
	for _, one := range append([]error{prescient.ErrTimeout, prescient.ErrPanic, prescient.ErrFinal}, others...) {
		if errors.Is(err, one) {
			q.is = append(q.is, one)
		}
	}
	if in, stated := prescient.RetryIn(err); stated {
		q.is = append(q.is, prescient.Retry(in))
	}
	return q
}
