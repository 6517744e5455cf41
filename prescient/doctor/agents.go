package doctor

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient/agent"
	"prescient/slots"
)

// How many long runs and schedules examineAgents looks at, and how many agents a finding names.
const (
	runsProbe   = 10_000
	poolsProbe  = 10_000
	namedAgents = 5
)

// roll is who is there, and what there is to do for them.
type roll struct {
	agents []agent.Known
	grid   slots.Grid
	pools  []string       // that some agent is to serve
	waits  map[string]int // runs that wait for one, by pool
	runs   map[string]int // long runs in hand, by the names of agents
	clock  time.Duration  // how far a clock may be off
	parts  []string       // what alone was read of runs and schedules, if not all
	takes  int            // connections that the server takes of everybody; 0 where that is not known
}

// examineAgents looks whether the agents and timers that live serve all that there is, and what the dead have left.
func (l *look) examineAgents(ctx context.Context) {
	agents := l.agents(ctx)
	r := roll{agents: agents, grid: l.tables.Grid, pools: slices.Clone(l.options.Pools), runs: make(map[string]int), waits: make(map[string]int), clock: l.options.ClockWarn}
	var held []struct {
		Agent string `db:"agent"`
		Runs  int    `db:"runs"`
	}
	l.rows(ctx, &held, "operate/held_runs", runsProbe)
	r.takes, _ = strconv.Atoi(l.vars["max_connections"]) // it is not shown to everybody
	for _, h := range held {
		r.runs[h.Agent] = h.Runs
	}
	var wanted []string
	l.rows(ctx, &wanted, "operate/pools", runsProbe, poolsProbe)
	r.pools = append(r.pools, wanted...)
	if l.err != nil {
		return
	}
	var pools []agent.Pool
	pools, l.err = agent.PoolsBy(ctx, l.db, l.tables.Stmt, agents)
	for _, pool := range pools {
		r.waits[pool.Name] = pool.Waiting
	}
	r.parts = l.parts(ctx, longRunsInHand(runsProbe), reach{"the first %s schedules", poolsProbe, "schedule", "PRIMARY", "", nil})
	l.say(r.judge()...)
}

// agents are those that the tables have, and timers.
func (l *look) agents(ctx context.Context) (agents []agent.Known) {
	agents, l.err = agent.ListBy(ctx, l.db, l.tables.Stmt)
	return agents
}

// judge says what is wrong with the agents.
func (r roll) judge() []Finding {
	if len(r.agents) == 0 {
		return []Finding{fine("agents", "There is no agent, and no timer was heard of. Nothing runs checks, but for timers of earlier versions.")}
	}
	live := r.in(agent.Live)
	found := slices.Concat(r.unserved(live), r.unswept(live), r.withoutAgent(live), r.leftRuns(live), clashes(live), versions(live), r.clocks(live), r.connections())
	counts := make(map[agent.State]int)
	for _, a := range r.agents {
		counts[a.State]++
	}
	text := fmt.Sprintf("The agents are %d live, %d stopping, and %d dead for less than a day. The live agents serve every slot and pool", counts[agent.Live], counts[agent.Stopping], counts[agent.Dead])
	if drain := r.toDrain(); drain != "" {
		text = fmt.Sprintf("The agents are %d live, %d draining, %d stopping, and %d dead for less than a day.%s The live agents serve every slot and pool", counts[agent.Live], counts[agent.Draining],
			counts[agent.Stopping], counts[agent.Dead], drain)
	}
	switch {
	case len(found) > 0:
		return found
	case len(r.parts) > 0:
		return []Finding{part("agents", text+" that is named in "+strings.Join(r.parts, " and ")+"; the rest was not read.", "")}
	case r.takes == 0:
		return []Finding{part("agents", text+". The server does not say how many connections it takes (max_connections).", "")}
	}
	return []Finding{fine("agents", text+".")}
}

// in are the agents that are in a state.
func (r roll) in(state agent.State) (some []agent.Known) {
	for _, a := range r.agents {
		if a.State == state {
			some = append(some, a)
		}
	}
	return some
}

