package prescient_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
)

var placed = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// exponential is what happens to one in e within so long, however long one has waited.
func exponential(mean time.Duration, price float64) prescient.Curve {
	c := prescient.Curve{Price: price}
	for i := 1; i <= 200; i++ {
		age := float64(i) / 20
		c.Points = append(c.Points, prescient.CurvePoint{AgeSeconds: int64(age * mean.Seconds()), Happened: 1 - math.Exp(-age)})
	}
	return c
}

// bimodal is settled after an hour, or else after a day.
func bimodal(price float64) prescient.Curve {
	return prescient.Curve{Price: price, Points: []prescient.CurvePoint{{AgeSeconds: 3500}, {AgeSeconds: 3700, Happened: 0.7}, {AgeSeconds: 86300, Happened: 0.7}, {AgeSeconds: 86500, Happened: 1}}}
}

// nightly is settled between 02:00 and 02:30.
func nightly(price float64) prescient.Curve {
	day := make([]float64, 48)
	day[4] = 1
	return prescient.Curve{Price: price, Day: day, Points: []prescient.CurvePoint{{AgeSeconds: 86400, Happened: 1}}}
}

// With calls 1/(1-exp(-d)) and lateness d·calls - 1, of distances d in means, no plan has fewer calls at its lateness.
func TestWhatHappensAtAnyTimeIsLookedForAtEvenDistances(t *testing.T) {
	const mean = 4 * time.Hour
	for _, price := range []float64{0.2, 1, 5, 20} {
		got := exponential(mean, price).Plan(placed, prescient.Distances{})
		best := 0.0 // calls
		for d := 0.001; d < 20; d += 0.0005 {
			if calls := 1 / (1 - math.Exp(-d)); (d*calls-1)*mean.Hours() <= got.Late.Hours() {
				best = calls
			}
		}
		if got.Calls > best*1.03 || got.Found < 0.999 {
			t.Errorf("a price of %v: %.3f calls, %s late; %.3f would do", price, got.Calls, got.Late, best)
		}
	}
}

func TestWhatHappensInTwoBoutsIsLookedForAfterEach(t *testing.T) {
	got := bimodal(1).Plan(placed, prescient.Distances{})
	if len(got.Ages) != 2 || got.Ages[0].Round(time.Minute) != 62*time.Minute || got.Ages[1] != 86500*time.Second || math.Abs(got.Calls-1.3) > 0.01 || got.Late > 3*time.Minute {
		t.Errorf("%+v", got)
	}
}

func TestWhatHappensAtNightIsLookedForInTheMorning(t *testing.T) {
	for _, hour := range []int{0, 1, 3, 10, 23} {
		inserted := time.Date(2026, 11, 20, hour, 0, 0, 0, time.UTC)
		want := time.Date(2026, 11, 21, 2, 30, 0, 0, time.UTC)
		if hour < 2 {
			want = want.AddDate(0, 0, -1)
		}
		if got := prescient.Advised(nightly(1), inserted, inserted, prescient.Distances{}); got.Sub(want).Abs() > time.Second {
			t.Errorf("inserted at %s: %s; want %s", inserted, got, want)
		}
	}
}

