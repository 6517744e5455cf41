package longrun

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"slices"
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
	rows, err := db.QueryContext(ctx, tables.Stmt.Get("longrun/list"), first[:], last[:], most)
	if err != nil {
		return nil, fmt.Errorf("reading long runs: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		one, wanted, err := scanState(rows)
		if err != nil {
			return nil, fmt.Errorf("reading long runs: %w", err)
		}
		if wanted {
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b State) int { return strings.Compare(b.Occurrence, a.Occurrence) })
	return list, rows.Err()
}

// scanState reads a run. It is not wanted where nobody will end it.
func scanState(rows *sql.Rows) (one State, wanted bool, err error) {
	var started, called, allocated sql.NullString
	var occurrence, agent []byte
	var pending, lives bool
	if err := rows.Scan(&occurrence, &one.Pool, &agent, &started, &called, &allocated, &one.Takeovers, &pending, &lives); err != nil {
		return one, false, err
	}
	if !pending && !lives {
		return one, false, nil // nobody will end it: its check was cancelled
	}
	for _, of := range []struct {
		text []byte
		into *string
	}{{occurrence, &one.Occurrence}, {agent, &one.Agent}} {
		plain, err := hex.DecodeString(string(of.text))
		if err != nil {
			return one, false, err
		}
		*of.into = string(plain)
	}
	one.Phase = phase(one.Agent, started.Valid, allocated.Valid, lives)
	for _, at := range []struct {
		text sql.NullString
		into **time.Time
	}{{started, &one.StartedAt}, {called, &one.CalledAt}, {allocated, &one.AllocatedUntil}} {
		if !at.text.Valid {
			continue
		}
		t, err := store.ParseTime(at.text.String)
		if err != nil {
			return one, false, err
		}
		*at.into = &t
	}
	if one.Phase == HandedOn || one.Phase == Offered {
		one.AllocatedUntil = nil
	}
	return one, true, nil
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
