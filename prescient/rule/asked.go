package rule

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Twice, late and out of order. A further occasion does to a pending check what the rule says, by the words of an insert: keep, replace, earlier or later;
// a check whose slot has begun is replaced. So to report the same again is safe with keep and later while the check is pending. Nothing is remembered: an
// ending that comes first ends nothing, and what is reported after its check has ended makes another. What happened before the rule was made or switched on
// makes nothing. A time that is over goes to the next open slot, and expires there where the rule says so. An occasion more than MaxHorizon ahead is
// refused; the horizon of a job_exec does not hold, so that no definition makes an app's report fail.

// Occasion is what an app reports.
type Occasion struct {
	Name   string
	Entity prescient.Entity
	At     time.Time
	Data   json.RawMessage
}

// Asked is what rules want of an occasion.
type Asked struct {
	// Ends are the checks that it ends, where they are pending, and Makes those that it makes: each in the order of the rules' names.
	Ends  []prescient.NewJob
	Makes []prescient.NewJob
}

// Of is what rules want of an occasion. Rules that are off, or deleted, have their checks ended all the same. The error wraps prescient.ErrInvalid.
func (o Occasion) Of(rules []Known) (asked Asked, err error) {
	for _, k := range rules {
		if slices.Contains(k.Ends, o.Name) {
			asked.Ends = append(asked.Ends, prescient.NewJob{Entity: o.Entity, JobExec: k.JobExec, Tag: TagOf(k.Rule.Name)})
		}
		if k.Occasion != o.Name || !k.Reaches(o.At) {
			continue
		}
		payload, err := Merge(k.Payload, o.Data)
		if err != nil {
			return Asked{}, err
		}
		asked.Makes = append(asked.Makes, k.Check(k.Version, o.Entity, o.At, payload))
	}
	return asked, nil
}

// Validate returns an error that wraps prescient.ErrInvalid where nothing can have happened so.
func (o Occasion) Validate() error {
	if err := errors.Join(ValidOccasion(o.Name), o.Entity.Validate(), prescient.ValidSeen("entity key", o.Entity.Key)); err != nil {
		return err
	}
	if o.At.Before(prescient.EarliestDue) {
		return errorf("occasion %s of %s has no time, or one before the year 1000", o.Name, o.Entity)
	}
	_, err := Merge(nil, o.Data)
	return err
}

// Memory is the rules as a client knows them. It is for concurrent use.
type Memory struct {
	mu     sync.Mutex
	all    []Known
	readAt time.Time
	last   Reader
	lastAt time.Time
}

// Reader is what rules are read on: a handle of a transaction, by its place in memory, and 0 for all that sees what is there at the moment.
type Reader uintptr

// Lasts is for how long a client goes by rules without another look.
const Lasts = store.VersionLasts

// Known returns the rules, where they were read lately: by anybody, or by this one.
func (m *Memory) Known(now time.Time, by Reader) (all []Known, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all, !m.readAt.IsZero() && (now.Sub(m.readAt) < Lasts || by != 0 && by == m.last && now.Sub(m.lastAt) < Lasts)
}

// Forget has the next occasion read them anew.
func (m *Memory) Forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.readAt, m.last = time.Time{}, 0
}

// Learn takes in what was read at a time. A transaction that began long ago may have read an older version than is known: that is not taken; and where it is
// the one that read last, too, the others look again, so that no rule is new to them for as long as it lasts. A rule stays where it was not read: rules are
// never removed. A version that was read twice is as it was read last: the first may have been of a change that was rolled back.
func (m *Memory) Learn(read []Known, at time.Time, by Reader) (all []Known) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by == 0 || by != m.last {
		m.readAt = at
	}
	m.all, m.last, m.lastAt = newest(read, m.all), by, at
	return m.all
}

// newest has of each rule the newest version, by the names, in a list of its own.
func newest(read, known []Known) []Known {
	all := slices.Concat(read, known)
	slices.SortStableFunc(all, func(a, b Known) int {
		return cmp.Or(strings.Compare(a.Rule.Name, b.Rule.Name), cmp.Compare(b.Version, a.Version))
	})
	return slices.CompactFunc(all, func(a, b Known) bool { return a.Rule.Name == b.Rule.Name })
}
