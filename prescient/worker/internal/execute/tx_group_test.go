package execute

import (
	"testing"
	"time"

	"prescient/prescient/worker/internal/check"
)

func TestTransactionsAreAsLargeAsTheyAreQuick(t *testing.T) {
	for _, c := range []struct {
		group, rows int
		held        time.Duration
		want        int
	}{
		{50, 50, 100 * time.Millisecond, 100},
		{300, 300, 399 * time.Millisecond, 600},
		{600, 600, 399 * time.Millisecond, 1000},
		{1000, 1000, time.Millisecond, 1000},
		{50, 49, time.Millisecond, 50}, // says nothing of 50
		{50, 50, 400 * time.Millisecond, 50},
		{50, 50, 2 * time.Second, 50},
		{50, 50, 3 * time.Second, 25},
		{25, 50, 3 * time.Second, 25}, // another of 50 took as long
		{40, 50, 3 * time.Second, 25},
		{50, 20, 3 * time.Second, 10},
		{50, 1, 3 * time.Second, 50},
		{2, 2, 3 * time.Second, 1},
		{1, 1, time.Millisecond, 2},
		{50, 50, 0, 50}, // it came to nothing
	} {
		if got := nextGroup(c.group, c.rows, c.held); got != c.want {
			t.Errorf("after %d of %d rows in %v: %d; want %d", c.rows, c.group, c.held, got, c.want)
		}
	}
}

// A bucket is read in parts, the first of which are small. What waits of it together shares a transaction; what is called by itself, and
// what other buckets have, does not.
func TestWhatWaitsOfABucketSharesATransaction(t *testing.T) {
	one, other := new(sink), new(sink)
	lane := &Lane{Handler: newTx(txBatchFunc(nil), 10)}
	add := func(s *sink, alone bool, n int) {
		lane.queue = append(lane.queue, &Task{Rows: make([]*check.Answered, n), Lane: lane, Sink: s, Alone: alone})
	}
	add(one, false, 2)
	add(other, false, 3)
	add(one, false, 4)
	add(one, true, 1)
	add(one, false, 7)
	add(other, false, 12)
	for i, want := range []struct {
		of   *sink
		rows int
	}{{one, 10}, {other, 10}, {one, 1}, {one, 3}, {other, 5}} {
		task, ok := lane.pop(false)
		if !ok || task.Sink != want.of || len(task.Rows) != want.rows {
			t.Errorf("transaction %d: %d rows, want %d", i, len(task.Rows), want.rows)
		}
	}
	if _, ok := lane.pop(false); ok || len(lane.queue) > 0 {
		t.Error("rows are left")
	}
}