// unserved finds slots that no live agent serves.
func (r roll) unserved(live []agent.Known) []Finding {
	const do = "Start `work` for these slots, or a timer that calls `run`. Until then only a sweep runs what is due, late."
	seen := make(map[slots.Assignment]bool)
	for _, a := range live {
		if a.Kind == agent.Sweep {
			continue
		}
		one, err := slots.Parse(r.grid, a.Assignment)
		if err != nil { // it was started at another resolution
			return []Finding{bad("agents.slots", fmt.Sprintf("Agent %s serves %.80q, which means nothing at a resolution of %s.", a.Name, a.Assignment, r.grid),
				"Start the agent again with the resolution of slot_config.")}
		}
		if !one.Grid().IsZero() {
			seen[one] = true
		}
	}
	if len(seen) == 0 {
		return []Finding{warn("agents.slots", "No live agent serves any slot."+lastSeen(r.agents, agent.Sweep)+r.toDrain(), do)}
	}
	covered, err := slots.Cover(slices.SortedFunc(maps.Keys(seen), func(a, b slots.Assignment) int { return cmp.Compare(a.String(), b.String()) })...)
	if err != nil {
		return []Finding{warn("agents.slots", "The assignments of the live agents cannot be compared: "+err.Error()+".", "Give the agents assignments that repeat sooner.")}
	}
	if len(covered.Unserved) == 0 {
		return nil
	}
	covered.Doubled = nil // which agents share on purpose
	return []Finding{warn("agents.slots", "Of the live agents "+covered.String()+"."+r.whoServed(covered.Unserved)+r.toDrain(), do)}
}

// whoServed names the dead whose slots nobody serves now.
func (r roll) whoServed(unserved []time.Duration) string {
	var named []string
	for _, a := range r.in(agent.Dead) {
		one, err := slots.Parse(r.grid, a.Assignment)
		if err == nil && slices.ContainsFunc(unserved, func(at time.Duration) bool { return one.Serves(time.Unix(0, 0).Add(at)) }) {
			named = append(named, fmt.Sprintf("%s on %s (%s), heard of %s ago", nameOf(a), a.Host, a.Assignment, a.Silent.Round(time.Second)))
		}
	}
	if len(named) == 0 {
		return ""
	}
	return " Dead agents served these slots: " + strings.Join(fewOf(named), ", ") + "."
}

// toDrain names the agents that somebody wants to take nothing new.
func (r roll) toDrain() string {
	var named []string
	for _, a := range r.agents {
		if a.State != agent.Dead && a.Drain {
			named = append(named, fmt.Sprintf("%s%s", a.Name, a.Wish()))
		}
	}
	if len(named) == 0 {
		return ""
	}
	return " To take nothing new were told " + strings.Join(fewOf(named), ", ") + ": `agents undrain` ends that."
}

// nameOf says what an agent is, where it does not stay up, and its name.
func nameOf(a agent.Known) string {
	switch {
	case a.Kind != agent.Run && a.Kind != agent.Sweep:
		return a.Name
	case a.Name == string(a.Kind):
		return "the timer of " + a.Name
	}
	return fmt.Sprintf("the timer of %s %s", a.Kind, a.Name)
}

// unswept finds that nobody sweeps: what stays up does, and so do timers of that kind.
func (r roll) unswept(live []agent.Known) []Finding {
	if len(live) == 0 || slices.ContainsFunc(live, func(a agent.Known) bool { return a.Kind != agent.Run }) {
		return nil // where nobody lives that is what is to be said
	}
	const text = "No live agent or timer sweeps. Checks that come late, or that a dead worker left, wait."
	return []Finding{warn("agents.sweep", text+lastSeen(r.in(agent.Dead), agent.Run)+r.toDrain(), "Start a timer that calls `sweep` each minute, or `work`, which sweeps too.")}
}

// connections finds that the agents that are there may have more connections at a time than the server takes. Whoever comes then is refused,
// the apps too.
func (r roll) connections() []Finding {
	sum, of := 0, 0
	for _, a := range r.agents {
		if a.State != agent.Dead && (a.DueAt == nil || a.Connections > 0) { // a timer has none between its calls
			sum, of = sum+a.Connections, of+1
		}
	}
	if r.takes == 0 || sum <= r.takes {
		return nil
	}
	return []Finding{warn("agents.connections", fmt.Sprintf("%s may have %s at a time, but the server takes %s of everybody (max_connections).", counted(of, "agent", "agents"), counted(sum, "connection", "connections"), many(r.takes)),
		"Give the agents fewer (connections), or set max_connections above their sum and what the apps need. Else the server refuses apps (1040) when the agents have much to do.")}
}

