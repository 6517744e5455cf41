package machine

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// The model: three agents, each with a machine for the same run, the row of that run, and all that may happen between them. Time goes
// in ticks. A message that was sent stays: it may be heard by each agent at any time, more than once, or never.
const (
	agents    = 3
	ticks     = time.Second
	leaseTime = 2 * ticks
	depth     = 10
	lastTick  = 4
)

var names = [agents]string{"a", "b", "c"}

// said is a message that is under way.
type said struct {
	kind  Kind
	claim bool // that is to come
	from  int8 // -1: a slot run
	token uint8
	until int8
}

func (m said) order() uint64 {
	order := uint64(m.kind)<<40 | uint64(uint8(m.from))<<32 | uint64(m.token)<<16 | uint64(uint8(m.until))<<1
	if m.claim {
		order |= 1
	}
	return order
}

// process is an agent in the model.
type process struct {
	m     Machine
	known bool
	// asking: its claim is under way, as it saw the row; asked when.
	asking bool
	seen   Row
	asked  int8
	// answer: the claim was committed, under a token; 0 where it came to nothing.
	answered bool
	answer   uint8
	calls    bool // it calls the function
}

// world is a state of the model.
type world struct {
	now   int8
	token uint8
	owner int8 // -1: nobody
	until int8
	ended bool
	procs [agents]process
	said  [8]said
	n     int8
}

// model is how the world goes on: by which table, and how a claim compares.
type model struct {
	table  *Cells
	wakeUp bool
	blind  bool // claims compare nothing
	// together: nothing is looked for but two that execute.
	together bool
}

func clock(tick int8) time.Time { return noon.Add(time.Duration(tick) * ticks) }

func (w *world) row() Row {
	row := Row{Token: uint64(w.token), Until: clock(w.until)}
	if w.owner >= 0 {
		row.Agent = names[w.owner]
	}
	return row
}

// say sends a message, where there is a wake-up.
func (o model) say(w *world, m said) {
	if !o.wakeUp {
		return
	}
	if slices.Contains(w.said[:w.n], m) || int(w.n) == len(w.said) {
		return // what was said already may be heard again
	}
	w.said[w.n] = m
	w.n++
	slices.SortFunc(w.said[:w.n], func(a, b said) int { return cmp.Compare(a.order(), b.order()) })
}

// hear has an agent hear of something.
func (o model) hear(w *world, i int, e Event) {
	p := &w.procs[i]
	here := Agent{ID: names[i], Room: true, Again: ticks, Priority: []uint64{5, 5, 7}[i]}
	if o.wakeUp {
		here.Window = ticks
	}
	var effects []Effect
	p.m, effects = o.table.Step(p.m, here, clock(w.now), e)
	p.known = true
	for _, effect := range effects {
		switch effect {
		case Announce:
			o.say(w, said{Claimed, true, int8(i), uint8(p.m.Row.Token), 0})
		case Claim:
			p.asking, p.seen, p.asked = true, p.m.Row, w.now
		case Stop, Drop:
			p.calls = false
		case Forget:
			p.known = false
		}
	}
}

// steps are all that may happen next. Each is a name, and what it does; it returns false where it cannot happen.
type act struct {
	name string
	do   func(o model, w *world) bool
}

func acts() (list []act) {
	list = append(list,
		act{"a tick", func(_ model, w *world) bool { w.now++; return w.now <= lastTick }},
		act{"the app cancels", func(_ model, w *world) bool {
			was := w.ended
			w.ended = true
			return !was
		}})
	for i := range agents {
		for _, a := range []struct {
			name string
			do   func(o model, w *world, i int) bool
		}{{"looks", looks}, {"'s timer is over", timerOver}, {"'s claim is committed", claims}, {"hears of its claim", answer}, {"renews", renew},
			{"ends the run", finish}, {"hands it on", handOn}, {"crashes", crash}} {
			list = append(list, act{names[i] + " " + a.name, func(o model, w *world) bool { return a.do(o, w, i) }})
		}
		for j := range len(world{}.said) {
			list = append(list, act{fmt.Sprintf("%s hears message %d", names[i], j), func(o model, w *world) bool { return heard(o, w, i, j) }})
		}
	}
	return list
}

