package demo

import (
	"math/rand/v2"
	"testing"
)

// What the demonstration shows is no luck of its seed: other orders than those that the advice is from are found by fewer calls, and no later.
func TestAdvisedTimesTakeFewerCallsAndAreNoLater(t *testing.T) {
	shop := madeShops[0]
	for seed := range uint64(2) {
		j, err := judge(rand.New(rand.NewPCG(seed, 0)), shop.ships, shop.after)
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("seed %d: hourly %+v, advised %+v", seed, j.Hourly, j.Advised)
		if j.Advised.Calls > j.Hourly.Calls*0.6 || j.Advised.MeanLateSeconds > j.Hourly.MeanLateSeconds {
			t.Errorf("seed %d: advised %+v, hourly %+v", seed, j.Advised, j.Hourly)
		}
		if j.Hourly.AtGuard > 0 || j.Advised.AtGuard > 0 {
			t.Errorf("seed %d: %d and %d of %d ended by max_checks", seed, j.Hourly.AtGuard, j.Advised.AtGuard, j.Orders)
		}
	}
}
