package catchup

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/schedule/timeline"
	"prescient/slots"
)

// What a schedule has fire of what was missed.
const (
	once = 1
	skip = 0
	all  = Max
)

// clock is a time of the day that these tests are about: 15:04, or 15:04:05.
func clock(text string) time.Time {
	layout := time.DateTime
	if strings.Count(text, ":") == 1 {
		text += ":00"
	}
	t, err := time.ParseInLocation(layout, "2026-03-10 "+text, time.UTC)
	if err != nil {
		panic(err)
	}
	return t
}

func clocks(times []time.Time) string {
	var list []string
	for _, t := range times {
		list = append(list, t.Format("15:04"))
	}
	return strings.Join(list, " ")
}

func TestWhatATimerFires(t *testing.T) {
	for _, c := range []struct {
		name    string
		crontab string
		grid    string // 15m by default
		rules   Rules
		ran     bool
		caught  int
		most    int // 5000 by default
		due     string
		slot    string // that of due by default
		now     string // that of the slot by default
		events  string
		runs    string
		next    string
		passed  bool
		goesOn  int
	}{
		{name: "an event on time", crontab: "0 * * * *", rules: Rules{MostMissed: once}, due: "12:00", events: "12:00", next: "13:00"},
		{name: "the run of the occurrence after", crontab: "0 * * * *", rules: Rules{Runs: true, MostMissed: once}, due: "12:00", runs: "13:00", next: "13:00"},
		{name: "the last event", crontab: "@at 2026-03-10T12:00:00Z", rules: Rules{MostMissed: once}, due: "12:00", events: "12:00"},
		{name: "the last run", crontab: "@at 2026-03-10T12:00:00Z", rules: Rules{Runs: true, MostMissed: once}, due: "12:00"},

		{name: "late, but within", crontab: "*/15 * * * *", rules: Rules{MostMissed: once}, due: "12:00", now: "12:30", events: "12:00", next: "12:15"},
		{name: "late, in a later slot", crontab: "*/15 * * * *", rules: Rules{MostMissed: once}, due: "12:00", slot: "12:30", events: "12:00 12:15 12:30", next: "12:45"},
		{name: "late, in a later slot, runs", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: once}, due: "12:00", slot: "12:30", runs: "12:15 12:30 12:45", next: "12:45"},

		{name: "once: the earliest that was missed, and those that are late", crontab: "*/15 * * * *", rules: Rules{MostMissed: once}, due: "12:00", now: "14:10", events: "12:00", next: "13:45", passed: true},
		{name: "once: runs", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: once}, due: "12:00", now: "14:10", runs: "13:45", next: "13:45", passed: true},
		{name: "once: one that was missed", crontab: "0 * * * *", rules: Rules{MostMissed: once}, due: "12:00", now: "12:50", events: "12:00", next: "13:00"},
		{name: "skip", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip}, due: "12:00", now: "14:10", next: "13:45", passed: true},
		{name: "skip: runs", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: skip}, due: "12:00", now: "14:10", runs: "13:45", next: "13:45", passed: true},
		{name: "skip: on time", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip}, due: "12:00", events: "12:00", next: "12:15"},
		{name: "skip: just within", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip}, due: "12:00", now: "12:30", events: "12:00", next: "12:15"},
		{name: "skip: within, to the end of the slot", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip}, due: "12:00", now: "12:44:59", events: "12:00", next: "12:15"},
		{name: "skip: just missed", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip}, due: "12:00", now: "12:45", next: "12:30", passed: true},
		{name: "all", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, due: "12:00", now: "13:10", events: "12:00 12:15 12:30", next: "12:45"},
		{name: "all: runs", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: all}, due: "12:00", now: "13:10", runs: "12:15 12:30 12:45", next: "12:45"},
		{name: "a bound of its own", crontab: "*/15 * * * *", rules: Rules{MostMissed: skip, Within: 2 * time.Hour}, due: "12:00", now: "14:00", events: "12:00", next: "12:15"},
		{name: "nothing is left after what was missed", crontab: "@at 2026-03-10T12:00:00Z", rules: Rules{MostMissed: skip}, due: "12:00", now: "14:10", passed: true},

		// Only the timers were held up: the run of due ran in time.
		{name: "once: the earliest missed is the one after what ran", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: once}, ran: true, due: "12:00", slot: "14:15", runs: "12:15 14:00 14:15 14:30", next: "14:30", passed: true},
		{name: "once: all that was missed is the one after what ran", crontab: "0 * * * *", rules: Rules{Runs: true, MostMissed: once}, ran: true, due: "12:00", slot: "14:00", runs: "13:00 14:00 15:00", next: "15:00"},
		{name: "skip: what ran is not passed over", crontab: "0 * * * *", rules: Rules{Runs: true, MostMissed: skip}, ran: true, due: "12:00", slot: "12:45", runs: "13:00", next: "13:00"},
		{name: "all: what ran, and all after it", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: all}, ran: true, due: "12:00", slot: "13:15", runs: "12:15 12:30 12:45 13:00 13:15 13:30", next: "13:30"},
		{name: "once: due is not missed, and what comes after it is", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: once, Within: 50 * time.Minute}, due: "12:10", slot: "13:00", events: "12:10 12:20 12:30 12:40 12:50 13:00", next: "13:10"},
		{name: "once: due is just within, and what comes after it is missed", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: once, Within: 50 * time.Minute}, due: "12:10", slot: "12:20", now: "13:00", events: "12:10 12:20 12:30", next: "13:10", passed: true},

		// What is called in its own slot is not missed, however short Within is.
		{name: "skip: in its own slot", crontab: "5 * * * *", rules: Rules{MostMissed: skip, Within: time.Second}, due: "12:05", slot: "12:15", events: "12:05", next: "13:05"},
		{name: "skip: in the slot after its own", crontab: "5 * * * *", rules: Rules{MostMissed: skip, Within: time.Second}, due: "12:05", slot: "12:15", now: "12:30", next: "13:05", passed: true},
		{name: "skip: the next one, in its own slot", crontab: "5,20 * * * *", rules: Rules{MostMissed: skip, Within: time.Second}, due: "12:05", slot: "12:15", now: "12:16", events: "12:05", next: "12:20"},

		// A call has a bound.
		{name: "all: up to the bound", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, most: 2, due: "12:00", now: "14:10", events: "12:00 12:15 12:30", next: "12:45", goesOn: 3},
		{name: "all: on from there", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, caught: 3, most: 2, due: "12:45", slot: "14:15", events: "12:45 13:00 13:15", next: "13:30", goesOn: 6},
		{name: "all: to the end", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, caught: 6, most: 9, due: "13:30", slot: "14:30", events: "13:30 13:45 14:00 14:15 14:30", next: "14:45"},
		{name: "all: runs up to the bound", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: all}, most: 2, due: "12:00", now: "14:10", runs: "12:15 12:30 12:45", next: "12:45", goesOn: 3},
		{name: "all: runs on from there", crontab: "*/15 * * * *", rules: Rules{Runs: true, MostMissed: all}, caught: 3, most: 2, due: "12:45", slot: "14:15", runs: "13:00 13:15 13:30", next: "13:30", goesOn: 6},
		{name: "all: the thousandth", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, caught: Max - 2, most: 9, due: "12:00", now: "14:10", events: "12:00 12:15", next: "13:45", passed: true},
		{name: "all: the thousandth at the bound", crontab: "*/15 * * * *", rules: Rules{MostMissed: all}, caught: Max - 2, most: 1, due: "12:00", now: "14:10", events: "12:00 12:15", next: "13:45", passed: true},
		{name: "once: to pass over needs no room", crontab: "*/15 * * * *", rules: Rules{MostMissed: once}, most: -1, due: "12:00", now: "14:10", events: "12:00", next: "13:45", passed: true},
		{name: "skip: several in a slot, up to the bound", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: skip}, most: 2, due: "12:10", slot: "13:00", events: "12:10 12:20 12:30", next: "12:40", goesOn: 1},
		{name: "skip: what the bound left over is not missed", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: skip}, caught: 1, most: 20, due: "12:40", slot: "15:00",
			events: "12:40 12:50 13:00 13:10 13:20 13:30 13:40 13:50 14:00 14:10 14:20 14:30 14:40 14:50 15:00", next: "15:10"},

		{name: "an event that is of no use any more", crontab: "0 * * * *", rules: Rules{MostMissed: once, ExpiresAfter: 10 * time.Minute}, due: "12:00", now: "12:10", next: "13:00", passed: true},
		{name: "an event that is of use yet", crontab: "0 * * * *", rules: Rules{MostMissed: once, ExpiresAfter: 10 * time.Minute}, due: "12:00", now: "12:09:59", events: "12:00", next: "13:00"},
		{name: "a run is ended where it is called", crontab: "0 * * * *", rules: Rules{Runs: true, MostMissed: once, ExpiresAfter: 10 * time.Minute}, due: "12:00", now: "12:10", runs: "13:00", next: "13:00"},

		{name: "several in a slot, since the slots became longer", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: once}, due: "12:10", slot: "13:00", events: "12:10 12:20 12:30 12:40 12:50 13:00", next: "13:10"},
		{name: "several in a slot are one", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: once, MayCoalesce: true}, due: "12:10", slot: "13:00", events: "12:10", next: "13:10"},
		{name: "several in a slot are one where all are caught up", crontab: "*/10 * * * *", grid: "1h", rules: Rules{MostMissed: all, MayCoalesce: true}, due: "12:10", slot: "13:00", now: "18:05", events: "12:10 13:10 14:10 15:10 16:10", next: "17:10"},
	} {
		t.Run(c.name, func(t *testing.T) {
			line, err := timeline.Parse([]string{c.crontab}, "", clock("00:00"))
			if err != nil {
				t.Fatal(err)
			}
			resolution := 15 * time.Minute
			if c.grid != "" {
				resolution, _ = time.ParseDuration(c.grid)
			}
			grid, err := slots.NewGrid(resolution)
			if err != nil {
				t.Fatal(err)
			}
			slot := grid.Ceil(clock(c.due))
			if c.slot != "" {
				slot = clock(c.slot)
			}
			now := slot
			if c.now != "" {
				now = clock(c.now)
			}
			do := c.rules.Fire(line, grid, Call{Due: clock(c.due), Slot: slot, Now: now, Ran: c.ran, Caught: c.caught, Most: cmp.Or(c.most, 5000)})
			next := ""
			if !do.Next.IsZero() {
				next = clocks([]time.Time{do.Next})
			}
			if clocks(do.Events) != c.events || clocks(do.Runs) != c.runs || next != c.next || do.PassedOver != c.passed || do.Caught != c.goesOn {
				t.Errorf("events %q, runs %q, next %q, passed over %t, caught %d", clocks(do.Events), clocks(do.Runs), next, do.PassedOver, do.Caught)
			}
		})
	}
}

