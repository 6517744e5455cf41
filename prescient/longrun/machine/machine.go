package machine

import "time"

// State is what an agent does about a run.
type State uint8

// The states.
const (
	// Loaded: the run is known. Another agent has it, or there is no place for it here.
	Loaded State = iota
	// Scheduled: a timer is set for when this agent may claim it.
	Scheduled
	// Electing: the claim was announced. This agent waits for what others announce.
	Electing
	// Elected: the transaction is under way that claims it.
	Elected
	// Executing: it runs here.
	Executing
)

// States are all of them, in order.
var States = []State{Loaded, Scheduled, Electing, Elected, Executing}

// String is its name.
func (s State) String() string {
	return [...]string{"loaded", "scheduled", "electing", "elected", "executing"}[s]
}

// Kind is the kind of an event.
type Kind uint8

// The kinds.
const (
	// Claimed: an agent announces its claim, or has the run; or the claim of this agent came to nothing.
	Claimed Kind = iota
	// Done: the run has ended.
	Done
	// ReadNew: a read shows a run that was not known.
	ReadNew
	// Refresh: a read shows a run that is known; or this agent has renewed it.
	Refresh
	// Release: an agent hands the run on, or a slot run offers it.
	Release
	// Remove: a read does not show it any more, or shows that its check was cancelled or changed.
	Remove
	// Timer: the timer of the machine is over.
	Timer
)

// Kinds are all of them, in order.
var Kinds = []Kind{Claimed, Done, ReadNew, Refresh, Release, Remove, Timer}

// String is its name.
func (k Kind) String() string {
	return [...]string{"claimed", "done", "readnew", "refresh", "release", "remove", "timer"}[k]
}

// Row is a run as long_run has it, or as an agent tells of it.
type Row struct {
	// Token is its fencing token: it rises with every claim.
	Token uint64
	// Agent has it, or had it last; empty for nobody.
	Agent string
	// Until is when the lease of that agent ends, by the database's clock. What is past is over.
	Until time.Time
}

// Event is what a machine hears.
type Event struct {
	Kind Kind
	// Row is the run, as it was read or told of. Of a claim that is announced it is the run as the claimer knows it.
	Row Row
	// From is the agent that says so; empty for what was read, and for a timer. What this agent has done bears its own id.
	From string
	// Announced says that a claim is yet to be made, and Priority which of several such goes first.
	Announced bool
	Priority  uint64
	// Runs says of a claim by this agent that the run is called here already.
	Runs bool
}

// Agent is the agent of a machine, as it is when an event comes.
type Agent struct {
	ID string
	// Room says whether it has a place for one more run of that pool.
	Room bool
	// Delay is how long it waits before it claims, by its load.
	Delay time.Duration
	// Window is how long it waits for what others announce; 0 where there is no wake-up.
	Window time.Duration
	// Again is how long it gives an agent that goes first.
	Again time.Duration
	// Priority is that of its next claim: a random number.
	Priority uint64
}

// Machine is what an agent does about one run. The zero value is that of a run which was not heard of.
type Machine struct {
	State State
	// Row is the run as it is known. While it runs here, Until is the end of the lease by this agent's clock, which is never later.
	Row Row
	// Timer is when the machine is to hear of Timer; zero for never.
	Timer time.Time
	// Priority is that of the claim that was announced.
	Priority uint64
	// GaveWay says that it gave way to a claim under the token of the row which another announced: it does so once.
	GaveWay bool
}

// Effect is what is to be done outside.
type Effect uint8

// The effects.
const (
	// Announce tells the others of the claim, under the machine's Priority.
	Announce Effect = iota
	// Claim claims the run, and starts it, on the token of the machine's Row. Its answer is Claimed: that it Runs, or an empty row where the
	// claim came to nothing.
	Claim
	// Stop ends the call: the run is lost, and nothing of it is committed.
	Stop
	// Drop ends the call: its check was cancelled or changed.
	Drop
	// Look has the run read again soon.
	Look
	// Forget has the agent forget the run.
	Forget
)

// String is its name.
func (e Effect) String() string {
	return [...]string{"announce", "claim", "stop", "drop", "look", "forget"}[e]
}

// Step returns the machine after an event, and what is to be done. It goes by Table.
func Step(m Machine, here Agent, now time.Time, e Event) (Machine, []Effect) {
	return Table.Step(m, here, now, e)
}

// Step is the function Step, by another table.
func (t *Cells) Step(m Machine, here Agent, now time.Time, e Event) (Machine, []Effect) {
	s := step{m: m, here: here, now: now, e: e}
	for _, rule := range t[m.State][e.Kind].Rules {
		if rule.If.holds != nil && !rule.If.holds(&s) {
			continue
		}
		for _, action := range rule.Do {
			action.do(&s)
		}
		s.m.State = rule.Next
		return s.m, s.effects
	}
	return m, nil
}

// step is one step of a machine.
type step struct {
	m       Machine
	here    Agent
	now     time.Time
	e       Event
	effects []Effect
}
