package ops

import (
	"context"

	"prescient/prescient/agent"
	"prescient/prescient/longrun"
	"prescient/prescient/ops/working"
)

// ListAgents lists what works.
var ListAgents = query("agents.list", Viewer, "List the processes and timers that work, by name, up to 10,000.", func(ctx context.Context, q asked, _ Nothing) (Page[working.Agent], error) {
	all, err := agent.ListBy(ctx, q.db, q.tables.Stmt)
	return Page[working.Agent]{Rows: working.Agents(all)}, err
})

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

// ListPools lists the pools of long runs.
var ListPools = query("agents.pools", Viewer, "List the pools of long runs, and what waits in them.", func(ctx context.Context, q asked, _ Nothing) (Page[working.Pool], error) {
	all, err := agent.ListBy(ctx, q.db, q.tables.Stmt)
	if err != nil {
		return Page[working.Pool]{}, err
	}
	pools, err := agent.PoolsBy(ctx, q.db, q.tables.Stmt, all)
	return Page[working.Pool]{Rows: working.Pools(pools)}, err
})

// ListLongRuns lists the long runs that did not end.
var ListLongRuns = query("runs.long", Viewer, "List the long runs that did not end. A page may be shorter than its limit.", func(ctx context.Context, q asked, in Paging) (Page[longrun.UnderWay], error) {
	rows, next, err := longrun.ListUnderWay(ctx, q.db, q.tables, in.After, in.Limit, q.options.Search)
	return Page[longrun.UnderWay]{Rows: rows, Next: next}, err
})
