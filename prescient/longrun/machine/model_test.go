package machine

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
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
	// asking: its UPDATE is under way, as it saw the row; asked when.
	asking bool
	seen   Row
	asked  int8
	// answer: the UPDATE was done, under a token; 0 where it hit nothing.
	answered bool
	answer   uint8
	starts   bool // the run is claimed and about to start
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

// model is how the world goes on: by which table, and how an UPDATE compares.
type model struct {
	table  *Cells
	wakeUp bool
	blind  bool // UPDATEs compare nothing
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
		case Start:
			p.starts = true
		case Stop, Drop:
			p.calls, p.starts = false, false
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
		}{{"looks", looks}, {"'s timer is over", timerOver}, {"'s UPDATE is done", updates}, {"hears of its UPDATE", answer}, {"starts", starts}, {"renews", renew},
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

func updates(o model, w *world, i int) bool {
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
	e := Event{Kind: Claimed, From: names[i]}
	if p.answer > 0 {
		e.Row = Row{uint64(p.answer), names[i], clock(p.asked).Add(leaseTime)}
	}
	o.hear(w, i, e)
	return true
}

// starts is the transaction of a start: it proves the token.
func starts(o model, w *world, i int) bool {
	p := &w.procs[i]
	if !p.starts {
		return false
	}
	p.starts = false
	if !o.blind && (w.ended || uint64(w.token) != p.m.Row.Token) {
		o.hear(w, i, Event{Kind: Done, From: names[i], Row: p.m.Row})
		return true
	}
	w.owner, w.until = int8(i), w.now+int8(leaseTime/ticks)
	p.calls = true
	o.hear(w, i, Event{Kind: Claimed, From: names[i], Runs: true, Row: Row{p.m.Row.Token, names[i], clock(w.until)}})
	o.say(w, said{Claimed, false, int8(i), uint8(p.m.Row.Token), w.until})
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

// two says whether two agents call the function under leases that live.
func (w *world) two() bool {
	n := 0
	for i := range agents {
		if w.lives(i) {
			n++
		}
	}
	return n > 1
}

// undone says whether nobody will do the run, though from now on nothing goes wrong: agents look, their timers and statements come.
func (o model) undone(w world) bool {
	for range 12 {
		if w.ended {
			return false
		}
		for i := range agents {
			if w.lives(i) {
				return false
			}
		}
		w.now++
		for i := range agents {
			for _, do := range []func(o model, w *world, i int) bool{answer, looks, timerOver, updates, answer, starts} {
				do(o, &w, i)
			}
		}
	}
	return true
}

var seed = maphash.MakeSeed()

// hash is that of a state.
func (w *world) hash() uint64 {
	b := make([]byte, 0, 256)
	flag := func(is bool) {
		if is {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	at := func(t time.Time) {
		if t.IsZero() {
			b = append(b, 255)
			return
		}
		b = append(b, byte(t.Sub(noon)/ticks)+100)
	}
	row := func(r Row) {
		b = binary.LittleEndian.AppendUint16(b, uint16(r.Token))
		b = append(b, byte(len(r.Agent)))
		b = append(b, r.Agent...)
		at(r.Until)
	}
	b = append(b, byte(w.now), w.token, byte(w.owner), byte(w.until), byte(w.n))
	flag(w.ended)
	for _, m := range w.said[:w.n] {
		b = append(b, byte(m.kind), byte(m.from), m.token, byte(m.until))
		flag(m.claim)
	}
	for i := range w.procs {
		p := &w.procs[i]
		b = append(b, byte(p.m.State), byte(p.m.Priority), byte(p.asked), p.answer)
		row(p.m.Row)
		row(p.seen)
		at(p.m.Timer)
		for _, is := range []bool{p.known, p.asking, p.answered, p.starts, p.calls} {
			flag(is)
		}
	}
	return maphash.Bytes(seed, b)
}

// check goes through all states up to a depth, breadth first: from a run that is offered, and from one that the first agent calls. It returns what is wrong, and how that came about; or how many states there are.
func (o model) check(most int) (wrong string, states int) {
	offered := world{token: 1, owner: -1}
	o.say(&offered, said{Release, false, -1, 1, 0})
	runs := world{token: 1, owner: 0, until: int8(leaseTime / ticks)}
	runs.procs[0] = process{known: true, calls: true, m: Machine{State: Executing, Row: runs.row(), Timer: clock(runs.until)}}
	type came struct {
		from uint64
		by   int16
	}
	list := acts()
	seen := map[uint64]came{offered.hash(): {}, runs.hash(): {}}
	how := func(h uint64) string {
		var steps []string
		for seen[h].from != 0 {
			steps = append(steps, list[seen[h].by].name)
			h = seen[h].from
		}
		slices.Reverse(steps)
		return strings.Join(steps, "; ")
	}
	layer := []world{offered, runs}
	for range most {
		var next []world
		for i := range layer {
			from := layer[i].hash()
			for n, a := range list {
				w := layer[i]
				if !a.do(o, &w) {
					continue
				}
				h := w.hash()
				if _, is := seen[h]; is {
					continue
				}
				seen[h] = came{from, int16(n)}
				switch {
				case w.two():
					return "two execute under live leases: " + how(h), len(seen)
				case o.undone(w):
					return "nobody will do it: " + how(h), len(seen)
				}
				next = append(next, w)
			}
		}
		layer = next
	}
	return "", len(seen)
}

func TestThreeMachinesNeverExecuteTogetherAndNeverForgetARun(t *testing.T) {
	for name, wakeUp := range map[string]bool{"with a wake-up": true, "without": false} {
		t.Run(name, func(t *testing.T) {
			began := time.Now()
			wrong, states := model{table: &Table, wakeUp: wakeUp}.check(depth)
			if wrong != "" {
				t.Error(wrong)
			}
			t.Logf("%d states in %s", states, time.Since(began))
		})
	}
}

func TestTheModelFindsMachinesThatAreBroken(t *testing.T) {
	forgetful := Table
	forgetful[Loaded][Release] = Cell{"", []Rule{always(Scheduled, note)}}
	forgetful[Scheduled][Release] = Cell{"", []Rule{always(Scheduled, note, noTimer)}}
	endless := Table
	endless[Executing][Timer] = Cell{"", []Rule{always(Executing, timer("go on", func(s *step) time.Time { return s.now.Add(leaseTime) }))}}
	for name, tt := range map[string]struct {
		model
		says string
	}{
		"one whose UPDATE compares neither token nor lease": {model{table: &Table, blind: true}, "two execute"},
		"one that goes on after the end of its lease":       {model{table: &endless}, "two execute"},
		"one that sets no timer for what is released":       {model{table: &forgetful, wakeUp: true}, "nobody will do it"},
	} {
		t.Run(name, func(t *testing.T) {
			wrong, states := tt.check(depth)
			if !strings.HasPrefix(wrong, tt.says) {
				t.Errorf("%q; want that %s", wrong, tt.says)
			}
			t.Logf("after %d states: %s", states, wrong)
		})
	}
}
