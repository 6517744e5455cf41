package drift

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"prescient/prescient/internal/tally"
)

// made are the run times of a job_exec that somebody made up. Spreads and rises are of logarithms.
type made struct {
	calls   int     // a day
	spread  float64 // of calls
	noise   float64 // of whole days
	lasts   float64 // how much of a day's noise the next one has
	rhythm  float64 // how much longer calls take at weekends, when there is a quarter of them; a third of that on Mondays
	bad     float64 // share of days whose calls take three times as long
	skipped bool    // no calls at weekends
}

var series = flag.Int("series", 5, "how many made job_execs of a kind, each of 400 days, show false alarms; twenty times as many show what is found")

// usual is what most of the made job_execs are like.
var usual = made{calls: 400, spread: 0.5, noise: 0.05}

func (m made) with(change func(*made)) made {
	change(&m)
	return m
}

// firstDay is a Thursday.
const firstDay = 20_000

// days makes some days; rises is how much longer calls take on each.
func (m made) days(dice *rand.Rand, n int, rises func(day int) float64) []Day {
	base := math.Log(20) + dice.Float64()*math.Log(1000) // 20 ms to 20 s
	var days []Day
	wandered := 0.0
	for i := range n {
		start := time.Unix((firstDay+int64(i))*24*60*60, 0).UTC()
		wandered = m.lasts*wandered + math.Sqrt(1-m.lasts*m.lasts)*m.noise*dice.NormFloat64()
		center, calls := base+wandered+rises(i), m.calls
		switch start.Weekday() {
		case time.Saturday, time.Sunday:
			if m.skipped {
				continue
			}
			if m.rhythm != 0 {
				center += m.rhythm
				calls /= 4
			}
		case time.Monday:
			center += m.rhythm / 3
		}
		if dice.Float64() < m.bad {
			center += math.Log(3)
		}
		var counts [1000]uint64
		for range calls {
			counts[1+int(max(center+m.spread*dice.NormFloat64(), 0)/math.Log(1.05))]++ // as tally.BucketOf has it
		}
		runs := make(tally.Histogram)
		for bucket, n := range counts {
			if n > 0 {
				runs[bucket] = n
			}
		}
		days = append(days, Day{Start: start, Runs: runs})
	}
	return days
}

// seen are the days that a look at some day sees.
func seen(all []level, today int) []level {
	from, _ := slices.BinarySearchFunc(all, today-Span, func(l level, day int) int { return l.day - day })
	before, _ := slices.BinarySearchFunc(all, today, func(l level, day int) int { return l.day - day })
	return all[from:before]
}

func levelsOf(days []Day, least int) (all []level) {
	for _, d := range days {
		if l, known := levelOf(d, least); known {
			all = append(all, l)
		}
	}
	return all
}