func TestWhatTheAppReportsNeedsNoCheck(t *testing.T) {
	c := prescient.Curve{Price: 1, Points: []prescient.CurvePoint{{AgeSeconds: 3600, Happened: 0.9, Reported: 0.9}, {AgeSeconds: 7200, Happened: 1, Reported: 0.9}}}
	got := c.Plan(placed, prescient.Distances{})
	if len(got.Ages) == 0 || got.Ages[0] <= time.Hour || got.Calls > 0.15 || math.Abs(got.Found-0.1) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

func TestAnAdvisedTimeIsHeldToItsBounds(t *testing.T) {
	for _, test := range []struct {
		what     string
		curve    prescient.Curve
		age      time.Duration
		d        prescient.Distances
		from, to time.Duration // of the distance
	}{
		{"the first check, after the first bout", bimodal(1), 0, prescient.Distances{}, 3690 * time.Second, 3710 * time.Second},
		{"the second, after the second", bimodal(1), 3700 * time.Second, prescient.Distances{}, 82800 * time.Second, 82800 * time.Second},
		{"no farther than Most", bimodal(1), 3700 * time.Second, prescient.Distances{Most: time.Hour}, 30 * time.Minute, time.Hour},
		{"no nearer than Least", exponential(time.Hour, 1e6), time.Hour, prescient.Distances{Least: 20 * time.Minute}, 20 * time.Minute, 25 * time.Minute},
		{"a minute where nothing is said", exponential(time.Hour, 1e6), time.Hour, prescient.Distances{}, time.Minute, 2 * time.Minute},
		{"Least where it is above Most", bimodal(1), 0, prescient.Distances{Least: 3 * time.Hour, Most: time.Hour}, 3 * time.Hour, 3 * time.Hour},
		{"beyond the curve a quarter of the age", bimodal(1), 48 * time.Hour, prescient.Distances{}, 12 * time.Hour, 12 * time.Hour},
		{"no curve", prescient.Curve{}, 8 * time.Hour, prescient.Distances{}, 2 * time.Hour, 2 * time.Hour},
		{"not sooner than what is known", prescient.Curve{FirstSeconds: 7200, Price: 1e6, Points: []prescient.CurvePoint{{AgeSeconds: 7200, Happened: 0.5}, {AgeSeconds: 9000, Happened: 1}}}, 0, prescient.Distances{}, 2 * time.Hour, 2 * time.Hour},
		{"nor where Most would have it", prescient.Curve{FirstSeconds: 7200, Price: 1, Points: []prescient.CurvePoint{{AgeSeconds: 7200, Happened: 1}}}, 0, prescient.Distances{Most: time.Minute}, 2 * time.Hour, 2 * time.Hour},
		{"inserted ahead of the clock", bimodal(1), -time.Hour, prescient.Distances{}, 3690 * time.Second, 3710 * time.Second},
	} {
		now := placed.Add(test.age)
		if got := prescient.Advised(test.curve, placed, now, test.d).Sub(now).Round(time.Second); got < test.from || got > test.to {
			t.Errorf("%s: in %s; want %s to %s", test.what, got, test.from, test.to)
		}
	}
}

// A job_exec asks check after check; so it must come to what the plan says.
func TestAskingAgainAndAgainIsThePlan(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	c := exponential(4*time.Hour, 1)
	plan := c.Plan(placed, prescient.Distances{})
	calls, late := 0, 0.0
	const times = 1000
	for range times {
		happened := placed.Add(time.Duration(r.ExpFloat64() * float64(4*time.Hour)))
		at := placed
		for at.Before(happened) {
			at = prescient.Advised(c, placed, at, prescient.Distances{})
			calls++
		}
		late += at.Sub(happened).Hours()
	}
	cost := float64(calls)/times + late/times*c.Price
	if want := plan.Calls + plan.Late.Hours()*c.Price; math.Abs(cost/want-1) > 0.05 {
		t.Errorf("%v, in calls; the plan says %v", cost, want)
	}
}

func TestACurveIsWhole(t *testing.T) {
	for _, test := range []struct{ change, says string }{
		{`{}`, "0 points"},
		{`{"points": [{"age_seconds": 0, "happened": 1}], "price": 1}`, "ages ascend"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}, {"age_seconds": 5, "happened": 1}], "price": 1}`, "ages ascend"},
		{`{"points": [{"age_seconds": 9000000000, "happened": 0.5}], "price": 1}`, "ages ascend"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}, {"age_seconds": 6, "happened": 0.4}], "price": 1}`, "shares grow"},
		{`{"points": [{"age_seconds": 5, "happened": 1.5}], "price": 1}`, "shares grow"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5, "reported": 0.6}], "price": 1}`, "shares grow"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5, "reported": -0.1}], "price": 1}`, "shares grow"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}]}`, "price"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}], "price": 1, "first_seconds": -1}`, "first check"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}], "price": 1, "day": [0, 0]}`, "above 0"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}], "price": 1, "day": [1, -1]}`, "part of a curve's day"},
		{`{"points": [{"age_seconds": 5, "happened": 0.5}], "price": 1, "day": [1, 0]}`, ""},
	} {
		var c prescient.Curve
		if err := json.Unmarshal([]byte(test.change), &c); err != nil {
			t.Fatal(err)
		}
		err := c.Validate()
		if test.says == "" && err != nil || test.says != "" && (!errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), test.says)) {
			t.Errorf("%s: %v", test.change, err)
		}
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		if (prescient.Curve{Price: bad, Points: []prescient.CurvePoint{{AgeSeconds: 1}}}).Validate() == nil ||
			(prescient.Curve{Price: 1, Points: []prescient.CurvePoint{{AgeSeconds: 1, Happened: bad}}}).Validate() == nil ||
			(prescient.Curve{Price: 1, Points: []prescient.CurvePoint{{AgeSeconds: 1}}, Day: []float64{1, bad}}).Validate() == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}

func FuzzAdvised(f *testing.F) {
	f.Add(`{"points": [{"age_seconds": 5, "happened": 0.5}], "price": 1, "day": [1, 0]}`, int64(1_800_000_000), int64(100), int64(0), int64(0))
	f.Add(`{"points": [{"age_seconds": 300000000, "happened": 1, "reported": 1}], "price": 1e-30}`, int64(-1), int64(-5), int64(7), int64(3))
	f.Add(`{"points": [{"age_seconds": 5}, {"age_seconds": 6, "happened": 0.1}], "day": [1e-300, 1e30], "price": 1e30, "first_seconds": 9}`, int64(1<<40), int64(1<<40), int64(-7), int64(1<<50))
	f.Fuzz(func(t *testing.T, text string, inserted, age, least, most int64) {
		var c prescient.Curve
		if json.Unmarshal([]byte(text), &c) != nil {
			return
		}
		from := time.Unix(inserted%(1<<37), 0)
		now := from.Add(time.Duration(age))
		d := prescient.Distances{Least: time.Duration(least % int64(prescient.MaxHorizon)), Most: time.Duration(most % int64(prescient.MaxHorizon))}
		got := prescient.Advised(c, from, now, d)
		if distance := got.Sub(now); distance <= 0 || d.Least > 0 && distance < d.Least || d.Least <= 0 && distance < time.Minute {
			t.Errorf("in %s of %+v, %s", distance, c, text)
		}
		if c.Validate() == nil {
			plan := c.Plan(from, d)
			for i, age := range plan.Ages {
				if i > 0 && age <= plan.Ages[i-1] {
					t.Errorf("%v of %s", plan.Ages, text)
				}
			}
			if !(plan.Calls >= 0 && plan.Late >= 0) {
				t.Errorf("%+v of %s", plan, text)
			}
		}
	})
}

func BenchmarkAdvised(b *testing.B) {
	c := exponential(4*time.Hour, 1)
	c.Points = c.Points[:60]
	for b.Loop() {
		prescient.Advised(c, placed, placed.Add(time.Hour), prescient.Distances{})
	}
}
