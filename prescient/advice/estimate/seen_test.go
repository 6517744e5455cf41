package estimate

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient"
)

// row is a check that was inserted at 10:00, by hours after that; of a call that ended it started is its own.
func row(outcome prescient.Outcome, first, slot, started, ended float64, answers int) Check {
	at := func(hours float64) time.Time { return began.Add(time.Duration((10 + hours) * float64(time.Hour))) }
	c := Check{Inserted: at(0), FirstSlot: at(first), Slot: at(slot), Ended: at(ended), Answers: answers, Outcome: outcome}
	if started > 0 || outcome == prescient.Done {
		c.Started = at(started)
	}
	return c
}

func TestWhatAnEndSaysOfWhenItHappened(t *testing.T) {
	inf := math.Inf(1)
	// The job_exec waits 1, 2 and 4 hours.
	learned := Learn([]Check{
		row(prescient.Done, 3, 4, 4, 4, 1), row(prescient.Done, 3, 6, 6, 6, 2), row(prescient.Done, 3, 6.25, 6.25, 6.25, 2), row("", 3, 10, 0, 0, 3), row(prescient.Done, 3, 6, 6, 6, 2),
	}, quarter)
	if learned.Regular != 5 || learned.Of != 5 {
		t.Errorf("%+v", learned)
	}
	for _, test := range []struct {
		what        string
		of          Check
		from, until float64
		known       bool
	}{
		{"done by the first check", row(prescient.Done, 3, 3, 3.001, 3.002, 0), 0, 3.001, true},
		{"done by the second", row(prescient.Done, 3, 4, 4.001, 4.002, 1), 3, 4.001, true},
		{"done by the third, the second of which others had after an hour", row(prescient.Done, 3, 6, 6, 6, 2), 4, 6, true},
		{"done by the fourth", row(prescient.Done, 3, 10, 10, 10, 3), 6, 10, true},
		{"done by the fifth: nobody else had as many", row(prescient.Done, 3, 18, 18, 18, 4), 10, 18, true},
		{"done by the sixth, evenly beyond", row(prescient.Done, 3, 23, 23, 23, 5), 3 + 20*4.0/5, 23, true},
		{"earlier than others had the one before: its distances were shorter", row(prescient.Done, 3, 5, 5, 5, 3), 3 + 2*3.0/7, 5, true},
		{"held up for a day: its distances were longer", row(prescient.Done, 3, 31, 31, 31, 3), 3 + 28*3.0/7, 31, true},
		{"moved by the app to before its first slot", row(prescient.Done, 3, 2, 2, 2, 1), 0, 2, true},
		{"reported by the app", row(prescient.Cancelled, 3, 3, 0, 1.5, 0), 1.5 - 1.0/3600, 1.5, true},
		{"reported after an answer", row(prescient.Cancelled, 3, 4, 0, 3.5, 1), 3.5 - 1.0/3600, 3.5, true},
		{"ended by a guard: not yet", row(prescient.MaxChecks, 3, 6, 6.01, 6.02, 2), 6.01, inf, true},
		{"ended by a time in the past: not yet", row(prescient.PastReturn, 3, 3, 3.01, 3.02, 0), 3.01, inf, true},
		{"ended by a time too far ahead: not yet", row(prescient.BeyondHorizon, 3, 3, 3.01, 3.02, 0), 3.01, inf, true},
		{"failed: the answers before say something", row(prescient.Failed, 3, 6, 6, 6, 2), 4, inf, true},
		{"failed at the first check", row(prescient.Failed, 3, 3, 3, 3, 0), 0, inf, false},
		{"expired uncalled", row(prescient.Expired, 3, 3, 0, 5, 0), 0, inf, false},
		{"superseded after an answer", row(prescient.Superseded, 3, 4, 0, 3.5, 1), 3, inf, true},
		{"pending, after two answers", row("", 3, 6, 0, 0, 2), 4, inf, true},
		{"pending, not called yet", row("", 3, 3, 0, 0, 0), 0, inf, false},
		{"done before it was inserted, by clocks that differ", row(prescient.Done, 0, 0, 0, 0, 0), 0, 1.0 / 3600, true},
	} {
		got, known := learned.See(test.of, quarter)
		near := func(x, hours float64) bool { return x == hours*3600 || math.Abs(x-hours*3600) < 1e-6 }
		if known != test.known || known && !(near(got.From, test.from) && near(got.Until, test.until)) {
			t.Errorf("%s: %v to %v, %v; want %v to %v", test.what, got.From/3600, got.Until/3600, known, test.from, test.until)
		}
	}
}