// Where nothing changes there is at most one false alarm in a thousand days of a job_exec. Where a day's noise lasts for days, there are more: that is
// a rise, if not one for long.
func TestFalseAlarmsAreRare(t *testing.T) {
	t.Parallel()
	const days = 400
	for _, test := range []struct {
		name string
		made made
		most float64 // in 1,000 days
	}{
		{"usual", usual, 1},
		{"weekends +60 %", usual.with(func(m *made) { m.rhythm = math.Log(1.6) }), 1},
		{"weekends -40 %", usual.with(func(m *made) { m.rhythm = math.Log(0.6) }), 1},
		{"no weekends", usual.with(func(m *made) { m.skipped = true }), 1},
		{"days differ by 10 %", usual.with(func(m *made) { m.noise = 0.1 }), 1},
		{"days differ by 20 %", usual.with(func(m *made) { m.noise = 0.2 }), 1},
		{"by 10 %, which lasts", usual.with(func(m *made) { m.noise, m.lasts = 0.1, 0.7 }), 10},
		{"one bad day in fifty", usual.with(func(m *made) { m.bad = 0.02 }), 1},
		{"weekdays differ by 20 %", usual.with(func(m *made) { m.noise, m.skipped = 0.2, true }), 1},
		{"few calls", usual.with(func(m *made) { m.calls, m.spread = Calls, 1 }), 1},
		{"a call a day", usual.with(func(m *made) { m.calls, m.spread = 1, 0.1 }), 1},
		{"a call a day, of all kinds", usual.with(func(m *made) { m.calls, m.spread = 1, 0.7 }), 1},
		{"calls of all kinds", usual.with(func(m *made) { m.spread = 1.5 }), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(1, 2))
			alarms, least := map[Kind]int{}, min(test.made.calls, Calls)
			for range *series {
				all := levelsOf(test.made.days(dice, Span+days, func(int) float64 { return 0 }), least)
				for today := firstDay + Span; today < firstDay+Span+days; today++ {
					if r, found := judge(seen(all, today), today); found {
						alarms[r.Kind]++
					}
				}
			}
			rate := 1000 * float64(alarms[Sudden]+alarms[Gradual]) / float64(*series*days)
			t.Logf("%-27s %5.2f false alarms in 1,000 days: %d sudden, %d gradual", test.name, rate, alarms[Sudden], alarms[Gradual])
			if rate > test.most {
				t.Errorf("%.2f false alarms in 1,000 days", rate)
			}
		})
	}
}

// A new job_exec has nothing that it could be slower than, whatever becomes of it.
func TestANewJobExecIsNotJudged(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		days := usual.days(dice, 2*week, func(day int) float64 { return 0.2 * float64(day) })
		if r, found := Look(days, time.Unix((firstDay+2*week)*24*60*60, 0), Calls); found {
			t.Fatalf("after two weeks: %+v", r)
		}
	}
}

