package campaign

import (
	"context"
	"math/rand/v2"
	"time"

	"prescient/prescient/localserver"
	"prescient/scripts/chaos/checker"

	"prescient/scripts/chaos/stage"
)

// nodes are the scenarios of clusters.
func nodes() []stage.Scenario {
	// The timeout of a TxFunc is that of its COMMIT, too, which waits until the others have noticed that a node is gone:
	// that counts as its error, so it has as many as by default.
	slow := func(r *checker.Rules) { r.MaxLate, r.Crashes, r.MaxErrors = 60*time.Second, true, 5 }
	return []stage.Scenario{
		{Name: "node-kill", About: "SIGKILL of a node of a cluster in mid-slot, of the primary where there is one, and its return", Cluster: true,
			Rules: slow, Faults: killNodes, Workers: stage.Workers{Env: []string{"PRESCIENT_GUARDS_MAX_ERRORS=5"}}, Drain: 2 * time.Minute},
	}
}

// killNodes kills a node that takes writes, and brings it back some seconds later; it goes on once the cluster is whole.
func killNodes(ctx context.Context, s *stage.Stage) {
	dice := s.Dice(1)
	for stage.Pause(ctx, 4*time.Second) && s.IntoSlot(ctx, time.Duration(dice.IntN(150))*time.Millisecond) {
		node := victim(ctx, s, dice)
		if node == nil {
			continue
		}
		s.During("SIGKILL of a node", "", 2*stage.Lease, func() {
			node.Kill()
			stage.Pause(ctx, time.Duration(3000+dice.IntN(4000))*time.Millisecond)
			// Also after the time of faults: the node has to come back.
			if err := node.Restart(context.WithoutCancel(ctx)); err != nil {
				s.Logf("the node does not come back: %v", err)
			}
		})
	}
}

// victim is any node where all take writes, else the primary; nil where there is none.
func victim(ctx context.Context, s *stage.Stage, dice *rand.Rand) *localserver.Server {
	primary := s.Engine.Cluster.Primary(ctx)
	if primary != nil && primary.Flavour() == localserver.MariaDB {
		return s.Engine.Cluster.Nodes[dice.IntN(len(s.Engine.Cluster.Nodes))]
	}
	return primary
}
