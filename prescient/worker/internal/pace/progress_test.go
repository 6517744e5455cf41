package pace

import (
	"testing"
	"time"
)

func TestWhatRemainsIsEstimated(t *testing.T) {
	for _, test := range []struct {
		name   string
		ledger Ledger
		want   int
	}{
		{"none has ended", Ledger{Buckets: 10, Written: 1500}, 10*2000 - 1500},
		{"some have ended", Ledger{Buckets: 10, Finished: 4, Written: 12_500, InThose: 12_000}, 6*3000 - 500},
		{"all have ended", Ledger{Buckets: 10, Finished: 10, Written: 30_000, InThose: 30_000}, 0},
		{"one has more than was guessed", Ledger{Buckets: 1, Written: 2500}, 1},
		{"... of several", Ledger{Buckets: 10, Written: 12_000, Largest: 9000}, 10*9000 - 12_000},
		{"those that ended were empty", Ledger{Buckets: 10, Finished: 4}, 6},
	} {
		if got := test.ledger.remains(2000); got != test.want {
			t.Errorf("%s: %d; want %d", test.name, got, test.want)
		}
	}
}

func TestTheRateIsThatOfLate(t *testing.T) {
	p := NewProgress(2000, 10*time.Second, Ledger{Buckets: 10, Written: 500})
	for i, test := range []struct {
		written int
		rate    float64
	}{{600, 100}, {1500, 500}, {3500, 1450}, {6500, 2500}, {6500, 1500}, {6500, 0}} {
		s := p.Seen(time.Duration(i+1)*time.Second, Ledger{Buckets: 10, Written: test.written})
		if want := 10*time.Second - time.Duration(i+1)*time.Second; s.Rate != test.rate || s.Left != want || s.Early != (i < 2) {
			t.Errorf("look %d: %v rows a second, %s left; want %v and %s", i, s.Rate, s.Left, test.rate, want)
		}
	}
}

func TestASlotMayTakeATenthOfItsDistance(t *testing.T) {
	for resolution, want := range map[time.Duration]time.Duration{
		time.Second: time.Second, 10 * time.Second: time.Second, time.Minute: 6 * time.Second,
		5 * time.Minute: 30 * time.Second, 24 * time.Hour: 30 * time.Second,
	} {
		if got := Within(resolution); got != want {
			t.Errorf("%s: %s; want %s", resolution, got, want)
		}
	}
}