// What becomes slower is found, told by its kind and its first day, and from what to what it rose.
func TestWhatBecomesSlowerIsFound(t *testing.T) {
	t.Parallel()
	all := 20 * *series
	rhythm := usual.with(func(m *made) { m.rhythm = math.Log(1.6) })
	step := func(share float64) func(int) float64 {
		return func(day int) float64 {
			if day < 0 {
				return 0
			}
			return math.Log1p(share)
		}
	}
	grows := func(share float64) func(int) float64 {
		return func(day int) float64 { return math.Log1p(share) * float64(max(day+1, 0)) }
	}
	for _, test := range []struct {
		name  string
		made  made
		rises func(day int) float64
		after int // days
		kind  Kind
		hits  float64 // at least
		right float64 // of these, by kind and by the first day but for three days
	}{
		{"+30 %", usual, step(0.3), 2, Sudden, 0.3, 0.9},
		{"+50 %", usual, step(0.5), 2, Sudden, 0.95, 0.9},
		{"+100 %", usual, step(1), 2, Sudden, 0.99, 0.9},
		{"+50 %, weekly rhythm", rhythm, step(0.5), 2, Sudden, 0.95, 0.9},
		{"+100 %, weekly rhythm", rhythm, step(1), 2, Sudden, 0.99, 0.9},
		{"+50 %, no weekends", usual.with(func(m *made) { m.skipped = true }), step(0.5), 4, Sudden, 0.95, 0.9},
		{"+50 %, bad days", usual.with(func(m *made) { m.bad = 0.02 }), step(0.5), 2, Sudden, 0.9, 0.9},
		{"+50 %, days differ by 10 %", usual.with(func(m *made) { m.noise = 0.1 }), step(0.5), 2, Sudden, 0.3, 0.8},
		{"+100 %, days differ by 10 %", usual.with(func(m *made) { m.noise = 0.1 }), step(1), 2, Sudden, 0.95, 0.8},
		{"+50 %, few calls", usual.with(func(m *made) { m.calls, m.spread = Calls, 1 }), step(0.5), 2, Sudden, 0, 0},
		{"+200 %, few calls", usual.with(func(m *made) { m.calls, m.spread = Calls, 1 }), step(2), 2, Sudden, 0.9, 0.5},
		{"+100 %, a call a day", usual.with(func(m *made) { m.calls, m.spread = 1, 0.1 }), step(1), 2, Sudden, 0.9, 0.5},
		{"+50 %, a week later", usual, step(0.5), 7, Sudden, 0.95, 0.9},
		{"+50 %, two weeks later", usual, step(0.5), 14, Sudden, 0.95, 0.9},
		{"+1 % a day", usual, grows(0.01), 35, Gradual, 0.9, 0},
		{"+2 % a day", usual, grows(0.02), 21, Gradual, 0.9, 0.5},
		{"+2 % a day, for long", usual, grows(0.02), 60, Gradual, 0.95, 0},
		{"+3 % a day", usual, grows(0.03), 14, Gradual, 0.95, 0.5},
		{"+2 % a day, weekly rhythm", rhythm, grows(0.02), 28, Gradual, 0.95, 0.5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			dice := rand.New(rand.NewPCG(5, 6))
			hits, kinds, firsts, near, least := 0, 0, 0, 0, min(test.made.calls, Calls)
			for range all {
				begins := Span + dice.IntN(week)
				today := time.Unix((firstDay+int64(begins+test.after))*24*60*60, 0)
				days := test.made.days(dice, begins+test.after, func(day int) float64 { return test.rises(day - begins) })
				r, found := Look(days, today, least)
				if !found {
					continue
				}
				hits++
				if r.Kind == test.kind {
					kinds++
				}
				if off := dayOf(r.Since) - firstDay - begins; off >= -3 && off <= 3 {
					firsts++
				}
				if rise, is := float64(r.ToMS)/float64(r.FromMS), math.Exp(test.rises(test.after-1)); rise < is*1.2 && rise > is/1.2 {
					near++
				}
			}
			of := func(n int) float64 { return float64(n) / float64(max(hits, 1)) }
			t.Logf("%-27s %5.1f %% found after %d days, of these %5.1f %% %s, %5.1f %% since the day, but for three, %5.1f %% by that rise, but for 20 %%",
				test.name, 100*float64(hits)/float64(all), test.after, 100*of(kinds), test.kind, 100*of(firsts), 100*of(near))
			if found := float64(hits) / float64(all); found < test.hits || min(of(kinds), of(firsts)) < test.right {
				t.Errorf("%.3f; want %.3f", found, test.hits)
			}
		})
	}
}

// One day, however bad, is no alarm; nor are run times so short that a clock hardly tells them apart.
func TestOneBadDayAndShortTimesAreNoAlarm(t *testing.T) {
	t.Parallel()
	dice := rand.New(rand.NewPCG(7, 8))
	today := time.Unix((firstDay+Span)*24*60*60, 0)
	days := usual.days(dice, Span, func(day int) float64 {
		if day == Span-1 {
			return 3
		}
		return 0
	})
	if r, found := Look(days, today, Calls); found {
		t.Errorf("one day: %+v", r)
	}
	var short []Day
	for i := range Span {
		ms := int64(1)
		if i >= Span-3 {
			ms = 4
		}
		short = append(short, Day{Start: today.AddDate(0, 0, i-Span), Runs: tally.Histogram{tally.BucketOf(ms): 100}})
	}
	if r, found := Look(short, today, Calls); found {
		t.Errorf("1 ms that became 4: %+v", r)
	}
	for i := Span - 3; i < Span; i++ {
		short[i].Runs = tally.Histogram{tally.BucketOf(9): 100}
	}
	if r, found := Look(short, today, Calls); !found || r.Kind != Sudden || r.FromMS != 1 || r.ToMS != 9 || !r.Since.Equal(short[Span-3].Start) {
		t.Errorf("1 ms that became 9: %v, %+v", found, r)
	}
}
