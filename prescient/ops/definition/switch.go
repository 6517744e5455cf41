package definition

import (
	"errors"

	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// MostSwitched is how many schedules or jobs one deed pauses or resumes: more go on behind the last of them.
const MostSwitched = 500

// refusedSaid is of how many that were refused it is said why.
const refusedSaid = 20

// Switched is what became of schedules or jobs that were paused or resumed together.
type Switched struct {
	Matched int       `json:"matched" doc:"How many there are: one that is gone by now is none."`
	Changed int       `json:"changed" doc:"How many were not so already."`
	Refused []Refusal `json:"refused" doc:"Those that cannot be resumed, as they have no more occurrences; the first 20."`
	Next    string    `json:"next,omitempty" doc:"The filter matches more than one deed takes: give this as after, for the rest."`
}

// Refusal is one to which something was not done.
type Refusal struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// SwitchAll pauses or resumes some by a function that says of one whether it was changed. One that is gone is passed over, and one that is refused
// is left as it is. It ends with the first other error.
func SwitchAll(names []string, do func(name string) (changed bool, err error)) (Switched, error) {
	is := Switched{Refused: []Refusal{}}
	for _, name := range names {
		changed, err := do(name)
		switch {
		case errors.Is(err, schedule.ErrNotFound), errors.Is(err, steps.ErrNotFound):
			continue
		case errors.Is(err, prescient.ErrInvalid):
			if len(is.Refused) < refusedSaid {
				is.Refused = append(is.Refused, Refusal{name, err.Error()})
			}
		case err != nil:
			return Switched{}, err
		case changed:
			is.Changed++
		}
		is.Matched++
	}
	return is, nil
}