// Turnbull's own kind of example: what is known of six, and the shares that make it most likely.
func TestTheLikeliestShares(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		what  string
		spans []span
		ends  []float64
		want  []float64
	}{
		{"each in a cell of its own", []span{{0, 1, false}, {1, 2, false}, {1, 2, false}, {2, 3, false}}, []float64{1, 2, 3}, []float64{0.25, 0.5, 0.25}},
		{"a third is open", []span{{0, 1, false}, {1, 2, false}, {2, inf, false}}, []float64{1, 2}, []float64{1. / 3, 1. / 3}},
		{"what is open at 1 is shared as the later ones are", []span{{0, 1, false}, {1, inf, false}, {1, 2, false}, {2, inf, false}}, []float64{1, 2}, []float64{0.25, 0.375}},
		{"a wide one goes where the narrow ones are", []span{{0, 1, false}, {0, 1, false}, {0, 1, false}, {1, 2, false}, {0, 2, false}, {0, 2, false}}, []float64{1, 2}, []float64{0.75, 0.25}},
		{"nothing was seen in the middle", []span{{0, 1, false}, {2, 3, false}}, []float64{1, 2, 3}, []float64{0.5, 0, 0.5}},
	} {
		got, _ := likeliest(test.spans, test.ends)
		for i, want := range test.want {
			if math.Abs(got[i]-want) > 0.005 {
				t.Errorf("%s: %.4f; want %v", test.what, got, test.want)
				break
			}
		}
	}
	_, reported := likeliest([]span{{0.5, 0.6, true}, {0, 1, false}, {0, 2, false}, {1.9, 2, true}}, []float64{1, 2})
	if reported[0] < 0.3 || reported[0] > 0.5 || reported[1] < 0.5 {
		t.Errorf("%v were reported", reported)
	}
}

func TestAdviceSaysWhatItIsFrom(t *testing.T) {
	hourly := made{first: between(time.Hour, 2*time.Hour), every: time.Hour, answers: 5, happens: exponentially(3 * time.Hour), reports: 0.5}
	r := rand.New(rand.NewPCG(1, 2))
	some := hourly.checks(t, r, 150)
	if got := Advise(some, Question{Slot: quarter}); got.None == "" || got.Curve != nil || got.Found >= MinFound || got.Reported == 0 {
		t.Errorf("%+v", got)
	}
	if got := Advise(some, Question{Slot: quarter, Least: 20}); got.None != "" || got.Curve == nil {
		t.Errorf("%+v", got)
	}
	if got := Advise(nil, Question{Slot: quarter}); got.None == "" {
		t.Errorf("%+v", got)
	}
	got := Advise(hourly.checks(t, r, 3000), Question{Slot: quarter})
	if got.AtGuard == 0 || got.Near == 0 || got.Ended != 3000 || got.Reported < 1000 || got.Curve.FirstSeconds < 3600 || got.Ages[0] < got.Curve.FirstSeconds || got.MaxChecks < 2 {
		t.Errorf("%+v", got)
	}
	if got.Advised.LateSeconds > got.Now.LateSeconds*(1+2*slack) {
		t.Errorf("as late as now: %+v; now %+v", got.Advised, got.Now)
	}
	hourly.happens, hourly.answers = inTwoBouts, 100
	if got := Advise(hourly.checks(t, r, 3000), Question{Slot: quarter}); got.Advised.LateSeconds > got.Now.LateSeconds*(1+2*slack) || got.Advised.Calls > got.Now.Calls/2 {
		t.Errorf("as late as now, with fewer calls: %+v; now %+v", got.Advised, got.Now)
	}
	if got := Advise(hourly.checks(t, r, 3000), Question{Slot: quarter, Late: time.Minute}); !got.OutOfReach {
		t.Errorf("a minute late, of slots of a quarter of an hour: %+v", got.Advised)
	}
}

