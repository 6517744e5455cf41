package schedule

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule/internal/catchup"
	"prescient/prescient/schedule/internal/occurrences"
	"prescient/prescient/schedule/timeline"
)

// What a schedule holds at most.
const (
	// MaxPayload is the longest payload, in bytes: what brokers take by default, and what a batch of some hundreds can hold in
	// memory. A CHECK of the table holds plain SQL to it.
	MaxPayload = 1 << 20
	// MaxTopic is the longest topic, in bytes.
	MaxTopic = 128
	// maxCrontabs is how many characters all crontabs of a schedule have together, and one for each between them.
	maxCrontabs = 2000
	// longest is the longest duration that the table holds.
	longest = 3660 * 24 * time.Hour
)

// CatchUp says what becomes of occurrences that were missed: that are late by more than CatchUpWithin.
type CatchUp string

// The ways.
const (
	// Once fires the earliest of them, and passes over the rest. The default.
	Once CatchUp = "once"
	// Skip fires none of them. A run that waits for its first call ends as missed. So does one that was called and whose answer was
	// never committed, since the worker died, was frozen or lost its lease before that, once another worker takes it over: nothing in
	// the tables tells it from one that was never called. A job_exec that must know of such calls keeps a note of its own.
	Skip CatchUp = "skip"
	// All fires each of them, the oldest first, up to MaxCatchUp of a schedule, and passes over the rest.
	All CatchUp = "all"
)

// MaxCatchUp is how many missed occurrences All fires at most: 1000. What is more than a call of the timer can send in time, since there are
// many schedules or their payloads are large, fires in the slots after that, in order.
const MaxCatchUp = catchup.Max

// ParseCatchUp reads once, skip or all; empty is once. The error wraps prescient.ErrInvalid.
func ParseCatchUp(text string) (CatchUp, error) {
	switch c := CatchUp(text); c {
	case "":
		return Once, nil
	case Once, Skip, All:
		return c, nil
	}
	return "", fmt.Errorf("%w: catch_up %q: once, skip or all are allowed", prescient.ErrInvalid, text)
}

// Schedule is what fires, when, and for whom. Zero fields have the defaults that they name.
type Schedule struct {
	// ID names it: any UTF-8 text of 1 to 128 characters that does not end in a blank, and has none that is prescient.Unseen; where it
	// sends events, it does not begin in a blank either, and has no control characters.
	ID string
	// Crontabs say when it fires: whenever one of them does, as package timeline reads them. Together they have up to 2000
	// characters.
	Crontabs []string
	// Zone is the IANA name of the zone in which their fields are local times; UTC by default.
	Zone string
	// Payload is what a run or an event carries, byte for byte; up to MaxPayload bytes.
	Payload []byte
	// JobExec is the name of the job_exec that it runs, once for each occurrence. A schedule has this or a Topic.
	JobExec string
	// Topic is where it sends an event for each occurrence: letters, digits and _ . - /, up to MaxTopic of them.
	Topic string
	// Owner is the entity that it belongs to, so that all that an owner has can go with the owner; none by default.
	Owner prescient.Entity
	// CatchUp says what becomes of missed occurrences; Once by default.
	CatchUp CatchUp
	// CatchUpWithin is how late an occurrence may be and still fires as usual, in whole seconds, to the beginning of the slot in
	// which it would; what is called in its own slot is never missed. By default a minute or two slots, whichever is longer.
	CatchUpWithin time.Duration
	// ExpiresAfter is how long after its time an occurrence is of use, in whole seconds: a run that has not been called by
	// then, or not with success, ends as expired, and an event is not sent. 0, the default, for ever.
	ExpiresAfter time.Duration
	// Jitter bounds a delay, in whole seconds, that each schedule has of its own: a hash of its ID says how long it is. So not
	// all that is asked for midnight fires at midnight. 0, the default, for none.
	Jitter time.Duration
	// MayCoalesce lets crontabs be finer than the slots: occurrences of one slot then are one.
	MayCoalesce bool
	// Long says that its runs may outlive their slots, and keep apart: JobExec is one that package longrun registered. The others
	// of these fields are for long runs alone.
	Long bool
	// Overlap says what becomes of an occurrence that comes while the run before it is under way; longrun.Forbid by default.
	Overlap longrun.Overlap
	// Tolerance is by how much two starts may be closer together than the occurrences are, in whole seconds: a run that would start
	// sooner after the one before it ends as too_soon. A tenth of the interval by default. It does not hold with longrun.Allow.
	Tolerance time.Duration
	// Quota is how long after its start a run is ended, in whole seconds: as quota, which is no error. Half of the interval to the
	// next occurrence by default, NoQuota for none.
	Quota time.Duration
	// Pool is whose agents may have its long runs: an identifier. It goes before that of the job_exec, which is what an empty one stands
	// for.
	Pool string
	// Heartbeat is the name of what is told, by whoever works, as its runs begin and end, or once its events are in the outbox: an identifier,
	// which the configuration of workers has a URL for. None by default.
	Heartbeat string
}