func TestCatchUpHasABound(t *testing.T) {
	line, err := timeline.Parse([]string{"@every 1s"}, "", clock("00:00"))
	if err != nil {
		t.Fatal(err)
	}
	grid, err := slots.NewGrid(time.Second)
	if err != nil {
		t.Fatal(err)
	}
	now := clock("23:00")
	do := Rules{MostMissed: all}.Fire(line, grid, Call{Due: clock("01:00"), Slot: clock("01:00"), Now: now, Most: 5000})
	if len(do.Events) != Max || !do.PassedOver || !do.Next.Equal(now.Add(-59*time.Second)) {
		t.Errorf("%d events, passed over %t, next %s", len(do.Events), do.PassedOver, do.Next)
	}
	// The slots became an hour: 3,600 are due in each.
	if grid, err = slots.NewGrid(time.Hour); err != nil {
		t.Fatal(err)
	}
	do = Rules{MostMissed: once}.Fire(line, grid, Call{Due: clock("01:00:01"), Slot: clock("02:00"), Now: clock("02:00"), Most: 5000})
	if len(do.Events) != Max+1 || !do.PassedOver || !do.Next.Equal(clock("02:00:01")) {
		t.Errorf("%d events, passed over %t, next %s", len(do.Events), do.PassedOver, do.Next)
	}
}

