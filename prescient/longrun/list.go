package longrun

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Phase is what a run that did not end does.
type Phase string

// The phases.
const (
	// Running is that of a run which an agent has.
	Running Phase = "running"
	// Lapsed is that of a run whose agent was not heard of in time: another is to take it over.
	Lapsed Phase = "lapsed"
	// HandedOn is that of a run whose agent has stopped: another is to go on with it.
	HandedOn Phase = "handed on"
	// Queued is that of a run which waits for the end of the one before it.
	Queued Phase = "queued"
	// Offered is that of a run which waits for an agent of its pool.
	Offered Phase = "offered"
	// Retried is that of a run whose call failed, or asked for another time: it waits to be called again.
	Retried Phase = "waiting"
)

// State is a run that did not end, as the database has it. Times are UTC, by the database's clock.
type State struct {
	// Occurrence is the tag of its check: the unix second of the occurrence of a schedule; empty for the check of an app.
	Occurrence string `json:"occurrence,omitempty"`
	Phase      Phase  `json:"phase"`
	// Pool is whose agents may have it; empty for all.
	Pool string `json:"pool,omitempty"`
	// Agent is the worker that has it, or had it last; empty for none.
	Agent string `json:"agent,omitempty"`
	// StartedAt is when it started for the first time, CalledAt for the last time; nil while it waits for the one before it.
	StartedAt *time.Time `json:"started_at,omitempty"`
	CalledAt  *time.Time `json:"called_at,omitempty"`
	// AllocatedUntil is until when it is the agent's, unless that renews it; nil where it is nobody's.
	AllocatedUntil *time.Time `json:"allocated_until,omitempty"`
	// Takeovers is how often it was taken over from an agent that let it lapse.
	Takeovers int `json:"takeovers,omitempty"`
}

// List returns the runs of an entity that did not end, up to most of them, the latest occurrence first. It is for rooms of the library;
// schedule.Schedules.LongRuns is for all others. The error is that of the server: 1142 where the account may not read long_run.
func List(ctx context.Context, db prescient.DB, tables *store.Tables, entity prescient.Entity, most int) (list []State, err error) {
	first, last := entity.KeyRange()
	rows, err := store.Rows(ctx, db, "reading long runs", tables.Fill("longrun/list", "{limit}", strconv.Itoa(most)), (*stateRow).into, first[:], last[:])
	for _, row := range rows {
		if row.seen() {
			list = append(list, row.State)
		}
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(b.Occurrence, a.Occurrence) })
	return list, err
}

// stateRow is a row of longrun/list.
type stateRow struct {
	State
	pending, lives bool // its check is, and its lease
}

// seen says what the run does, and whether it does anything: nobody will end one whose check was cancelled.
func (s *stateRow) seen() bool {
	s.Phase = phase(s.Agent, s.StartedAt != nil, s.AllocatedUntil != nil, s.lives)
	if s.Phase == HandedOn || s.Phase == Offered {
		s.AllocatedUntil = nil
	}
	return s.pending || s.lives
}

// into is where the columns of a row go.
func (s *stateRow) into() []any {
	return []any{store.Unhex(&s.Occurrence), &s.Pool, store.Unhex(&s.Agent), store.AtOrNil(&s.StartedAt), store.AtOrNil(&s.CalledAt), store.AtOrNil(&s.AllocatedUntil),
		&s.Takeovers, &s.pending, &s.lives}
}

// phase says what a run does that did not end.
func phase(agent string, started, allocated, lives bool) Phase {
	switch {
	case lives:
		return Running
	case allocated && !started:
		return Offered
	case allocated && agent != "":
		return Lapsed
	case allocated:
		return HandedOn
	case started:
		return Retried
	}
	return Queued
}
