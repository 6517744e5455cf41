package execute

import (
	"testing"
	"time"
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
