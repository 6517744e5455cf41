package rule

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

var reminder = Rule{Name: "remind", Occasion: "order.placed", JobExec: "send-reminder", Delay: 3 * time.Hour, Ends: []string{"order.shipped"}}

func TestARuleSaysWhatItCannotBe(t *testing.T) {
	if err := reminder.Validate(); err != nil {
		t.Fatal(err)
	}
	for says, change := range map[string]func(*Rule){
		"empty":                         func(r *Rule) { r.Name = "" },
		"at most 59":                    func(r *Rule) { r.Name = strings.Repeat("n", 60) },
		"occasion":                      func(r *Rule) { r.Occasion = "order placed" },
		"job_exec":                      func(r *Rule) { r.JobExec = "" },
		"timers of schedules":           func(r *Rule) { r.JobExec = "schedule.fire" },
		"delay -1s":                     func(r *Rule) { r.Delay = -time.Second },
		"whole seconds":                 func(r *Rule) { r.Delay = time.Millisecond },
		"spread 87840h0m1s":             func(r *Rule) { r.Spread = prescient.MaxHorizon + time.Second },
		"delay and spread":              func(r *Rule) { r.Delay, r.Spread = prescient.MaxHorizon, time.Second },
		"expires_after":                 func(r *Rule) { r.ExpiresAfter = -time.Hour },
		`on_pending "error"`:            func(r *Rule) { r.OnPending = prescient.OnPendingError },
		"cannot end it":                 func(r *Rule) { r.Ends = []string{"order.placed"} },
		"twice":                         func(r *Rule) { r.Ends = []string{"a", "a"} },
		"only letters, digits":          func(r *Rule) { r.Ends = []string{"a,b"} },
		"at most 1000":                  func(r *Rule) { r.Ends = []string{strings.Repeat("a", 64)}; r.Ends = many(20) },
		"payload is no JSON object":     func(r *Rule) { r.Payload = json.RawMessage(`[1]`) },
		"payload has 65537 bytes":       func(r *Rule) { r.Payload = json.RawMessage(`{` + strings.Repeat(" ", MaxPayload-1) + `}`) },
		"max_checks -2":                 func(r *Rule) { r.MaxChecks = -2 },
		"max_checks -3":                 func(r *Rule) { r.MaxChecks, r.MaxErrors = -3, -3 },
		"max_errors 1000001: 1 to 1000": func(r *Rule) { r.MaxErrors = 1_000_001 },
	} {
		r := reminder
		change(&r)
		for range 10 { // of two it says the first
			if err := r.Validate(); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), says) {
				t.Fatalf("%v; want %q", err, says)
			}
		}
	}
}

func many(n int) (names []string) {
	for i := range n {
		names = append(names, strings.Repeat("a", 60)+string(rune('a'+i)))
	}
	return names
}

func TestDataTakeThePlaceOfTheConstant(t *testing.T) {
	for _, c := range merges {
		got, err := Merge(raw(c.Constant), raw(c.Data))
		if err != nil || !sameJSON(got, raw(c.Want)) {
			t.Errorf("%s with %s: %s, %v; want %s", c.Constant, c.Data, got, err, c.Want)
		}
	}
	for _, data := range []string{"[1]", "7", "null", `"a"`, "{", "{\"a\": \"\xff\"}", "{} {}"} {
		if _, err := Merge(nil, json.RawMessage(data)); !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("%s: %v", data, err)
		}
	}
}

func raw(text string) json.RawMessage {
	if text == "" {
		return nil
	}
	return json.RawMessage(text)
}

func FuzzMerge(f *testing.F) {
	for _, c := range merges {
		f.Add(c.Constant, c.Data)
	}
	f.Fuzz(func(t *testing.T, constant, data string) {
		if raw(constant) != nil && !IsObject(raw(constant)) {
			return
		}
		merged, err := Merge(raw(constant), raw(data))
		if err == nil && merged != nil && !IsObject(merged) {
			t.Errorf("%q with %q: %q", constant, data, merged)
		}
	})
}

