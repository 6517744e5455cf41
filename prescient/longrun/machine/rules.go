package machine

import "time"

// Check is a condition of a rule.
type Check struct {
	Name  string
	holds func(s *step) bool
}

// The checks. A rule without one always holds.
var (
	stale     = Check{"older token", func(s *step) bool { return s.e.Row.Token < s.m.Row.Token }}
	newer     = Check{"higher token", func(s *step) bool { return s.e.Row.Token > s.m.Row.Token }}
	runs      = Check{"it runs here already", func(s *step) bool { return s.e.Runs }}
	announced = Check{"it is announced", func(s *step) bool { return s.e.Announced }}
	twice     = Check{"announced, and we gave way", func(s *step) bool { return s.e.Announced && s.m.GaveWay }}
	gaveWay   = Check{"we gave way", func(s *step) bool { return s.m.GaveWay }}
	weaker    = Check{"announced, and ours goes first", func(s *step) bool {
		return s.e.Announced && (s.m.Priority > s.e.Priority || s.m.Priority == s.e.Priority && s.here.ID <= s.e.From)
	}}
	others     = Check{"another's", func(s *step) bool { return s.e.From != "" && s.e.From != s.here.ID }}
	own        = Check{"our own", func(s *step) bool { return s.e.From == s.here.ID }}
	noRoom     = Check{"no place here", func(s *step) bool { return !s.here.Room }}
	lives      = Check{"its lease lives", func(s *step) bool { return s.e.Row.Agent != "" && s.e.Row.Until.After(s.now) }}
	taken      = Check{"not to be claimed yet", func(s *step) bool { return s.e.Row.Until.After(s.now) }}
	changed    = Check{"the row has changed", func(s *step) bool { return s.e.Row != s.m.Row }}
	early      = Check{"not this timer", func(s *step) bool { return s.m.Timer.IsZero() || s.now.Before(s.m.Timer) }}
	knownLives = Check{"not to be claimed yet", func(s *step) bool { return s.m.Row.Until.After(s.now) }}
	wakeUp     = Check{"a wake-up", func(s *step) bool { return s.here.Window > 0 }}
)

// Action is what a rule does.
type Action struct {
	Name string
	do   func(s *step)
}

// timer sets the timer.
func timer(name string, at func(s *step) time.Time) Action {
	return Action{name, func(s *step) { s.m.Timer = at(s) }}
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// effect has something done outside.
func effect(name string, effects ...Effect) Action {
	return Action{name, func(s *step) { s.effects = append(s.effects, effects...) }}
}

// The actions.
var (
	note = Action{"note", func(s *step) {
		s.m.GaveWay = s.m.GaveWay && s.m.Row.Token == s.e.Row.Token
		s.m.Row = s.e.Row
	}}
	// Who has not claimed it meanwhile has more to do than this agent, or no place: what may be claimed since long is claimed at once.
	byLoad     = timer("wait to claim", func(s *step) time.Time { return later(s.m.Row.Until.Add(s.here.Delay), s.now) })
	afterOther = Action{"give way", func(s *step) {
		s.m.GaveWay, s.m.Timer = true, s.now.Add(s.here.Again+s.here.Delay)
	}}
	window   = timer("wait for others", func(s *step) time.Time { return s.now.Add(s.here.Window) })
	atEnd    = timer("wait out our lease", func(s *step) time.Time { return s.m.Row.Until })
	noTimer  = timer("no timer", func(*step) time.Time { return time.Time{} })
	announce = Action{"announce", func(s *step) {
		s.m.Priority = s.here.Priority
		s.effects = append(s.effects, Announce)
	}}
	claim  = effect("claim it", Claim)
	stop   = effect("end the call: it is lost", Stop)
	drop   = effect("end the call: it is not wanted", Drop)
	look   = effect("look soon", Look)
	forget = Action{"forget it", func(s *step) {
		s.m = Machine{}
		s.effects = append(s.effects, Forget)
	}}
)

// Rule is a line of a cell: where If holds, Do is done, and Next is the state after that.
type Rule struct {
	If   Check
	Do   []Action
	Next State
}

// always is a rule that holds where none before it does.
func always(next State, do ...Action) Rule { return Rule{Next: next, Do: do} }

// when is a rule that holds under a condition.
func when(check Check, next State, do ...Action) Rule { return Rule{check, do, next} }

// Cell is what becomes of a machine in one state that hears of one kind of event: the first of its rules that holds. Where none does,
// nothing changes.
type Cell struct {
	// Why says it in a sentence.
	Why   string
	Rules []Rule
}

// Cells are a table: one for each state and each kind of event.
type Cells [5][7]Cell