// One check that somebody tried out with a minute says nothing of what happens within three hours.
func TestNoAdviceIsBelowTheFirstDelaySeen(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	m := made{first: between(3*time.Hour, 3*time.Hour+time.Minute), every: time.Hour, answers: 50, happens: exponentially(2 * time.Hour)}
	checks := m.checks(t, r, 1000)
	checks[0] = row(prescient.Done, 0.25, 0.25, 0.25, 0.25, 0)
	got := Advise(checks, Question{Slot: quarter, Late: 10 * time.Minute})
	if got.Curve == nil || got.Curve.FirstSeconds < 3*3600 || got.Ages[0] < 3*3600 || !got.OutOfReach {
		t.Fatalf("%+v", got)
	}
	if happened, _ := got.Curve.Happened(began, 3*time.Hour+20*time.Minute); math.Abs(happened-(1-math.Exp(-1.6))) > 0.06 {
		t.Errorf("%v happened", happened)
	}
}

func FuzzAdvise(f *testing.F) {
	f.Add([]byte("aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbbccccccccccccccccddddddddddddddddeeeeeeeeeeeeeeee"), int64(0), int64(900))
	f.Add([]byte("\x00\x01\x02\x03\x04\x05\xff\xff\xff\x09\x0a\x0b\x0c\x0d\x0e\x0f"), int64(3600), int64(1))
	f.Add([]byte("\x00\x17\x00\x02\x17\x01\x02\x00\x00\x01\x00\x1a\xad%%%%\x05\xff\xff\xff\t\n\v\f\r\x0e\x0f"), int64(3600), int64(1)) // the earliest first check is beyond the curve
	f.Fuzz(func(t *testing.T, data []byte, late, slot int64) {
		outcomes := append(prescient.Outcomes(), "")
		var checks []Check
		for ; len(data) >= 8 && len(checks) < 300; data = data[8:] {
			c := Check{Inserted: began.Add(time.Duration(data[0]) * time.Minute * 13), Answers: int(data[1]) * int(data[1]), Outcome: outcomes[int(data[2])%len(outcomes)]}
			c.FirstSlot = c.Inserted.Add(time.Duration(int8(data[3])) * time.Duration(data[4]) * time.Minute)
			c.Slot = c.FirstSlot.Add(time.Duration(int8(data[5])) * time.Duration(data[6]) * time.Minute)
			if data[7]%2 == 0 {
				c.Started = c.Slot.Add(time.Duration(data[7]) * time.Hour)
			}
			c.Ended = c.Slot.Add(time.Duration(int8(data[7])) * time.Hour)
			checks = append(checks, c)
		}
		got := Advise(checks, Question{Late: time.Duration(late), Slot: time.Duration(slot&0xffff) * time.Second, Least: 1})
		if got.None != "" {
			return
		}
		if err := got.Curve.Validate(); err != nil {
			t.Errorf("%v: %+v", err, checks)
		}
		if len(got.Ages) > 0 && got.Ages[0] < got.Curve.FirstSeconds || !(got.Advised.Calls >= 0 && got.Advised.LateSeconds >= 0 && got.Now.LateSeconds >= 0) {
			t.Errorf("%+v", got)
		}
	})
}