// NoQuota is the quota of a schedule whose long runs may take as long as they do.
const NoQuota = -1 * time.Second

var topicPattern = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// Validate returns an error that wraps prescient.ErrInvalid and names what is wrong, and what is allowed; a prescient.FieldError in it
// names the field. Whether the crontabs are finer than slots is for Create to say, which knows the slots.
func (s Schedule) Validate() error { return s.ValidateFrom(Schedule{}) }

// ValidateFrom is Validate for what is to be put in the place of another definition.
func (s Schedule) ValidateFrom(old Schedule) error {
	return errors.Join(s.validate(), s.validSeen(old))
}

// validSeen refuses new names that cannot be seen: those that another definition of it has already may stay.
func (s Schedule) validSeen(old Schedule) (err error) {
	if s.ID != old.ID {
		err = prescient.InField("id", prescient.ValidSeen("id of a schedule", s.ID))
	}
	if s.Owner != old.Owner {
		err = errors.Join(err, prescient.InField("owner", prescient.ValidSeen("owner of schedules", s.Owner.Key)))
	}
	return err
}

// validate is Validate for a schedule whose names are there already.
func (s Schedule) validate() error {
	err := s.validCrontabs()
	if err := errors.Join(prescient.InField("id", validID(s.ID)), err, s.validTarget()); err != nil {
		return err
	}
	if s.Owner != (prescient.Entity{}) {
		if err := validOwner(s.Owner); err != nil {
			return prescient.InField("owner", fmt.Errorf("schedule %q: %w", s.ID, err))
		}
	}
	if len(s.Payload) > MaxPayload {
		return prescient.InField("payload", fmt.Errorf("%w: payload of schedule %q has %d bytes; at most %d are allowed", prescient.ErrInvalid, s.ID, len(s.Payload), MaxPayload))
	}
	if _, err := ParseCatchUp(string(s.CatchUp)); err != nil {
		return prescient.InField("catch_up", fmt.Errorf("schedule %q: %w", s.ID, err))
	}
	if err := s.validLong(); err != nil {
		return err
	}
	if s.Heartbeat != "" {
		if err := prescient.ValidIdentifier("heartbeat", s.Heartbeat); err != nil {
			return prescient.InField("heartbeat", fmt.Errorf("schedule %q: %w", s.ID, err))
		}
	}
	for _, of := range []struct {
		name string
		d    time.Duration
	}{{"catch_up_within", s.CatchUpWithin}, {"expires_after", s.ExpiresAfter}, {"jitter", s.Jitter}, {"tolerance", s.Tolerance}, {"quota", max(s.Quota, 0)}} {
		if of.d < 0 || of.d > longest || of.d%time.Second != 0 {
			return prescient.InField(of.name, fmt.Errorf("%w: %s %s of schedule %q: whole seconds up to %s are allowed", prescient.ErrInvalid, of.name, of.d, s.ID, longest))
		}
	}
	return nil
}

// validLong makes sure that what is for long runs stands with a schedule that has some.
func (s Schedule) validLong() error {
	if _, err := longrun.ParseOverlap(string(s.Overlap)); err != nil {
		return prescient.InField("overlap", fmt.Errorf("schedule %q: %w", s.ID, err))
	}
	field, err := "", error(nil)
	switch {
	case s.Quota < 0 && s.Quota != NoQuota:
		field, err = "quota", fmt.Errorf("%w: quota %s of schedule %q: whole seconds are allowed, or none", prescient.ErrInvalid, s.Quota, s.ID)
	case s.Long && s.JobExec == "":
		field, err = "long", fmt.Errorf("%w: schedule %q is long and sends events; only a schedule that runs a job_exec may be long", prescient.ErrInvalid, s.ID)
	case !s.Long && (s.Overlap != "" || s.Tolerance != 0 || s.Quota != 0):
		field = map[bool]string{true: "overlap", false: "tolerance"}[s.Overlap != ""]
		err = fmt.Errorf("%w: schedule %q is not long; overlap, tolerance and quota are for long runs", prescient.ErrInvalid, s.ID)
	case !s.Long && s.Pool != "":
		field, err = "pool", fmt.Errorf("%w: schedule %q has pool %.80q and is not long; pools are for long runs", prescient.ErrInvalid, s.ID, s.Pool)
	case s.Pool != "":
		if err = prescient.ValidIdentifier("pool", s.Pool); err != nil {
			field, err = "pool", fmt.Errorf("schedule %q: %w", s.ID, err)
		}
	}
	return prescient.InField(field, err)
}

func validID(id string) error {
	if id == "" {
		return fmt.Errorf("%w: the id of a schedule is empty", prescient.ErrInvalid)
	}
	return errors.Join(prescient.ValidText("id of a schedule", id, prescient.MaxKeyLen), noBlankAtEnd("id of a schedule", id))
}

func validOwner(owner prescient.Entity) error {
	if err := errors.Join(owner.Validate(), noBlankAtEnd("key", owner.Key)); err != nil {
		return fmt.Errorf("owner of schedules: %w", err)
	}
	return nil
}