// Whatever the outage was: what fires never fires again, in the order of time, and nothing lies between but what was passed over.
func FuzzATimerNeitherRepeatsNorForgets(f *testing.F) {
	f.Add(uint8(0), int64(7200), int64(0), uint8(0))
	f.Add(uint8(1), int64(90000), int64(3), uint8(2))
	crontabs := []string{"*/15 * * * *", "7 3 * * *", "@every 47m", "30 2 * * *"}
	f.Fuzz(func(t *testing.T, which uint8, outage, seed int64, policy uint8) {
		zone := "Europe/Berlin"
		begin := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC).Add(time.Duration(seed%(40*86400)) * time.Second)
		line, err := timeline.Parse([]string{crontabs[int(which)%len(crontabs)]}, zone, begin)
		if err != nil {
			t.Fatal(err)
		}
		grid, err := slots.NewGrid(15 * time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		r := Rules{MostMissed: []int{once, skip, all}[int(policy)%3]}
		due, _ := line.Next(begin)
		last := time.Time{}
		for i := range 20 {
			slot := grid.Ceil(due)
			now := slot
			if i == 5 {
				now = now.Add(time.Duration(max(outage, -outage)%(30*86400)) * time.Second)
			}
			do := r.Fire(line, grid, Call{Due: due, Slot: slot, Now: now, Most: 5000})
			at := last
			for _, event := range do.Events {
				if !event.After(at) {
					t.Fatalf("%s after %s", event, at)
				}
				if between, _ := line.Next(at); !at.IsZero() && !do.PassedOver && between.Before(event) {
					t.Fatalf("%s was forgotten before %s", between, event)
				}
				at = event
			}
			if !do.Next.After(slot) || !do.Next.After(at) {
				t.Fatalf("next is %s, after %s in slot %s", do.Next, at, slot)
			}
			if !do.PassedOver {
				if at.IsZero() {
					t.Fatal("nothing fired")
				}
				if after, _ := line.Next(at); !after.Equal(do.Next) {
					t.Fatalf("next is %s and not %s", do.Next, after)
				}
			}
			last, due = do.Next.Add(-1), do.Next
		}
	})
}

