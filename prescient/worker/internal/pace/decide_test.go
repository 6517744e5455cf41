package pace

import (
	"reflect"
	"testing"
	"time"
)

func TestStepsLeadFromTheLeastToTheMost(t *testing.T) {
	for _, test := range []struct {
		most Effort
		want []Effort
	}{
		{Effort{Buckets: 4, Rows: 2000}, []Effort{{1, 250, 3}, {1, 250, 1}, {1, 250, 0}, {1, 500, 0}, {2, 500, 0}, {2, 1000, 0}, {4, 1000, 0}, {4, 2000, 0}}},
		{Effort{Buckets: 8, Rows: 1000}, []Effort{{1, 250, 3}, {1, 250, 1}, {1, 250, 0}, {1, 500, 0}, {2, 500, 0}, {2, 1000, 0}, {4, 1000, 0}, {8, 1000, 0}}},
		{Effort{Buckets: 5, Rows: 600}, []Effort{{1, 250, 3}, {1, 250, 1}, {1, 250, 0}, {1, 500, 0}, {2, 500, 0}, {2, 600, 0}, {4, 600, 0}, {5, 600, 0}}},
		{Effort{Buckets: 1, Rows: 2000}, []Effort{{1, 250, 3}, {1, 250, 1}, {1, 250, 0}, {1, 500, 0}, {1, 1000, 0}, {1, 2000, 0}}},
		{Effort{Buckets: 20, Rows: 10}, []Effort{{1, 10, 3}, {1, 10, 1}, {1, 10, 0}, {2, 10, 0}, {4, 10, 0}, {8, 10, 0}, {16, 10, 0}, {20, 10, 0}}},
		{Effort{Buckets: 1, Rows: 1}, []Effort{{1, 1, 3}, {1, 1, 1}, {1, 1, 0}}},
	} {
		if got := steps(test.most); !reflect.DeepEqual(got, test.want) {
			t.Errorf("up to %+v: %+v; want %+v", test.most, got, test.want)
		}
	}
}

func TestARunTakesWhatItNeeds(t *testing.T) {
	const steps = 6
	for _, test := range []struct {
		name     string
		at, want position
		seen     Seen
	}{
		{"it will end in time", position{0, 0}, position{0, 0}, Seen{Remains: 1000, Rate: 1000, Left: time.Second}},
		{"it will be late by little", position{0, 0}, position{1, 0}, Seen{Remains: 1001, Rate: 1000, Left: time.Second}},
		{"it will be late by much", position{0, 0}, position{2, 0}, Seen{Remains: 2001, Rate: 1000, Left: time.Second}},
		{"it is late", position{1, 0}, position{3, 0}, Seen{Remains: 1, Rate: 1e6, Left: -time.Second}},
		{"its time is over now", position{1, 0}, position{3, 0}, Seen{Remains: 1, Rate: 1e6}},
		{"nothing was written yet", position{0, 0}, position{2, 0}, Seen{Remains: 1, Left: time.Hour}},
		{"... and little of its time is over", position{0, 0}, position{0, 0}, Seen{Remains: 1, Left: time.Hour, Early: true}},
		{"something was written, and little of its time is over", position{0, 0}, position{2, 0}, Seen{Remains: 9000, Rate: 1, Left: time.Second, Early: true}},
		{"more than the most there is not", position{5, 0}, position{5, 0}, Seen{Remains: 5000, Rate: 1000, Left: time.Second}},
		{"... nor by two steps", position{4, 0}, position{5, 0}, Seen{Remains: 5000, Rate: 1000, Left: time.Second}},
		{"it is faster than needed", position{3, 0}, position{3, 0}, Seen{Remains: 250, Rate: 1000, Left: time.Second}},
		{"it is much faster", position{3, 0}, position{2, 0}, Seen{Remains: 249, Rate: 1000, Left: time.Second}},
		{"less than the least there is not", position{0, 0}, position{0, 0}, Seen{Remains: 1, Rate: 1000, Left: time.Second}},
		{"others need the server", position{3, 0}, position{2, quietLooks}, Seen{Remains: 100, Rate: 100, Left: time.Second, Slow: true}},
		{"... and it is late itself: down first", position{3, 0}, position{2, quietLooks}, Seen{Remains: 9000, Rate: 100, Left: -time.Second, Slow: true}},
		{"... a while without asking for more", position{2, quietLooks}, position{2, quietLooks - 1}, Seen{Remains: 9000, Rate: 100, Left: -time.Second}},
		{"... nor going down again", position{2, 2}, position{2, 1}, Seen{Remains: 9000, Rate: 100, Left: -time.Second, Slow: true}},
		{"... then up again", position{2, 0}, position{4, 0}, Seen{Remains: 9000, Rate: 100, Left: -time.Second}},
		{"... the least takes what it needs all the same", position{0, 0}, position{1, 0}, Seen{Remains: 1500, Rate: 1000, Left: time.Second, Slow: true}},
		{"nothing remains", position{3, 0}, position{3, 0}, Seen{Slow: true, Left: -time.Second}},
	} {
		if got := test.at.next(test.seen, steps); got != test.want {
			t.Errorf("%s: from %+v to %+v; want %+v", test.name, test.at, got, test.want)
		}
	}
}