func looks(o model, w *world, i int) bool {
	p := &w.procs[i]
	switch {
	case w.ended && (!p.known || p.m.State == Elected || p.m.State == Executing):
		return false
	case w.ended:
		o.hear(w, i, Event{Kind: Remove})
	case p.known:
		o.hear(w, i, Event{Kind: Refresh, Row: w.row()})
	default:
		o.hear(w, i, Event{Kind: ReadNew, Row: w.row()})
	}
	return true
}

func timerOver(o model, w *world, i int) bool {
	p := &w.procs[i]
	if p.m.Timer.IsZero() || clock(w.now).Before(p.m.Timer) {
		return false
	}
	o.hear(w, i, Event{Kind: Timer})
	return true
}

func claims(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !p.asking {
		return false
	}
	p.asking, p.answered, p.answer = false, true, 0
	if o.blind && !w.ended || !w.ended && w.row() == p.seen && w.until <= w.now || !w.ended && w.token == uint8(p.seen.Token) && w.row().Agent == p.seen.Agent && w.until <= w.now {
		w.token++
		w.owner, w.until = int8(i), w.now+int8(leaseTime/ticks)
		p.answer = w.token
	}
	return true
}

func answer(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !p.answered {
		return false
	}
	p.answered = false
	if p.answer == 0 {
		o.hear(w, i, Event{Kind: Claimed, From: names[i]})
		return true
	}
	until := clock(p.asked).Add(leaseTime)
	p.calls = true
	o.hear(w, i, Event{Kind: Claimed, From: names[i], Runs: true, Row: Row{uint64(p.answer), names[i], until}})
	o.say(w, said{Claimed, false, int8(i), p.answer, p.asked + int8(leaseTime/ticks)})
	return true
}

// lives says whether an agent that calls may go on, as it knows by its own clock.
func (w *world) lives(i int) bool {
	p := &w.procs[i]
	return p.calls && p.m.State == Executing && clock(w.now).Before(p.m.Timer)
}

func (w *world) owns(i int) bool { return !w.ended && uint64(w.token) == w.procs[i].m.Row.Token }

func renew(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !w.lives(i) {
		return false
	}
	switch {
	case w.ended:
		o.hear(w, i, Event{Kind: Remove})
	case w.owns(i) && w.until > w.now:
		w.until = w.now + int8(leaseTime/ticks)
		o.hear(w, i, Event{Kind: Refresh, From: names[i], Row: Row{p.m.Row.Token, names[i], clock(w.until)}})
	default:
		o.hear(w, i, Event{Kind: Claimed, Row: Row{Token: p.m.Row.Token + 1}})
	}
	return true
}

func finish(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !w.lives(i) || !w.owns(i) {
		return false
	}
	w.ended = true
	o.say(w, said{Done, false, int8(i), uint8(p.m.Row.Token), 0})
	p.calls = false
	o.hear(w, i, Event{Kind: Done, From: names[i], Row: p.m.Row})
	return true
}

func handOn(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !w.lives(i) || !w.owns(i) {
		return false
	}
	w.owner, w.until = -1, w.now
	o.say(w, said{Release, false, int8(i), uint8(p.m.Row.Token), w.now})
	p.calls = false
	o.hear(w, i, Event{Kind: Release, From: names[i], Row: p.m.Row})
	return true
}

func crash(_ model, w *world, i int) bool {
	was := w.procs[i]
	w.procs[i] = process{}
	return was != process{}
}

func heard(o model, w *world, i, j int) bool {
	if j >= int(w.n) || int(w.said[j].from) == i {
		return false
	}
	m := w.said[j]
	e := Event{Kind: m.kind, Announced: m.claim, Row: Row{Token: uint64(m.token), Until: clock(m.until)}}
	if m.from < 0 {
		e.From = "slot run"
	} else {
		e.From = names[m.from]
	}
	if m.claim {
		e.Priority, e.Row.Until = []uint64{5, 5, 7}[m.from], time.Time{}
	} else if m.kind == Claimed {
		e.Row.Agent = e.From
	}
	o.hear(w, i, e)
	return true
}
