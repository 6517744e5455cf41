package notify

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/doctor"
)

// The defaults of Settings.
const (
	DefaultEvery    = time.Minute
	DefaultHold     = 2 * time.Minute
	DefaultGone     = 5 * time.Minute
	DefaultReminder = 24 * time.Hour
	DefaultRate     = 6
)

// MostReceivers is how many receivers there are at most.
const MostReceivers = 20

// Settings are when who is told; zero fields mean the defaults.
type Settings struct {
	// Every is the time from one look to the next.
	Every time.Duration
	// Hold is for how long a finding is to be there before it is told, and Gone for how long it is to be gone before it is over; below zero for at once.
	Hold, Gone time.Duration
	// Reminder is the time after which what is still there is told again; below zero for never.
	Reminder time.Duration
	// Ignore are codes of findings that nobody is told of, or the kinds before their dots.
	Ignore []string
	// Place is what the installation is called in messages, and Page where its page is; empty for neither.
	Place, Page string
	// Receivers are who is told.
	Receivers []Receiver
}

// Receiver is somebody who is told.
type Receiver struct {
	// Name is an identifier, which no other receiver has.
	Name string
	// Sender sends it messages.
	Sender Sender
	// Least is from which severity on it is told; warn by default.
	Least doctor.Severity
	// Quiet are hours in which it is left alone; none by default.
	Quiet Hours
	// Rate is how many messages a minute it gets at most: the last one sums the rest up.
	Rate int
}

// Hours are those of each day in which a receiver is left alone: what is still there at their end is told then.
type Hours struct {
	// From and Until are times of the day, such as 22h and 7h; the same for no hours.
	From, Until time.Duration
	// Zone is where the day has these; UTC by default.
	Zone *time.Location
	// All has also what is bad wait for their end.
	All bool
}

// hold says whether they are now. It is a pure function.
func (h Hours) hold(now time.Time) bool {
	if h.Zone == nil {
		h.Zone = time.UTC
	}
	now = now.In(h.Zone)
	at := time.Duration(now.Hour())*time.Hour + time.Duration(now.Minute())*time.Minute + time.Duration(now.Second())*time.Second
	if h.From <= h.Until {
		return h.From <= at && at < h.Until
	}
	return at >= h.From || at < h.Until
}

// complete fills in the defaults. The error wraps prescient.ErrInvalid.
func (s *Settings) complete() error {
	s.Every, s.Hold, s.Gone, s.Reminder = cmp.Or(s.Every, DefaultEvery), cmp.Or(s.Hold, DefaultHold), cmp.Or(s.Gone, DefaultGone), cmp.Or(s.Reminder, DefaultReminder)
	if s.Every < time.Second {
		return fmt.Errorf("%w: %s from one look to the next; at least 1s is allowed", prescient.ErrInvalid, s.Every)
	}
	if n := len(s.Receivers); n == 0 || n > MostReceivers {
		return fmt.Errorf("%w: %d receivers; 1 to %d are allowed", prescient.ErrInvalid, n, MostReceivers)
	}
	if err := doctor.CheckCodes(s.Ignore); err != nil {
		return err
	}
	s.Receivers = slices.Clone(s.Receivers)
	names := make(map[string]bool)
	for i := range s.Receivers {
		r := &s.Receivers[i]
		r.Least, r.Rate = cmp.Or(r.Least, doctor.SeverityWarn), cmp.Or(r.Rate, DefaultRate)
		if err := prescient.ValidIdentifier("receiver", r.Name); err != nil {
			return err
		}
		switch {
		case names[r.Name]:
			return fmt.Errorf("%w: two receivers are called %s", prescient.ErrInvalid, r.Name)
		case r.Sender == nil:
			return fmt.Errorf("%w: the receiver %s has no Sender", prescient.ErrInvalid, r.Name)
		case !r.Least.Wrong():
			return fmt.Errorf("%w: the receiver %s is told from %.20q on; %s and %s are allowed", prescient.ErrInvalid, r.Name, string(r.Least), doctor.SeverityWarn, doctor.SeverityBad)
		case r.Rate < 1:
			return fmt.Errorf("%w: the receiver %s gets %d messages a minute; at least 1 is allowed", prescient.ErrInvalid, r.Name, r.Rate)
		case r.Quiet.From < 0 || r.Quiet.Until < 0 || r.Quiet.From >= 24*time.Hour || r.Quiet.Until >= 24*time.Hour:
			return fmt.Errorf("%w: the quiet hours of %s are from %s until %s; from 0s to below 24h is allowed", prescient.ErrInvalid, r.Name, r.Quiet.From, r.Quiet.Until)
		}
		names[r.Name] = true
	}
	return nil
}

// names are those of the receivers.
func (s *Settings) names() (all []string) {
	for _, r := range s.Receivers {
		all = append(all, r.Name)
	}
	return all
}
