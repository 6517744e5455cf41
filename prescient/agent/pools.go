package agent

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Pool is what there is of a pool of long runs.
type Pool struct {
	// Name is empty for the runs that any agent may have.
	Name string `json:"pool"`
	// Agents are how many live agents serve it, and Places how many of its runs they may have at a time; both are 0 for the runs of no pool,
	// which have places of their own in each.
	Agents int `json:"agents"`
	Places int `json:"places"`
	// Running are its runs that agents have.
	Running int `json:"running"`
	// Waiting are those that wait for an agent, and Oldest for how long the first of them does.
	Waiting int           `json:"waiting"`
	Oldest  time.Duration `json:"oldest_ns"`
}

// mostRuns is among how many runs those of pools are counted.
const mostRuns = 100_000

// Pools returns the pools that live agents serve, or that have runs which did not end, by name; those of the first 100,000 runs. Its arguments
// and errors are those of List.
func Pools(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) ([]Pool, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return nil, err
	}
	agents, err := ListBy(ctx, db, t.Stmt)
	if err != nil {
		return nil, err
	}
	return PoolsBy(ctx, db, t.Stmt, agents)
}

// Pools is the function Pools, on the tables of the agent, of agents that List has returned.
func (a *Agent) Pools(ctx context.Context, agents []Known) ([]Pool, error) {
	return PoolsBy(ctx, a.db, a.tables.Stmt, agents)
}

// PoolsBy is Pools, by statements that were loaded already, of agents that List has returned.
func PoolsBy(ctx context.Context, db *sqlx.DB, statements text.Statements, agents []Known) ([]Pool, error) {
	var rows []struct {
		Pool     string `db:"pool"`
		Running  int    `db:"running"`
		Waiting  int    `db:"waiting"`
		OldestUS int64  `db:"oldest_us"`
	}
	if err := db.SelectContext(ctx, &rows, statements.Get("agent/pools"), mostRuns); err != nil {
		return nil, fmt.Errorf("agent/pools: %w", err)
	}
	pools := make(map[string]Pool)
	for _, r := range rows {
		pools[r.Pool] = Pool{Name: r.Pool, Running: r.Running, Waiting: r.Waiting, Oldest: time.Duration(r.OldestUS) * time.Microsecond}
	}
	for _, a := range agents {
		if a.State != Live {
			continue
		}
		for name, places := range a.Pools {
			p := pools[name]
			p.Name, p.Agents, p.Places = name, p.Agents+1, p.Places+places
			pools[name] = p
		}
	}
	return slices.SortedFunc(maps.Values(pools), func(a, b Pool) int { return cmp.Compare(a.Name, b.Name) }), nil
}
