package agents

import (
	"context"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// drainSeen is what the templates of the deeds get.
type drainSeen struct {
	Name    string
	Agents  []one
	Drains  int // of these, those that are to drain already
	Working int // others that run slots
}

// askOne looks for the agents of a name.
func askOne(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := drainSeen{Name: a.Text("name")}
	all, err := ops.ListAgents.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	ledger, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{Paging: ops.Paging{Limit: ledgerRead}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Agents = slices.DeleteFunc(underWay(all.Rows, ledger.Rows), func(o one) bool { return o.Name != is.Name || !o.Stays() || o.State == agent.Dead })
	if len(is.Agents) == 0 {
		return front.Shown{}, fmt.Errorf("%w: no agent that stays up and lives has the name %.80q", prescient.ErrNotFound, is.Name)
	}
	for _, o := range is.Agents {
		if o.Drain {
			is.Drains++
		}
	}
	is.Working = atWork(all.Rows, is.Name)
	return front.Shown{Data: is}, nil
}

func drain(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.DrainAgents.Do(ctx, d.Ops, d.By, ops.AgentNamed{Name: d.Text("name")})
	return front.Done{Path: "/agents", Count: did.Count}, err
}

func undrain(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.UndrainAgents.Do(ctx, d.Ops, d.By, ops.AgentNamed{Name: d.Text("name")})
	return front.Done{Path: "/agents", Count: did.Count}, err
}