// wanted says what a call without a bound is to fire, one occurrence after the other, from what each policy means.
func wanted(r Rules, line Occurrences, grid slots.Grid, c Call) (fired []time.Time, next time.Time, passed bool) {
	within := r.Within
	if within == 0 {
		within = max(time.Minute, 2*grid.Resolution())
	}
	here, open := grid.Floor(c.Now), grid.Next(slots.Later(c.Slot, c.Now))
	missedIn := func(t, slot time.Time) bool { return t.Add(within).Before(slot) && grid.Ceil(t).Before(slot) }
	missed := 0
	take := func(t time.Time, late bool) {
		if late {
			missed++
		}
		if late && (r.MostMissed == skip || r.MostMissed == once && missed > 1 || missed > Max) {
			passed = true
		} else {
			fired = append(fired, t)
		}
	}
	take(c.Due, missedIn(c.Due, here) && !c.Ran)
	for t, ok := line.Next(c.Due); ok; t, ok = line.Next(t) {
		at := open
		if !t.After(c.Slot) && !r.Runs {
			at = here
		}
		if t.After(c.Slot) && !missedIn(t, open) {
			return fired, t, passed
		}
		take(t, missedIn(t, at))
	}
	return fired, time.Time{}, passed
}

func FuzzACallFiresWhatThePolicySays(f *testing.F) {
	f.Add(uint8(0), int64(7200), int64(1), uint8(0), uint16(0), true)
	f.Add(uint8(1), int64(90000), int64(3), uint8(3), uint16(2), true)
	f.Add(uint8(2), int64(9000), int64(4), uint8(5), uint16(1), false)
	f.Add(uint8(4), int64(90000), int64(4), uint8(4), uint16(3000), false)
	crontabs := []string{"*/15 * * * *", "7 3 * * *", "@every 47m", "30 2 * * *", "*/4 * * * *"}
	f.Fuzz(func(t *testing.T, which uint8, outage, moved int64, policy uint8, within uint16, ran bool) {
		begin := time.Date(2026, 3, 28, 0, 0, 0, 0, time.UTC)
		line, err := timeline.Parse([]string{crontabs[int(which)%len(crontabs)]}, "Europe/Berlin", begin)
		if err != nil {
			t.Fatal(err)
		}
		grid, err := slots.NewGrid(15 * time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		r := Rules{Runs: true, MostMissed: []int{once, skip, all}[int(policy)%3], Within: time.Duration(within) * time.Second}
		if policy%2 == 0 {
			r.Runs, ran = false, false
		}
		due, _ := line.Next(begin)
		// The timer waits in its own slot, or was moved from slot to slot for a while of the outage.
		c := Call{Due: due, Slot: grid.Ceil(due), Ran: ran, Most: 1 << 20}
		c.Now = c.Slot.Add(time.Duration(max(outage, -outage)%(9*86400)) * time.Second)
		for range max(moved, -moved) % 100 {
			if later := grid.Next(c.Slot); !later.After(c.Now) {
				c.Slot = later
			}
		}
		do := r.Fire(line, grid, c)
		fired, next, passed := wanted(r, line, grid, c)
		got := do.Events
		if r.Runs {
			// The run of due is there, and that of the occurrence that it waits for is made one ahead; Skip ends that of due where it is called.
			got = append([]time.Time{due}, do.Runs[:len(do.Runs)-1]...)
			if len(fired) == 0 || !fired[0].Equal(due) {
				fired = append([]time.Time{due}, fired...)
			}
			if !do.Runs[len(do.Runs)-1].Equal(next) {
				t.Errorf("the run of %s is not there", next)
			}
		}
		if !slices.EqualFunc(got, fired, time.Time.Equal) || !do.Next.Equal(next) || do.PassedOver != passed || do.Caught != 0 {
			t.Fatalf("%+v, %+v: fired %d, next %s, passed over %t, caught %d; want %d, %s, %t", r, c, len(got), do.Next, do.PassedOver, do.Caught, len(fired), next, passed)
		}
		// With a bound all fires, too, in as many calls as it takes.
		if r.MostMissed != all || passed {
			return
		}
		var sent []time.Time
		for c.Most = 1 + int(which)%7; ; c.Caught, c.Ran = do.Caught, false {
			if do = r.Fire(line, grid, c); do.PassedOver { // more came due than the bound lets through
				if len(sent) < Max-c.Most-2 {
					t.Fatalf("passed over after %d", len(sent))
				}
				break
			}
			if sent = append(sent, do.Events...); r.Runs {
				sent = append(sent, do.Runs...)
			}
			if len(do.Events)+len(do.Runs) > c.Most+2 {
				t.Fatalf("%d in a call; the bound is %d", len(do.Events)+len(do.Runs), c.Most)
			}
			c.Due = do.Next
			c.Now = grid.Next(slots.Later(c.Slot, c.Now))
			c.Slot = c.Now
			if do.Caught == 0 {
				break
			}
		}
		for i, at := range sent {
			before := due
			if i > 0 {
				before = sent[i-1]
			} else if !r.Runs {
				before = due.Add(-1)
			}
			if then, _ := line.Next(before); !then.Equal(at) {
				t.Fatalf("with a bound of %d, number %d is %s and not %s", c.Most, i, at, then)
			}
		}
	})
}
