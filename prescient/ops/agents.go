package ops

import (
	"context"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/longrun"
)

// Agent is a process that works, or a timer.
type Agent struct {
	Name        string         `json:"name"`
	Kind        agent.Kind     `json:"kind" enum:"work,run,sweep" doc:"What stays up is work; run and sweep are timers."`
	State       agent.State    `json:"state"`
	Instance    uint64         `json:"instance,string" doc:"Tells apart agents of one name."`
	Host        string         `json:"host"`
	PID         uint32         `json:"pid"`
	Version     string         `json:"version"`
	Assignment  string         `json:"assignment" doc:"Which slots it serves."`
	Pools       map[string]int `json:"pools" doc:"Whose long runs it takes, and how many of each."`
	Concurrency int            `json:"concurrency"`
	Busy        float64        `json:"busy" doc:"The share of concurrency that was in use between its last two heartbeats."`
	LongRuns    int            `json:"long_runs"`
	Connections int            `json:"connections" doc:"How many it has at most; 0 for no bound."`
	Load        *float64       `json:"load_1m" doc:"That of its host; null where it cannot be told."`
	MemoryBytes uint64         `json:"memory_bytes,string"`
	AheadMS     int64          `json:"ahead_ms,string" doc:"By how much its clock is ahead of the database's."`
	StartedAt   time.Time      `json:"started_at"`
	SeenAt      time.Time      `json:"seen_at"`
	DueAt       *time.Time     `json:"due_at,omitempty" doc:"By when a timer is to be heard of again."`
	Drain       bool           `json:"drain,omitempty" doc:"Somebody wants it to take nothing new. It is draining once it has heard that."`
	WantedBy    string         `json:"wanted_by,omitempty" doc:"Who wants that, where that is known."`
	WantedAt    *time.Time     `json:"wanted_at,omitempty" doc:"Since when."`
	SilentMS    int64          `json:"silent_ms,string" doc:"For how long it was not heard of."`
}

// ListAgents lists what works.
var ListAgents = query("agents.list", Viewer, "List the processes and timers that work, by name, up to 10,000.", func(ctx context.Context, q asked, _ Nothing) (Page[Agent], error) {
	all, err := agent.ListBy(ctx, q.db, q.tables.Stmt)
	return Page[Agent]{Rows: agentsOf(all)}, err
})

func agentsOf(all []agent.Known) []Agent {
	rows := make([]Agent, len(all))
	for i, a := range all {
		rows[i] = Agent{Name: a.Name, Kind: a.Kind, State: a.State, Instance: a.Instance, Host: a.Host, PID: a.PID, Version: a.Version, Assignment: a.Assignment,
			Pools: a.Pools, Concurrency: a.Concurrency, Busy: a.Busy, LongRuns: a.LongRuns, Connections: a.Connections, Load: a.Load, MemoryBytes: a.MemoryBytes,
			AheadMS: a.Ahead.Milliseconds(), StartedAt: a.StartedAt, SeenAt: a.SeenAt, DueAt: a.DueAt, Drain: a.Drain, WantedBy: a.WantedBy, WantedAt: a.WantedAt,
			SilentMS: a.Silent.Milliseconds()}
	}
	return rows
}

// AgentNamed names agents.
type AgentNamed struct {
	Name string `json:"name" minLength:"1" maxLength:"64" doc:"The name of agents that stay up."`
}

// Drained is of how many agents a drain was not wanted yet, and how many others work.
type Drained struct {
	Count   int `json:"count"`
	Working int `json:"working" doc:"How many other agents and timers run slots. Where it is 0 nobody does, until undrain."`
}

// DrainAgents has agents take nothing new.
var DrainAgents = deed("agents.drain", Operator, "Have the live agents of a name take nothing new, from their next heartbeat on; it says of how many that was not wanted yet.", func(ctx context.Context, d doing, in AgentNamed) (Drained, error) {
	all, err := agent.ListBy(ctx, d.accounts.of(d.by.Role), d.tables.Stmt)
	if err != nil {
		return Drained{}, err
	}
	n, err := d.agents.Drain(ctx, d.tx, in.Name)
	return Drained{n, agent.Working(all, in.Name)}, err
})

// UndrainAgents lets agents work again.
var UndrainAgents = deed("agents.undrain", Operator, "Let the agents of a name work again, from their next heartbeat on; it says how many were to drain.", func(ctx context.Context, d doing, in AgentNamed) (Counted, error) {
	n, err := d.agents.Undrain(ctx, d.tx, in.Name)
	return Counted{n}, err
})

// Pool is what there is of a pool of long runs.
type Pool struct {
	Name     string `json:"pool" doc:"Empty for the runs that any agent may have."`
	Agents   int    `json:"agents" doc:"How many live agents serve it."`
	Places   int    `json:"places" doc:"How many of its runs they may have at a time."`
	Running  int    `json:"running"`
	Waiting  int    `json:"waiting"`
	OldestMS int64  `json:"oldest_ms,string" doc:"For how long the first of those that wait does."`
}

// ListPools lists the pools of long runs.
var ListPools = query("agents.pools", Viewer, "List the pools of long runs, and what waits in them.", func(ctx context.Context, q asked, _ Nothing) (Page[Pool], error) {
	all, err := agent.ListBy(ctx, q.db, q.tables.Stmt)
	if err != nil {
		return Page[Pool]{}, err
	}
	pools, err := agent.PoolsBy(ctx, q.db, q.tables.Stmt, all)
	return Page[Pool]{Rows: poolsOf(pools)}, err
})

func poolsOf(pools []agent.Pool) []Pool {
	return rowsOf(pools, func(p agent.Pool) Pool {
		return Pool{p.Name, p.Agents, p.Places, p.Running, p.Waiting, p.Oldest.Milliseconds()}
	})
}

// ListLongRuns lists the long runs that did not end.
var ListLongRuns = query("runs.long", Viewer, "List the long runs that did not end. A page may be shorter than its limit.", func(ctx context.Context, q asked, in Paging) (Page[longrun.UnderWay], error) {
	rows, next, err := longrun.ListUnderWay(ctx, q.db, q.tables, in.After, in.Limit, searchTime)
	return Page[longrun.UnderWay]{Rows: rows, Next: next}, err
})
