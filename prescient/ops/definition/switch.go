package definition

import (
	"errors"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule"
	"prescient/prescient/schedule/timeline"
	"prescient/prescient/steps"
)

// Switch is whether something that is defined fires, and when.
type Switch struct {
	Enabled        bool       `json:"enabled" doc:"It is to fire."`
	Unreadable     string     `json:"unreadable,omitempty" doc:"Why it does not fire though it is to: what of its crontabs or its zone cannot be read."`
	DisabledAt     *time.Time `json:"disabled_at,omitempty" doc:"When it was disabled, where no person did that."`
	DisabledReason string     `json:"disabled_reason,omitempty"`
	Next           *time.Time `json:"next,omitempty" doc:"What its timer waits for."`
	LastStartedAt  *time.Time `json:"last_started_at,omitempty" doc:"When a long run of it started last."`
	PassedOver     int64      `json:"passed_over,string" doc:"How often its timer passed over occurrences."`
}

// SwitchOf is that of a schedule whose timer waits for next, which may be zero.
func SwitchOf(s schedule.Stored, next time.Time) Switch {
	is := Switch{Enabled: s.Enabled, DisabledAt: TimeOrNil(s.DisabledAt), DisabledReason: s.DisabledReason, Next: TimeOrNil(next), LastStartedAt: TimeOrNil(s.LastStartedAt), PassedOver: s.PassedOver}
	if s.Enabled {
		is.Unreadable = timeline.Unreadable(s.Crontabs, s.Zone)
	}
	return is
}

// TimeOrNil is a time that may be none.
func TimeOrNil(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

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
