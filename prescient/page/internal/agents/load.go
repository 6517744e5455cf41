package agents

import (
	"slices"
	"strconv"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/client"
	"prescient/prescient/ops/working"
)

// one is an agent, with what it has under way.
type one struct {
	working.Agent
	Slots []slotParts
}

// slotParts is how many parts of a slot an agent has.
type slotParts struct {
	Slot  time.Time
	Parts int
}

// Stays says that it stays up, so that it can be drained; others are timers.
func (o one) Stays() bool { return o.Kind == agent.Work }

// Clock is by how much its clock is ahead of the database's, or behind it.
func (o one) Clock() time.Duration { return time.Duration(o.AheadMS) * time.Millisecond }

// HostLoad is that of its host, where it can be told.
func (o one) HostLoad() string {
	if o.Load == nil {
		return "–"
	}
	return strconv.FormatFloat(*o.Load, 'f', 2, 64)
}

// Megabytes is how much memory it has.
func (o one) Megabytes() uint64 { return o.MemoryBytes >> 20 }

// underWay puts to each agent what it has. Agents of one name are not told apart by the ledger: each of them has what the name has.
func underWay(all []working.Agent, buckets []client.Bucket) (list []one) {
	slots := make(map[string][]slotParts)
	for _, b := range buckets {
		if !b.Held || b.FinishedAt != nil {
			continue
		}
		of := slots[b.Worker]
		if n := len(of); n > 0 && of[n-1].Slot.Equal(b.Slot) {
			of[n-1].Parts++
			continue
		}
		slots[b.Worker] = append(of, slotParts{b.Slot, 1})
	}
	for _, a := range all {
		list = append(list, one{a, slots[a.Name]})
	}
	return list
}

// atWork is how many agents and timers run slots beside those of a name.
func atWork(all []working.Agent, beside string) int {
	known := make([]agent.Known, len(all))
	for i, a := range all {
		known[i] = agent.Known{Name: a.Name, Kind: a.Kind, State: a.State, Drain: a.Drain}
	}
	return agent.Working(known, beside)
}

// inState keeps agents of a state; all where none is given.
func inState(all []one, state string) []one {
	if state == "" {
		return all
	}
	return slices.DeleteFunc(all, func(o one) bool { return string(o.State) != state })
}
