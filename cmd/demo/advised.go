package demo

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"prescient/cmd/internal/output"
	"prescient/prescient"
	"prescient/prescient/advice/estimate"
	"prescient/slots"
)

// The shop that is made: its orders arrive in two weeks. Half of them are the history that the advice is from, and the others are what it is judged by.
const (
	madeOrders = 4000
	madeDays   = 14
	madeSlot   = time.Minute
	// farthest is the most from one check to the next: what ships later than all before waits no longer.
	farthest = 4 * time.Hour
	// sooner is what is asked for of the lateness of hourly checks. Other orders are found later than a curve says of those that it is from: of eight
	// histories by up to a fifth.
	sooner = 0.75
	// shown is how many orders are shown one by one.
	shown = 3
)

var madeFrom = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

// madeShops are the ways in which orders ship, by how long it takes.
var madeShops = []struct {
	ships string
	after func(r *rand.Rand) time.Duration
}{
	{"three of four after about four hours, the others next day", func(r *rand.Rand) time.Duration {
		if r.IntN(4) > 0 {
			return 4*time.Hour + time.Duration(r.NormFloat64()*float64(40*time.Minute))
		}
		return 20*time.Hour + time.Duration(r.ExpFloat64()*float64(3*time.Hour))
	}},
	{"at any time, after six hours on average, so that nothing tells when", func(r *rand.Rand) time.Duration {
		return time.Duration(r.ExpFloat64() * float64(6*time.Hour))
	}},
}

// madeOrder is an order, and when it ships, which its check does not know.
type madeOrder struct {
	number          int
	placed, shipped time.Time
}

// way says when the check of an order that was placed at a time looks next, or first.
type way struct {
	guards prescient.Guards
	next   func(placed, now time.Time) time.Time
}

// hourly is what a cron job does, at each full hour.
func hourly() way {
	return way{prescient.Guards{MaxChecks: 1000}, func(_, now time.Time) time.Time { return now.Truncate(time.Hour).Add(time.Hour) }}
}

// advisedBy looks as advice says. Its guard has some room for what ships later than all before.
func advisedBy(a estimate.Advice, d prescient.Distances) way {
	return way{prescient.Guards{MaxChecks: a.MaxChecks + 10}, func(placed, now time.Time) time.Time { return prescient.Advised(*a.Curve, placed, now, d) }}
}

// madeLife is what became of the check of one order, with its calls; late is by how much the last one came after the shipment.
type madeLife struct {
	estimate.Check
	calls []time.Time
	late  time.Duration
}

// live takes the check of an order from slot to slot, by the rules of a worker that is punctual.
func live(grid slots.Grid, o madeOrder, w way) (life madeLife, err error) {
	job, err := prescient.NewPending(grid, w.guards, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(o.number)},
		JobExec: "order-unshipped", DueAt: w.next(o.placed, o.placed)}, o.placed)
	if err != nil {
		return life, err
	}
	for life.Outcome == "" {
		at := job.NextCheckAt
		life.calls = append(life.calls, at)
		var answer prescient.Answer
		if o.shipped.After(at) {
			answer.Next = prescient.At(w.next(o.placed, at))
		}
		v := prescient.Decide(grid, w.guards, job, answer, at)
		job = v.Apply(job)
		life.late = at.Sub(o.shipped)
		life.Check = estimate.Check{Inserted: o.placed, FirstSlot: job.FirstCheckAt, Slot: at, Started: at, Ended: at, Answers: job.CheckCount, Outcome: v.Outcome}
	}
	return life, nil
}

// wayFigures are what a way comes to: calls of an order, how late those that found their shipment did, and how many were ended by max_checks before.
type wayFigures struct {
	Calls           float64 `json:"calls"`
	MeanLateSeconds float64 `json:"mean_late_seconds"`
	P99LateSeconds  float64 `json:"p99_late_seconds"`
	AtGuard         int     `json:"at_guard"`
}

// playWay plays orders one way.
func playWay(grid slots.Grid, orders []madeOrder, w way) (lives []madeLife, f wayFigures, err error) {
	var late []float64
	for _, o := range orders {
		life, err := live(grid, o, w)
		if err != nil {
			return nil, f, err
		}
		lives = append(lives, life)
		f.Calls += float64(len(life.calls)) / float64(len(orders))
		if life.Outcome != prescient.Done {
			f.AtGuard++
			continue
		}
		late = append(late, life.late.Seconds())
		f.MeanLateSeconds += life.late.Seconds()
	}
	if len(late) == 0 {
		return nil, f, errors.New("no shipment was found")
	}
	slices.Sort(late)
	f.MeanLateSeconds /= float64(len(late))
	f.P99LateSeconds = late[int(math.Ceil(float64(len(late))*0.99))-1]
	return lives, f, nil
}