// lastSeen names the agent of all kinds but one that was heard of last.
func lastSeen(agents []agent.Known, but agent.Kind) string {
	agents = slices.DeleteFunc(slices.Clone(agents), func(a agent.Known) bool { return a.Kind == but })
	if len(agents) == 0 {
		return ""
	}
	last := slices.MinFunc(agents, func(a, b agent.Known) int { return cmp.Compare(a.Silent, b.Silent) })
	return fmt.Sprintf(" The last was %s, %s, heard of %s ago.", nameOf(last), last.State, last.Silent.Round(time.Second))
}

// withoutAgent finds pools that no live agent serves.
func (r roll) withoutAgent(live []agent.Known) []Finding {
	served := make(map[string]bool)
	for _, a := range live {
		for pool := range a.Pools {
			served[pool] = true
		}
	}
	var without []string
	for _, pool := range r.pools {
		if !served[pool] {
			without = append(without, pool)
		}
	}
	if len(without) == 0 {
		return nil
	}
	slices.Sort(without)
	var named []string
	for _, pool := range slices.Compact(without) {
		if n := r.waits[pool]; n > 0 {
			pool = fmt.Sprintf("%s (%d waiting)", pool, n)
		}
		named = append(named, pool)
	}
	return []Finding{bad("agents.pools", "No live agent serves the pools "+strings.Join(fewOf(named), ", ")+". The long runs of these pools wait."+r.toDrain(),
		"Start `work` with worker.pools for these pools, such as `--worker-pools "+without[0]+"=4`.")}
}

// leftRuns finds dead agents that have long runs in hand.
func (r roll) leftRuns(live []agent.Known) []Finding {
	lives := make(map[string]bool)
	for _, a := range slices.Concat(live, r.in(agent.Stopping), r.in(agent.Draining)) {
		lives[a.Name] = true
	}
	var left []string
	for _, a := range r.in(agent.Dead) {
		if n := r.runs[a.Name]; n > 0 && !lives[a.Name] {
			lives[a.Name] = true // named once
			left = append(left, fmt.Sprintf("%s on %s (%d, heard of %s ago)", a.Name, a.Host, n, a.Silent.Round(time.Second)))
		}
	}
	if len(left) == 0 {
		return nil
	}
	return []Finding{warn("agents.runs", "Agents died with long runs in hand: "+strings.Join(fewOf(left), ", ")+".",
		"See why the agents died. Other agents take the runs over when the leases are over.")}
}

// clashes finds live agents of one name.
func clashes(live []agent.Known) []Finding {
	named := make(map[string][]string)
	for _, a := range live {
		if a.Kind == agent.Run || a.Kind == agent.Sweep {
			continue // timers of one name are told apart by what they serve
		}
		named[a.Name] = append(named[a.Name], fmt.Sprintf("process %d on %s", a.PID, a.Host))
	}
	var clash []string
	for _, name := range slices.Sorted(maps.Keys(named)) {
		if list := named[name]; len(list) > 1 {
			clash = append(clash, fmt.Sprintf("%s is %s", name, strings.Join(fewOf(list), " and ")))
		}
	}
	if len(clash) == 0 {
		return nil
	}
	return []Finding{warn("agents.names", "Several agents have one name: "+strings.Join(fewOf(clash), "; ")+".",
		fmt.Sprintf("Give each agent a worker.name of its own. An agent that crashed and was started again shows as two for up to %s.", agent.DeadAfter))}
}

// versions finds live agents of different versions.
func versions(live []agent.Known) []Finding {
	count := make(map[string]int)
	for _, a := range live {
		count[a.Version]++
	}
	if len(count) < 2 {
		return nil
	}
	var list []string
	for _, version := range slices.Sorted(maps.Keys(count)) {
		list = append(list, fmt.Sprintf("%q (%d)", version, count[version]))
	}
	return []Finding{warn("agents.versions", "The live agents are of different versions: "+strings.Join(fewOf(list), ", ")+".", "Replace the programs of the earlier versions.")}
}

// clocks finds live agents whose clocks are off.
func (r roll) clocks(live []agent.Known) []Finding {
	var off []string
	for _, a := range live {
		if a.Ahead.Abs() > r.clock {
			off = append(off, fmt.Sprintf("%s on %s by %s", a.Name, a.Host, a.Ahead))
		}
	}
	if len(off) == 0 {
		return nil
	}
	return []Finding{warn("agents.clock", "The clocks of agents differ from the database's: "+strings.Join(fewOf(off), ", ")+".", "Run NTP on the hosts of these agents.")}
}

// fewOf keeps a list short.
func fewOf(list []string) []string {
	if len(list) <= namedAgents {
		return list
	}
	return append(slices.Clone(list[:namedAgents]), "and more")
}