func TestWhatBecomesOfAnOlderCheck(t *testing.T) {
	now := rig.At("13:00")
	first := Standing{Name: "remind", Version: 1, State: On, Since: rig.At("12:00")}
	moved := first.Next(On, Move, now)        // 2
	off := moved.Next(Off, Leave, now)        // 3
	on := off.Next(On, Move, rig.At("14:00")) // 4
	taken := on.Next(Off, End, now)           // 5
	again := taken.Next(On, Move, now)        // 6
	for name, c := range map[string]struct {
		standing Standing
		version  uint32
		of       Older
		to       uint32
	}{
		"its own version":                      {first, 1, Leave, 0},
		"changed":                              {moved, 1, Move, 2},
		"of the new version":                   {moved, 2, Leave, 0},
		"left when it was switched off":        {off, 2, Leave, 0},
		"missed by the change, and left":       {off, 1, Move, 2},
		"left, and moved later":                {on, 2, Move, 4},
		"taken along":                          {taken, 4, End, 0},
		"taken along, whatever came before":    {taken, 1, End, 0},
		"taken along, and switched on since":   {again, 4, End, 0},
		"of a version that is not known here":  {again, 9, Leave, 0},
		"inserted while it was off, by others": {again, 5, Move, 6},
	} {
		if of, to := c.standing.Fate(c.version); of != c.of || to != c.to {
			t.Errorf("%s: %s to %d; want %s to %d", name, of, to, c.of, c.to)
		}
	}
	for at, want := range map[string]bool{"13:59": false, "14:00": true} {
		if on.Reaches(rig.At(at)) != want || off.Reaches(rig.At(at)) {
			t.Errorf("what happened at %s", at)
		}
	}
	if moved.Since != first.Since {
		t.Errorf("a change reaches from %s on", moved.Since)
	}
}

func TestACheckIsTheRulesUntilSomebodyMovesIt(t *testing.T) {
	r := reminder
	r.Spread, r.ExpiresAfter = time.Hour, 2*time.Hour
	e, at := rig.Order("42"), rig.At("10:00")
	grid := rig.GridOf(t, 15*time.Minute)
	job, err := prescient.NewPending(grid, prescient.Guards{}, r.Check(3, e, at, nil), at)
	if err != nil || job.Tag != "rule:remind" || job.RuleVersion != 3 || !job.OccasionAt.Equal(at) || job.DueAt.Before(rig.At("13:00")) || job.DueAt.After(rig.At("14:00")) {
		t.Fatalf("%+v, %v", job, err)
	}
	for name, change := range map[string]func(*prescient.FutureJob){
		"":                            func(*prescient.FutureJob) {},
		"another time":                func(job *prescient.FutureJob) { job.DueAt = job.DueAt.Add(time.Microsecond) },
		"called":                      func(job *prescient.FutureJob) { job.CheckCount = 1 },
		"called, and failed":          func(job *prescient.FutureJob) { job.ErrorCount = 1 },
		"an occasion that is no date": func(job *prescient.FutureJob) { job.OccasionAt = nil },
		"another job_exec":            func(job *prescient.FutureJob) { job.JobExec = "other" },
	} {
		changed := job
		if change(&changed); r.Holds(changed) != (name == "") {
			t.Errorf("%q: %v", name, r.Holds(changed))
		}
	}
	later := r
	later.Delay, later.ExpiresAfter = 4*time.Hour, time.Hour
	to, ok := later.Moved(job, 4, at)
	if !ok || !to.DueAt.Equal(job.DueAt.Add(time.Hour)) || to.RuleVersion != 4 || !to.ExpiresAt.Equal(to.DueAt.Add(time.Hour)) || !later.Holds(to) {
		t.Errorf("%+v", to)
	}
	for ahead, want := range map[time.Duration]bool{0: true, prescient.MaxHorizon: true, prescient.MaxHorizon + time.Second: false} {
		if _, ok := later.Moved(job, 4, at.Add(-ahead)); ok != want {
			t.Errorf("of what happens %s ahead: %v", ahead, ok)
		}
	}
}

