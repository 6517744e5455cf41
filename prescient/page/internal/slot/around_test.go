package slot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
)

func at(clock string) time.Time {
	t, err := time.Parse("15:04:05", (clock + ":00")[:8])
	if err != nil {
		panic(err)
	}
	return time.Date(2026, 11, 20, t.Hour(), t.Minute(), t.Second(), 0, time.UTC)
}

// bucket is one of a slot: finished, unless it is not done.
func bucket(slot string, number, buckets int, done int64, finished bool) client.Bucket {
	begun := at(slot).Add(time.Second)
	late := int64(1000)
	b := client.Bucket{Slot: at(slot), Bucket: number, Buckets: buckets, Worker: "w", StartedAt: &begun, LatenessMS: &late, Ends: map[prescient.Outcome]int64{prescient.Done: done}}
	if finished {
		end := begun.Add(time.Second)
		b.FinishedAt = &end
	}
	return b
}

func part(slot string, due int64, verdict forecast.Verdict) forecast.Part {
	return forecast.Part{Start: at(slot), Due: due, Fit: forecast.Fit{Verdict: verdict}}
}

func TestWhatBecameAndBecomesOfSlots(t *testing.T) {
	for name, test := range map[string]struct {
		span span
		want string
	}{
		"a slot that was left out": {span{now: at("13:20"), first: at("12:30"), last: at("13:30"),
			ledger: []client.Bucket{bucket("13:15", 0, 1, 7, true), bucket("12:45", 1, 2, 5, true), bucket("12:45", 0, 2, 4, true)},
			parts:  []forecast.Part{part("13:15", 10, forecast.Fits), part("13:30", 20, forecast.Next)}},
			"12:30 –, 12:45 served 9, 13:00 no worker was there, 13:15 served 7 due 3, 13:30 will be late due 20"},
		"one that is known to be no first": {span{now: at("13:20"), first: at("12:45"), last: at("13:15"), older: true}, "12:45 no worker was there, 13:00 no worker was there, 13:15 no worker was there"},
		"one whose worker may yet come":    {span{now: at("13:15:05"), first: at("13:00"), last: at("13:15"), older: true}, "13:00 no worker was there, 13:15 –"},
		"one that is under way":            {span{now: at("13:16"), first: at("13:15"), last: at("13:15"), ledger: []client.Bucket{bucket("13:15", 0, 2, 7, false), bucket("13:15", 1, 2, 1, true)}}, "13:15 under way 8"},
		"more than is read": {span{now: at("13:20"), first: at("12:00"), last: at("13:15"), cut: true, ledger: []client.Bucket{bucket("13:15", 0, 1, 1, true), bucket("12:45", 3, 9, 1, true)}},
			"13:00 no worker was there, 13:15 served 1"},
		"nothing is known": {span{now: at("13:20"), first: at("13:00"), last: at("13:30")}, "13:00 –, 13:15 –, 13:30 to come"},
		"what was forecast for what is over counts no more": {span{now: at("13:20"), first: at("13:00"), last: at("13:00"), ledger: []client.Bucket{bucket("13:00", 0, 1, 2, true)}, parts: []forecast.Part{part("13:00", 10, forecast.Fits)}}, "13:00 served 2"},
	} {
		test.span.resolution = 15 * time.Minute
		var got []string
		for _, one := range test.span.slots() {
			text := one.At.Format("15:04") + " " + one.What()
			if one.Done > 0 {
				text += fmt.Sprint(" ", one.Done)
			}
			if one.Due > 0 {
				text += fmt.Sprint(" due ", one.Due)
			}
			got = append(got, text)
		}
		if text := strings.Join(got, ", "); text != test.want {
			t.Errorf("%s: %s\nwant %s", name, text, test.want)
		}
	}
}

func TestHowFarSlotRunsAre(t *testing.T) {
	held, free := bucket("13:15", 0, 4, 50, false), bucket("13:15", 2, 4, 0, false)
	held.Held, held.Worker = true, "a"
	again := held
	again.Bucket, again.Ends = 3, nil
	s := span{now: at("13:15:31"), resolution: 15 * time.Minute, parts: []forecast.Part{part("13:15", 200, forecast.Fits)},
		ledger: []client.Bucket{again, free, bucket("13:15", 1, 4, 50, true), held, bucket("13:00", 0, 1, 3, true)}}
	all := s.underWay()
	if len(all) != 1 {
		t.Fatalf("%+v", all)
	}
	if u := all[0]; !u.Slot.Equal(at("13:15")) || u.Finished != 1 || u.Parts != 4 || u.Nobody != 1 || u.Done != 100 || u.Due != 200 || u.ToGo != 30*time.Second || fmt.Sprint(u.Workers) != "[a]" {
		t.Errorf("%+v", u)
	}
	s.parts = nil
	if u := s.underWay()[0]; u.ToGo != 0 || u.Due != 0 {
		t.Errorf("%+v", u)
	}
}
