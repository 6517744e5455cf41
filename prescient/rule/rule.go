package rule

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/slots"
)

// TagPrefix is how the tags of the checks of rules begin; the name follows.
const TagPrefix = "rule:"

// Limits of a rule.
const (
	// MaxName is the longest name: a tag has TagPrefix before it.
	MaxName = prescient.MaxTagLen - len(TagPrefix)
	// MaxEnds is how long the names of the occasions may be that end a check, with commas between.
	MaxEnds = 1000
	// MaxPayload is the longest constant, in bytes.
	MaxPayload = 64 << 10
	// maxGuard is the highest guard that counts.
	maxGuard = 1_000_000
)

// Rule is what one version of a rule says.
type Rule struct {
	// Name is an identifier of up to MaxName characters.
	Name string `json:"name"`
	// Occasion is what makes its checks, and JobExec what they run. They are the same in all versions.
	Occasion string `json:"occasion"`
	JobExec  string `json:"job_exec"`
	// Delay is how long after the occasion the check is due, in whole seconds; Spread puts it somewhere in so much more time.
	Delay  time.Duration `json:"delay"`
	Spread time.Duration `json:"spread,omitempty"`
	// ExpiresAfter is how long after it is due the check is of no use; 0 for never.
	ExpiresAfter time.Duration `json:"expires_after,omitempty"`
	// OnPending says what a further occasion does to a check that is pending: Keep, the default, Replace, Earlier or Later.
	OnPending prescient.OnPending `json:"on_pending,omitempty"`
	// Ends are the occasions that end its check.
	Ends []string `json:"ends,omitempty"`
	// Payload is a JSON object, into which the data of an occasion are merged; nil for none.
	Payload json.RawMessage `json:"payload,omitempty"`
	// MaxChecks and MaxErrors are guards of its own; 0 for those of the job_exec. The other guards stay those of the job_exec: timeout, concurrency and SLA hold
	// for its calls together, whichever rules they are of, and a row has no place for them. Register the function under another name for others.
	MaxChecks int `json:"max_checks,omitempty"`
	MaxErrors int `json:"max_errors,omitempty"`
}

// errorf is an error that wraps prescient.ErrInvalid.
func errorf(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{prescient.ErrInvalid}, args...)...)
}

// TagOf is the tag of the checks of a rule.
func TagOf(name string) string { return TagPrefix + name }

// NameOf is the rule of a check, by its tag; ok is false where it names none.
func NameOf(tag string) (name string, ok bool) {
	name, ok = strings.CutPrefix(tag, TagPrefix)
	return name, ok && ValidName(name) == nil
}

// ValidName returns an error that wraps prescient.ErrInvalid where no rule can have the name.
func ValidName(name string) error {
	if err := prescient.ValidIdentifier("name of a rule", name); err != nil {
		return err
	}
	if len(name) > MaxName {
		return fmt.Errorf("%w: name of a rule %q has %d characters; at most %d are allowed", prescient.ErrInvalid, name, len(name), MaxName)
	}
	return nil
}

// ValidOccasion returns an error that wraps prescient.ErrInvalid where no occasion can have the name.
func ValidOccasion(name string) error { return prescient.ValidIdentifier("occasion", name) }

// WithDefaults is the rule with what is left out filled in.
func (r Rule) WithDefaults() Rule {
	if r.OnPending == "" {
		r.OnPending = prescient.Keep
	}
	return r
}

// Validate returns an error that wraps prescient.ErrInvalid, and names what was given and what is allowed.
func (r Rule) Validate() error {
	if err := ValidName(r.Name); err != nil {
		return err
	}
	refuse := func(format string, args ...any) error {
		return errorf("rule %s: "+format, append([]any{r.Name}, args...)...)
	}
	if err := ValidOccasion(r.Occasion); err != nil {
		return fmt.Errorf("rule %s: %w", r.Name, err)
	}
	if err := prescient.ValidIdentifier("job_exec", r.JobExec); err != nil {
		return fmt.Errorf("rule %s: %w", r.Name, err)
	}
	if r.JobExec == "schedule.fire" {
		return refuse("job_exec %s is that of the timers of schedules", r.JobExec)
	}
	for _, of := range []struct {
		what string
		is   time.Duration
	}{{"delay", r.Delay}, {"spread", r.Spread}, {"delay and spread", r.Delay + r.Spread}, {"expires_after", r.ExpiresAfter}} {
		if of.is < 0 || of.is > prescient.MaxHorizon || of.is%time.Second != 0 {
			return refuse("%s %s: whole seconds from 0 to %s are allowed", of.what, slots.Short(of.is), slots.Short(prescient.MaxHorizon))
		}
	}
	switch r.OnPending {
	case "", prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later:
	default:
		return refuse("on_pending %.40q: keep, replace, earlier or later are allowed", r.OnPending)
	}
	for i, occasion := range r.Ends {
		switch {
		case ValidOccasion(occasion) != nil:
			return fmt.Errorf("rule %s: ends: %w", r.Name, ValidOccasion(occasion))
		case occasion == r.Occasion:
			return refuse("occasion %s makes its check, and cannot end it; on_pending says what a further one does", occasion)
		case slices.Contains(r.Ends[:i], occasion):
			return refuse("ends: %s stands there twice", occasion)
		}
	}
	if n := len(strings.Join(r.Ends, ",")); n > MaxEnds {
		return refuse("ends: the names have %d characters; at most %d are allowed", n, MaxEnds)
	}
	if n := len(r.Payload); n > MaxPayload {
		return refuse("payload has %d bytes; at most %d are allowed", n, MaxPayload)
	}
	if r.Payload != nil && !IsObject(r.Payload) {
		return refuse("payload is no JSON object in UTF-8: %.80q", r.Payload)
	}
	for _, of := range []struct {
		what string
		is   int
	}{{"max_checks", r.MaxChecks}, {"max_errors", r.MaxErrors}} {
		if of.is < prescient.None || of.is > maxGuard {
			return refuse("%s %d: 1 to %d are allowed, -1 for none, and 0 for that of the job_exec", of.what, of.is, maxGuard)
		}
	}
	return nil
}

// IsObject says whether a text is a JSON object.
func IsObject(text json.RawMessage) bool {
	return utf8.Valid(text) && json.Valid(text) && strings.HasPrefix(strings.TrimLeft(string(text), " \t\r\n"), "{")
}

// Guards are those of its own; the others are zero.
func (r Rule) Guards() prescient.Guards {
	return prescient.Guards{MaxChecks: r.MaxChecks, MaxErrors: r.MaxErrors}
}

// Same says whether two versions say the same.
func (r Rule) Same(other Rule) bool {
	a, b := r.WithDefaults(), other.WithDefaults()
	return a.Name == b.Name && a.Occasion == b.Occasion && a.JobExec == b.JobExec && a.Delay == b.Delay && a.Spread == b.Spread && a.ExpiresAfter == b.ExpiresAfter &&
		a.OnPending == b.OnPending && slices.Equal(a.Ends, b.Ends) && sameJSON(a.Payload, b.Payload) && a.MaxChecks == b.MaxChecks && a.MaxErrors == b.MaxErrors
}
