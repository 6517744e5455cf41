package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// State is how an agent is.
type State string

// The states.
const (
	Live     State = "live"
	Draining State = "draining" // it takes nothing new, since somebody wants that
	Stopping State = "stopping"
	Dead     State = "dead"
)

// mostListed is how many agents are listed at most.
const mostListed = 10_000

// Known is an agent as the database knows it.
type Known struct {
	Name  string `json:"name"`
	Kind  Kind   `json:"kind"`
	State State  `json:"state"`
	// Instance tells apart agents of one name.
	Instance uint64 `json:"instance,string"`
	Host     string `json:"host"`
	PID      uint32 `json:"pid"`
	Version  string `json:"version"`
	// Assignment is which slots it serves, as slots.Assignment says it.
	Assignment string `json:"assignment"`
	// Pools are those whose long runs it takes, and how many of each.
	Pools       map[string]int `json:"pools"`
	Concurrency int            `json:"concurrency"`
	// Busy is the share of that which was in use between its last two heartbeats.
	Busy     float64 `json:"busy"`
	LongRuns int     `json:"long_runs"`
	// Connections is how many connections it has at most; 0 where there is no bound, or none is known.
	Connections int `json:"connections"`
	// Load is that of its host in the last minute; nil where it cannot be told.
	Load        *float64 `json:"load_1m"`
	MemoryBytes uint64   `json:"memory_bytes"`
	// Ahead is by how much its clock is ahead of the database's, to a round trip.
	Ahead     time.Duration `json:"ahead_ns"`
	StartedAt time.Time     `json:"started_at"`
	SeenAt    time.Time     `json:"seen_at"`
	// DueAt is by when a timer is to be heard of again; nil for what stays up.
	DueAt *time.Time `json:"due_at"`
	// Drain says that somebody wants it to take nothing new, WantedBy who, where that is known, and WantedAt since when. It is Draining once it has
	// heard of that, with its next heartbeat.
	Drain    bool       `json:"drain,omitempty"`
	WantedBy string     `json:"wanted_by,omitempty"`
	WantedAt *time.Time `json:"wanted_at,omitempty"`
	// Silent is for how long it was not heard of, by the database's clock.
	Silent time.Duration `json:"silent_ns"`
}

// row is a row of the table.
type row struct {
	Name        string     `db:"name"`
	Instance    uint64     `db:"instance"`
	Kind        Kind       `db:"kind"`
	Host        string     `db:"host"`
	PID         uint32     `db:"pid"`
	Version     string     `db:"version"`
	Assignment  string     `db:"assignment"`
	Pools       []byte     `db:"pools"`
	Concurrency int        `db:"concurrency"`
	Busy        float64    `db:"busy"`
	LongRuns    int        `db:"long_runs"`
	Connections int        `db:"connections"`
	Load        *float64   `db:"load_1m"`
	MemoryBytes uint64     `db:"memory_bytes"`
	ClockMS     int64      `db:"clock_ms"`
	Stopping    bool       `db:"stopping"`
	Drain       bool       `db:"drain"`
	WantedBy    string     `db:"wanted_by"`
	WantedAt    *time.Time `db:"wanted_at"`
	StartedAt   time.Time  `db:"started_at"`
	SeenAt      time.Time  `db:"seen_at"`
	DueAt       *time.Time `db:"due_at"`
	SilentUS    int64      `db:"silent_us"`
	LateUS      *int64     `db:"late_us"`
}

// List returns the agents by name, up to 10,000 of them: those that live, that drain, that stop, and that died not long ago and have not come back. db is a pool that
// connect.Open made; the other arguments are those of Options. The error wraps prescient.ErrNotMigrated or what the server says.
func List(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) ([]Known, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return nil, err
	}
	return ListBy(ctx, db, t.Stmt)
}

// List is the function List, on the tables of the agent.
func (a *Agent) List(ctx context.Context) ([]Known, error) { return ListBy(ctx, a.db, a.tables.Stmt) }

// ListBy is List, by statements that were loaded already.
func ListBy(ctx context.Context, db *sqlx.DB, statements text.Statements) ([]Known, error) {
	var rows []row
	if err := db.SelectContext(ctx, &rows, statements.Get("agent/list"), mostListed); err != nil {
		return nil, fmt.Errorf("agent/list: %w", err)
	}
	all := make([]Known, 0, len(rows))
	for _, r := range rows {
		known := Known{Name: r.Name, Kind: r.Kind, DueAt: r.DueAt, Instance: r.Instance, Host: r.Host, PID: r.PID, Version: r.Version, Assignment: r.Assignment, Concurrency: r.Concurrency,
			Busy: r.Busy, LongRuns: r.LongRuns, Connections: r.Connections, Load: r.Load, MemoryBytes: r.MemoryBytes, Ahead: time.Duration(r.ClockMS) * time.Millisecond,
			Drain: r.Drain && r.Kind != Run && r.Kind != Sweep, WantedBy: r.WantedBy, WantedAt: r.WantedAt, StartedAt: r.StartedAt, SeenAt: r.SeenAt, Silent: max(time.Duration(r.SilentUS)*time.Microsecond, 0)}
		var late time.Duration
		if r.LateUS != nil {
			late = time.Duration(*r.LateUS) * time.Microsecond
		}
		known.State = stateOf(known.Silent, r.LateUS != nil, late, r.Stopping)
		if known.State == Stopping && known.Drain {
			known.State = Draining
		}
		if err := json.Unmarshal(r.Pools, &known.Pools); err != nil {
			known.Pools = nil // no program of this version wrote it
		}
		all = append(all, known)
	}
	return withoutReplaced(all), nil
}

// stateOf is the state of an agent that is silent for a time; of a timer it also counts for how long it should have come again.
func stateOf(silent time.Duration, timer bool, late time.Duration, stopping bool) State {
	switch {
	case silent > DeadAfter && (!timer || late > DeadAfter):
		return Dead
	case stopping && silent <= DeadAfter:
		return Stopping
	}
	return Live
}

// withoutReplaced leaves out the dead that came back: agents by their names, timers by what they serve.
func withoutReplaced(all []Known) []Known {
	who := func(k Known) [2]string {
		if k.Kind == Run || k.Kind == Sweep {
			return [2]string{string(k.Kind), k.Assignment}
		}
		return [2]string{string(Work), k.Name}
	}
	there := make(map[[2]string]bool)
	for _, k := range all {
		there[who(k)] = there[who(k)] || k.State != Dead
	}
	return slices.DeleteFunc(all, func(k Known) bool { return k.State == Dead && there[who(k)] })
}