func TestAnOccasionEndsAndMakesInTheOrderOfNames(t *testing.T) {
	known := func(name string, state State, change func(*Rule)) Known {
		k := Known{Standing{Name: name, Version: 2, State: state, Since: rig.At("12:00")}, reminder}
		k.Rule.Name = name
		if change != nil {
			change(&k.Rule)
		}
		return k
	}
	rules := []Known{
		known("a-off", Off, func(r *Rule) { r.Ends = []string{"x", "order.placed"}; r.Occasion = "other" }),
		known("b", On, func(r *Rule) { r.Payload = json.RawMessage(`{"a": 1}`) }),
		known("c-off", Off, nil),
		known("d", On, func(r *Rule) { r.Occasion = "order.changed" }),
	}
	o := Occasion{Name: "order.placed", Entity: rig.Order("42"), At: rig.At("12:00"), Data: json.RawMessage(`{"b": 2}`)}
	asked, err := o.Of(rules)
	if err != nil || len(asked.Ends) != 1 || asked.Ends[0].Tag != "rule:a-off" || len(asked.Makes) != 1 || asked.Makes[0].Tag != "rule:b" ||
		!sameJSON(asked.Makes[0].Payload, json.RawMessage(`{"a":1,"b":2}`)) || !asked.Makes[0].DueAt.Equal(rig.At("15:00")) {
		t.Errorf("%+v, %v", asked, err)
	}
	if o.At = rig.At("11:59"); true {
		if asked, err = o.Of(rules); err != nil || len(asked.Makes) != 0 || len(asked.Ends) != 1 {
			t.Errorf("before it was made: %+v, %v", asked, err)
		}
	}
}

func TestAMemoryNeverGoesBack(t *testing.T) {
	known := func(name string, version uint32, delay time.Duration) Known {
		k := Known{Standing: Standing{Name: name, Version: version}}
		k.Rule.Name, k.Delay = name, delay
		return k
	}
	var m Memory
	at := rig.At("12:00")
	if _, fresh := m.Known(at, 0); fresh {
		t.Error("it knows before it was told")
	}
	m.Learn([]Known{known("a", 2, 1), known("b", 1, 1)}, at, 0)
	all := m.Learn([]Known{known("a", 1, 1), known("b", 1, 2), known("c", 1, 1)}, at.Add(time.Second), 0) // by an older snapshot, once b was rolled back
	if len(all) != 3 || all[0].Version != 2 || all[1].Rule.Name != "b" || all[1].Delay != 2 || all[2].Rule.Name != "c" {
		t.Errorf("%+v", all)
	}
	for after, want := range map[time.Duration]bool{Lasts: true, Lasts + time.Second: false} {
		if _, fresh := m.Known(at.Add(after), 0); fresh != want {
			t.Errorf("after %s: %v", after, fresh)
		}
	}
}

// A transaction that lasts sees no rule that is made meanwhile, and does not keep the others from a look.
func TestATransactionThatLastsDoesNotSpeakForOthers(t *testing.T) {
	const long, other = Reader(1), Reader(2)
	var m Memory
	at := rig.At("12:00")
	fresh := func(after time.Duration, by Reader) bool {
		_, fresh := m.Known(at.Add(after), by)
		return fresh
	}
	m.Learn(nil, at, long)
	m.Learn(nil, at.Add(Lasts), long)
	if after := Lasts + time.Second; !fresh(after, long) || fresh(after, other) || fresh(after, 0) {
		t.Error("after it has read twice, others are to look")
	}
	m.Learn(nil, at.Add(Lasts+time.Second), other)
	if after := Lasts + 2*time.Second; !fresh(after, long) || !fresh(after, other) || !fresh(after, 0) {
		t.Error("after another has looked, none is to look")
	}
}

func TestWhatMySQLMakesOfNumbersIsTheSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{`{"a": 1e2}`, `{"a": 100.0}`, true},
		{`{"a": [12345678901234567890123]}`, `{"a": [1.2345678901234568e22]}`, true},
		{`{"a": 0.1000000000000000055511151231257827}`, `{"a": 0.1}`, true},
		{`{"a": -0}`, `{"a": 0}`, true},
		{`{"a": 9007199254740993}`, `{"a": 9007199254740992}`, false},
		{`{"a": 18446744073709551615}`, `{"a": 18446744073709551614}`, false},
		{`{"a": 1}`, `{"a": "1"}`, false},
		{`{"a": 1}`, `{"a": 1, "b": null}`, false},
		{`{"a": 1e400}`, `{"a": 1e401}`, false},
		{`{"a": [1, 2]}`, `{"a": [2, 1]}`, false},
	} {
		if got := sameJSON(raw(c.a), raw(c.b)); got != c.want {
			t.Errorf("%s and %s: %v", c.a, c.b, got)
		}
	}
}
