package agents

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/longrun"
	"prescient/prescient/ops"
	"prescient/prescient/ops/working"
	"prescient/prescient/page/internal/front"
)

// agentsSeen is what the template gets.
type agentsSeen struct {
	ops.Clock
	State    string
	States   []agent.State
	Agents   []one
	Working  int
	Pools    []working.Pool
	Runs     []longrun.UnderWay
	Next     []string // the query of the next page of runs
	Operator bool
}

const (
	// runsShown is how many long runs a page has, ledgerRead how many rows of the ledger are looked through for what agents have.
	runsShown  = 100
	ledgerRead = 1000
	// Heartbeats come about as often.
	lookAgain = 10 * time.Second
)

var states = []agent.State{agent.Live, agent.Draining, agent.Stopping, agent.Dead}

func showAgents(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := agentsSeen{State: a.Text("state"), States: states, Operator: a.Operator()}
	if is.State != "" && !slices.Contains(states, agent.State(is.State)) {
		return front.Shown{}, fmt.Errorf("%w: state %.40q: %v are allowed", prescient.ErrInvalid, is.State, states)
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	all, err := ops.ListAgents.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	pools, err := ops.ListPools.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	runs, err := ops.ListLongRuns.Do(ctx, a.Ops, a.By, ops.Paging{After: a.Text("after"), Limit: runsShown})
	if err != nil {
		return front.Shown{}, err
	}
	ledger, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{Paging: ops.Paging{Limit: ledgerRead}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Agents, is.Working, is.Pools, is.Runs = inState(underWay(all.Rows, ledger.Rows), is.State), atWork(all.Rows, ""), pools.Rows, runs.Rows
	if runs.Next != "" {
		is.Next = a.With("after", runs.Next)
	}
	return front.Shown{Data: is, Again: lookAgain}, nil
}