// noBlankAtEnd refuses what the servers take for the same key as without the blank.
func noBlankAtEnd(what, text string) error {
	if strings.HasSuffix(text, " ") {
		return fmt.Errorf("%w: %s %.150q ends with a blank, which is not allowed", prescient.ErrInvalid, what, text)
	}
	return nil
}

// validTarget makes sure that it fires one thing that can be stored.
func (s Schedule) validTarget() error {
	switch {
	case s.JobExec == "" && s.Topic == "", s.JobExec != "" && s.Topic != "":
		return prescient.InField("exec", fmt.Errorf("%w: schedule %q has job_exec %q and topic %q; give one of the two", prescient.ErrInvalid, s.ID, s.JobExec, s.Topic))
	case s.JobExec == TimerExec:
		return prescient.InField("exec", fmt.Errorf("%w: job_exec %q of schedule %q is kept for timers", prescient.ErrInvalid, s.JobExec, s.ID))
	case s.JobExec != "":
		return prescient.InField("exec", prescient.ValidIdentifier("job_exec", s.JobExec))
	case len(s.Topic) > MaxTopic || !topicPattern.MatchString(s.Topic):
		return prescient.InField("topic", fmt.Errorf("%w: topic %.150q of schedule %q: 1 to %d letters, digits and _ . - / are allowed", prescient.ErrInvalid, s.Topic, s.ID, MaxTopic))
	}
	return prescient.InField("id", prescient.ValidLabel("id of a schedule that sends events, which is their key,", s.ID, prescient.MaxKeyLen))
}

// validCrontabs refuses what no schedule may be given, though one that is stored may have it.
func (s Schedule) validCrontabs() error {
	if n := len(strings.Join(s.Crontabs, "\n")); n > maxCrontabs {
		return prescient.InField("crontab", fmt.Errorf("%w: crontabs of schedule %q have %d characters; at most %d are allowed", prescient.ErrInvalid, s.ID, n, maxCrontabs))
	}
	if _, err := timeline.Parse(s.Crontabs, s.Zone, time.Unix(0, 0)); err != nil {
		return fmt.Errorf("schedule %q: %w", s.ID, err)
	}
	return nil
}

// timeline reads the crontabs by some zones, nil for those of this machine; created is what @every counts from.
func (s Schedule) timeline(zones timeline.Zones, created time.Time) (occurrences.Line, error) {
	line, err := timeline.ParseStored(s.Crontabs, s.Zone, created, zones)
	if err != nil {
		return occurrences.Line{}, fmt.Errorf("schedule %q: %w", s.ID, err)
	}
	return occurrences.Later(line, timeline.Jitter(s.ID, s.Jitter).Truncate(time.Second)), nil
}

// withDefaults fills in what a zero field stands for, where that does not depend on the slots, so that two definitions can be
// compared.
func (s Schedule) withDefaults() Schedule {
	s.Zone = cmp.Or(s.Zone, "UTC")
	s.CatchUp = cmp.Or(s.CatchUp, Once)
	if s.Long {
		s.Overlap = cmp.Or(s.Overlap, longrun.Forbid)
	}
	return s
}

// same says whether two definitions are one.
func (s Schedule) same(o Schedule) bool {
	return s.sameTimeline(o) && string(s.Payload) == string(o.Payload) && (s.Payload == nil) == (o.Payload == nil) &&
		s.JobExec == o.JobExec && s.Topic == o.Topic && s.Owner == o.Owner && s.CatchUp == o.CatchUp &&
		s.CatchUpWithin == o.CatchUpWithin && s.ExpiresAfter == o.ExpiresAfter && s.MayCoalesce == o.MayCoalesce &&
		s.Long == o.Long && s.Overlap == o.Overlap && s.Tolerance == o.Tolerance && s.Quota == o.Quota && s.Pool == o.Pool && s.Heartbeat == o.Heartbeat
}

// sameTimeline says whether two definitions fire at the same times.
func (s Schedule) sameTimeline(o Schedule) bool {
	return slices.Equal(s.Crontabs, o.Crontabs) && s.Zone == o.Zone && s.Jitter == o.Jitter
}

// Stored is a schedule as the tables hold it.
type Stored struct {
	Schedule
	// Version rises with every change; 0 is that of one that plain SQL inserted, until its timer has taken its place.
	Version uint64
	// Enabled says whether it fires.
	Enabled bool
	// DisabledAt and DisabledReason say when and why it was disabled, where no person did that; else they are zero.
	DisabledAt     time.Time
	DisabledReason string
	// PassedOver is how often its timer passed over occurrences: missed ones, or those whose events had expired.
	PassedOver int64
	// CreatedAt is what @every counts from, by the database's clock.
	CreatedAt time.Time
	UpdatedAt time.Time
	// LastStartedAt is when a long run of it started last; zero for never.
	LastStartedAt time.Time

	// caught is how many missed occurrences a catch-up has fired that goes on, and size how many bytes the payload has.
	caught, size int
	// kept is how far local time is ahead at the occurrence that the timer waits for.
	kept occurrences.Ahead
}
