package machine

import (
	"encoding/binary"
	"hash/maphash"
	"slices"
	"strings"
	"testing"
	"time"
)

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

// unwatched says whether an agent calls the function, and nothing will end that once its lease is over.
func (w *world) unwatched() bool {
	for i := range agents {
		if p := &w.procs[i]; p.calls && (p.m.State != Executing || p.m.Timer.IsZero()) {
			return true
		}
	}
	return false
}

// undone says whether an agent would not do the run, were it the only one that is left, though from now on nothing goes wrong for it: it looks, its
// timers and statements come.
func (o model) undone(w world) bool {
	for i := range agents {
		if !o.does(w, i) {
			return true
		}
	}
	return false
}

func (o model) does(w world, i int) bool {
	for range 12 {
		if w.ended || w.lives(i) {
			return true
		}
		w.now++
		for _, do := range []func(o model, w *world, i int) bool{answer, looks, timerOver, claims, answer} {
			do(o, &w, i)
		}
	}
	return false
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
		for _, is := range []bool{p.known, p.asking, p.answered, p.calls} {
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
				case o.together:
				case w.unwatched():
					return "a call goes on that nothing ends: " + how(h), len(seen)
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

func TestTheModelFindsMachinesThatAreBroken(t *testing.T) {
	forgetful := Table
	forgetful[Loaded][Release] = Cell{"", []Rule{always(Scheduled, note)}}
	forgetful[Scheduled][Release] = Cell{"", []Rule{always(Scheduled, note, noTimer)}}
	endless := Table
	endless[Executing][Timer] = Cell{"", []Rule{always(Executing, timer("go on", func(s *step) time.Time { return s.now.Add(leaseTime) }))}}
	unbounded := Table
	unbounded[Executing][Timer] = Cell{"", []Rule{always(Loaded, noTimer)}}
	stuck := Table
	stuck[Elected][Claimed] = Cell{"", []Rule{when(runs, Executing, note, atEnd), always(Elected)}}
	for name, tt := range map[string]struct {
		model
		says string
	}{
		"one whose claim compares neither token nor lease":       {model{table: &Table, blind: true}, "two execute"},
		"one that goes on after the end of its lease":            {model{table: &endless, together: true}, "two execute"},
		"one that lets a call go on after its lease":             {model{table: &unbounded}, "a call goes on"},
		"one that waits for ever once its claim came to nothing": {model{table: &stuck}, "nobody will do it"},
		"one that sets no timer for what is released":            {model{table: &forgetful, wakeUp: true}, "nobody will do it"},
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