// Rows that a second of each effort writes, on a server where nothing else runs.
var rates = []float64{3_000, 6_000, 10_000, 17_000, 30_000, 50_000, 80_000, 100_000}

// simulate runs a slot by looks alone, and returns how long it took, and the most effort.
func simulate(t *testing.T, rows int, within time.Duration) (took time.Duration, most int) {
	t.Helper()
	const buckets = 100
	run := New(Effort{Buckets: 4, Rows: 2000})
	if len(run.steps) != len(rates) {
		t.Fatalf("%d steps; want %d", len(run.steps), len(rates))
	}
	p := NewProgress(rows/buckets, within, Ledger{Buckets: buckets})
	written := 0.0
	for took < time.Hour {
		wait := run.Every(within)
		took += wait
		most = max(most, run.at.step)
		rate := rates[run.at.step]
		if written += rate * wait.Seconds(); written >= float64(rows) {
			return took - time.Duration((written-float64(rows))/rate*float64(time.Second)), most
		}
		finished := int(written) / (rows / buckets)
		run.Look(p.Seen(took, Ledger{Buckets: buckets, Finished: finished, Written: int(written), InThose: finished * (rows / buckets)}))
	}
	t.Fatal("it never ended")
	return 0, 0
}

func TestASlotEndsInTimeWithAsLittleAsThatTakes(t *testing.T) {
	for _, test := range []struct {
		rows   int
		within time.Duration
		took   time.Duration // at most
		most   int           // the largest step
	}{
		{20_000, 30 * time.Second, 7 * time.Second, 0},
		{200_000, 30 * time.Second, 25 * time.Second, 3},
		{400_000, 30 * time.Second, 30 * time.Second, 4},
		{2_000_000, 30 * time.Second, 30 * time.Second, 7},
		{1_000_000, time.Second, 11 * time.Second, 7},        // as fast as the server allows: 10 s
		{10_000_000, 30 * time.Second, 104 * time.Second, 7}, // the same: 100 s
		{5_000, time.Second, time.Second, 2},                 // little
		{200_000, time.Hour, 67 * time.Second, 0},            // much time
		{60_000, time.Second, 1200 * time.Millisecond, 7},    // about what there is time for
		{40_000, time.Second, 1050 * time.Millisecond, 7},    // the same
		{25_000, time.Second, time.Second, 6},                // the same
	} {
		took, most := simulate(t, test.rows, test.within)
		if took > test.took || most > test.most {
			t.Errorf("%d rows within %s took %s, up to step %d; want %s and %d", test.rows, test.within, took, most, test.took, test.most)
		}
	}
}
