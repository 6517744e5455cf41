package demo

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
)

func TestTheSameSeedDrawsTheSamePlan(t *testing.T) {
	f := demoFlags{orders: 500, seed: 7, lastsFor: 30 * time.Second, alertAfter: 4 * time.Second, escalateAfter: 8 * time.Second}
	deeds := plan(f)
	if !slices.Equal(deeds, plan(f)) {
		t.Error("another plan for the same seed")
	}
	other := f
	other.seed++
	if slices.Equal(deeds, plan(other)) {
		t.Error("the same plan for another seed")
	}
	placed := make(map[int64]time.Duration)
	shipped := make(map[int64]bool)
	var inTime, late int
	for i, d := range deeds {
		if i > 0 && d.at < deeds[i-1].at || d.at >= f.lastsFor {
			t.Fatalf("deed %d is out of time: %+v", i, d)
		}
		at, known := placed[d.order]
		switch {
		case !d.ship && (known || d.order != int64(len(placed)+1)):
			t.Fatalf("order %d is placed after %d others", d.order, len(placed))
		case !d.ship:
			placed[d.order] = d.at
		case !known || shipped[d.order]:
			t.Fatalf("order %d is shipped twice, or before it was placed", d.order)
		case d.at-at < f.alertAfter:
			shipped[d.order] = true
			inTime++
		default:
			shipped[d.order] = true
			late++
		}
	}
	if len(placed) != f.orders || inTime < 150 || late < 40 || inTime+late > 400 {
		t.Errorf("%d placed, %d shipped in time, %d late", len(placed), inTime, late)
	}
}

func TestQuantilesAreThoseOfTheNearestRank(t *testing.T) {
	if quantilesOf(nil) != nil {
		t.Error("quantiles of nothing")
	}
	var hundred []int64
	for i := int64(100); i > 0; i-- {
		hundred = append(hundred, i)
	}
	for _, test := range []struct {
		values []int64
		want   quantiles
	}{
		{[]int64{5}, quantiles{5, 5, 5}},
		{[]int64{3, 1}, quantiles{1, 3, 3}},
		{hundred, quantiles{50, 99, 100}},
		{append(hundred, 1000), quantiles{51, 100, 1000}},
	} {
		if got := quantilesOf(test.values); *got != test.want {
			t.Errorf("%v: %+v; want %+v", test.values, *got, test.want)
		}
	}
}

func TestBooksThatDoNotBalance(t *testing.T) {
	job := func(key int) prescient.FutureJob {
		return prescient.FutureJob{EntityName: "order", EntityKey: strconv.Itoa(key), JobExec: "order-unshipped"}
	}
	done := func(key int, late int64) client.Ended {
		return client.Ended{FutureJob: job(key), Outcome: prescient.Done, LatenessMS: &late}
	}
	inserted := map[string]bool{"order/1": true, "order/2": true, "order/3": true}
	for _, test := range []struct {
		about   string
		pending []prescient.FutureJob
		ended   []client.Ended
		problem string // empty where they balance
	}{
		{"all there", []prescient.FutureJob{job(1)}, []client.Ended{done(2, 5), {FutureJob: job(3), Outcome: prescient.Cancelled}}, ""},
		{"one lost", []prescient.FutureJob{job(1)}, []client.Ended{done(2, 5)}, "order/3 was inserted and is neither ended nor pending"},
		{"one ended twice, one lost", nil, []client.Ended{done(2, 5), done(2, 5), done(1, 5)}, "order/2 is there twice, once as done"},
		{"one pending that ended", []prescient.FutureJob{job(1)}, []client.Ended{done(1, 1), done(2, 1), done(3, 1)}, "order/1 is there twice"},
		{"one too many", []prescient.FutureJob{job(4)}, []client.Ended{done(1, 1), done(2, 1), done(3, 1)}, "order/4 is pending but was not inserted"},
		{"one early", nil, []client.Ended{done(1, -20), done(2, 1), done(3, 1)}, "order/1 was checked 20ms before its slot"},
	} {
		b := balance(inserted, test.pending, test.ended)
		if b.Balanced != (test.problem == "") || !strings.Contains(b.Problem, test.problem) {
			t.Errorf("%s: %+v; want %q", test.about, b, test.problem)
		}
	}
	b := balance(inserted, []prescient.FutureJob{job(1)}, []client.Ended{done(2, 5), done(3, 7)})
	if b.Inserted != 3 || b.Ended != 2 || b.Pending != 1 || b.Outcomes[prescient.Done] != 2 || *b.Lateness != (quantiles{5, 7, 7}) {
		t.Errorf("%+v", b)
	}
}