// judged is one shop, both ways, on the orders that the advice is not from.
type judged struct {
	Ships      string     `json:"ships"`
	AdviceFrom int        `json:"advice_from_orders"`
	Orders     int        `json:"orders"`
	Hourly     wayFigures `json:"hourly"`
	Advised    wayFigures `json:"advised"`
	shown      []string
}

// judge makes orders, takes advice from the hourly checks of one half of them, and plays the other half both ways.
func judge(r *rand.Rand, ships string, after func(*rand.Rand) time.Duration) (j judged, err error) {
	grid, err := slots.NewGrid(madeSlot)
	if err != nil {
		return j, err
	}
	orders := make([]madeOrder, madeOrders)
	for i := range orders {
		placed := madeFrom.Add(time.Duration(r.Int64N(int64(madeDays * 24 * time.Hour))))
		orders[i] = madeOrder{i + 1, placed, placed.Add(max(after(r), time.Minute))}
	}
	seen, others := orders[:madeOrders/2], orders[madeOrders/2:]
	known, _, err := playWay(grid, seen, hourly())
	if err != nil {
		return j, err
	}
	history := make([]estimate.Check, 0, len(known))
	for _, life := range known {
		history = append(history, life.Check)
	}
	q := estimate.Question{Slot: madeSlot, Distances: prescient.Distances{Least: madeSlot, Most: farthest}}
	q.Late = time.Duration(estimate.Advise(history, q).Now.LateSeconds * sooner * float64(time.Second))
	advice := estimate.Advise(history, q)
	if advice.None != "" {
		return j, errors.New("there is no advice: " + advice.None)
	}
	j = judged{Ships: ships, AdviceFrom: len(seen), Orders: len(others)}
	byTheHour, figures, err := playWay(grid, others, hourly())
	if j.Hourly = figures; err != nil {
		return j, err
	}
	asAdvised, figures, err := playWay(grid, others, advisedBy(advice, q.Distances))
	if j.Advised = figures; err != nil {
		return j, err
	}
	for i, o := range others[:shown] {
		j.shown = append(j.shown, fmt.Sprintf("order/%d, placed %s, shipped %s", o.number, o.placed.Format("Jan 2 15:04"), o.shipped.Format("Jan 2 15:04")),
			"  hourly   "+clocks(byTheHour[i].calls), "  advised  "+clocks(asAdvised[i].calls))
	}
	return j, nil
}

// clocks are the times of calls; of many the first and the last ones.
func clocks(calls []time.Time) string {
	var text []string
	for _, at := range calls {
		text = append(text, at.Format("15:04"))
	}
	if n := len(text); n > 9 {
		text = append(append(text[:4:4], fmt.Sprintf("… %d more …", n-7)), text[n-3:]...)
	}
	return strings.Join(text, " ")
}

// playAdvised shows what advised times come to beside hourly checks. No server is asked: the clock goes from slot to slot.
func playAdvised(to *output.Printer, asJSON bool, seed uint64) error {
	if !asJSON {
		to.Say("Orders of two weeks are made, by --seed %d; a slot is a minute. The advice is from hourly checks of %d orders, and", seed, madeOrders/2)
		to.Say("%d others are checked both ways, by a clock that goes from slot to slot. It is asked for three quarters of the", madeOrders-madeOrders/2)
		to.Say("lateness of hourly checks, and for a check each %.0f hours at least.", farthest.Hours())
	}
	for n, shop := range madeShops {
		j, err := judge(rand.New(rand.NewPCG(seed, uint64(n))), shop.ships, shop.after)
		if err != nil {
			return err
		}
		if asJSON {
			to.JSON(j)
			continue
		}
		to.Say("\nOrders ship %s:\n", j.Ships)
		for _, line := range j.shown {
			to.Say("  %s", line)
		}
		to.Say("")
		row := func(name string, f wayFigures) []string {
			minutes := func(seconds float64) string { return fmt.Sprintf("%.0f min", seconds/60) }
			return []string{name, fmt.Sprintf("%.1f", f.Calls), minutes(f.MeanLateSeconds), minutes(f.P99LateSeconds), fmt.Sprint(f.AtGuard)}
		}
		to.Table("", []output.Column{{Title: "CHECKS"}, {Title: "CALLS AN ORDER", Right: true}, {Title: "LATE, MEAN", Right: true}, {Title: "LATE, 99 %", Right: true}, {Title: "ENDED BY MAX_CHECKS", Right: true}},
			[][]string{row("hourly", j.Hourly), row("advised", j.Advised)})
	}
	return to.Err()
}
