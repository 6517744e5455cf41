// Package ruled has rules and occasions as operations are asked of them and tell of them, made of those of packages rule and rulebook.
package ruled

import (
	"encoding/json"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops/definition"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// Definition is what a rule says. Durations are in milliseconds, of whole seconds; 0 and what is empty stand for the default.
type Definition struct {
	Name           string          `json:"name" minLength:"1" maxLength:"59"`
	Occasion       string          `json:"occasion" minLength:"1" maxLength:"64" doc:"What makes its checks, such as order.placed: the same in all versions."`
	JobExec        string          `json:"job_exec" minLength:"1" maxLength:"64" doc:"What its checks run: the same in all versions."`
	DelayMS        int64           `json:"delay_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"How long after the occasion a check is due."`
	SpreadMS       int64           `json:"spread_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"It is due somewhere in so much more time, always at the same place."`
	ExpiresAfterMS int64           `json:"expires_after_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"How long after it is due a check is of use; 0 for ever."`
	OnPending      string          `json:"on_pending,omitempty" enum:"keep,replace,earlier,later" doc:"What a further occasion does to a check that is pending; keep by default."`
	Ends           []string        `json:"ends,omitempty" maxItems:"1000" doc:"The occasions that end its check."`
	Payload        json.RawMessage `json:"payload,omitempty" doc:"A JSON object, into which the data of an occasion are merged; for operators."`
	MaxChecks      int             `json:"max_checks,omitempty" minimum:"-1" maximum:"1000000" doc:"A guard of its own, -1 for none; that of the job_exec by default."`
	MaxErrors      int             `json:"max_errors,omitempty" minimum:"-1" maximum:"1000000" doc:"The same of errors in a row."`
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// Defined is what is defined.
func (d Definition) Defined() rule.Rule {
	return rule.Rule{Name: d.Name, Occasion: d.Occasion, JobExec: d.JobExec, Delay: millis(d.DelayMS), Spread: millis(d.SpreadMS), ExpiresAfter: millis(d.ExpiresAfterMS),
		OnPending: prescient.OnPending(d.OnPending), Ends: d.Ends, Payload: definition.Given(d.Payload), MaxChecks: d.MaxChecks, MaxErrors: d.MaxErrors}
}

// Of is the definition of a rule.
func Of(r rule.Rule) Definition {
	return Definition{Name: r.Name, Occasion: r.Occasion, JobExec: r.JobExec, DelayMS: r.Delay.Milliseconds(), SpreadMS: r.Spread.Milliseconds(), ExpiresAfterMS: r.ExpiresAfter.Milliseconds(),
		OnPending: string(r.OnPending), Ends: r.Ends, Payload: r.Payload, MaxChecks: r.MaxChecks, MaxErrors: r.MaxErrors}
}

// Rule is a rule that is there.
type Rule struct {
	Definition
	Version   uint32     `json:"version" doc:"Rises with every change."`
	State     rule.State `json:"state" enum:"on,off"`
	Since     time.Time  `json:"since" doc:"When it was made or switched on: what happened before makes no check."`
	Walk      Walk       `json:"walk" doc:"How far what is pending follows its last change."`
	CreatedAt time.Time  `json:"created_at"`
	UpdatedAt time.Time  `json:"updated_at"`
}

// Walk is how far what is pending follows the last change of a rule.
type Walk struct {
	Behind bool   `json:"behind" doc:"Not all that is pending has been looked at since: a slot run moves or ends what is left when its slot comes."`
	Pass   int    `json:"pass" doc:"How often all has been looked at, this time included; 0 where nobody has begun."`
	Moved  uint64 `json:"moved,string"`
	Late   uint64 `json:"late,string" doc:"How many of the moved ones were to be called before they were moved."`
	Ended  uint64 `json:"ended,string"`
}

// Cursor is the place of the rule in a list.
func (r Rule) Cursor() string { return r.Name }

// Stored is a rule as the tables have it.
func Stored(r rulebook.Stored) Rule {
	return Rule{Of(r.Rule), r.Version, r.State, r.Since, Walk{r.Behind(), r.Walk.Pass, r.Walk.Moved, r.Walk.Late, r.Walk.Ended}, r.CreatedAt, r.UpdatedAt}
}

// Has says whether a rule has a text, in upper or lower case.
func Has(r rulebook.Stored, text string) bool {
	return definition.HasText(text, slices.Concat([]string{r.Rule.Name, r.Occasion, r.JobExec}, r.Ends)...)
}

// Version is what a rule says, or said.
type Version struct {
	Definition
	Version   uint32     `json:"version"`
	State     rule.State `json:"state" enum:"on,off,deleted"`
	CreatedAt time.Time  `json:"created_at"`
}

// OfVersion is a version of a rule.
func OfVersion(v rulebook.Version) Version {
	return Version{Of(v.Rule), v.Version, v.State, v.CreatedAt}
}
