package rig

import (
	"testing"
	"time"
)

func TestAReplicaIsBehindByItsSlowestBeatAndHasAllWithTheFirstBeatAfterTheLast(t *testing.T) {
	began := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	times := func(ms ...int) (list []time.Time) {
		for _, n := range ms {
			list = append(list, began.Add(time.Duration(n)*time.Millisecond))
		}
		return list
	}
	committed, seen := times(-20, 0, 20, 40, 60, 80), times(900, 5, 320, 330, 340, 999)
	most, after := behind(committed, seen, began, began.Add(50*time.Millisecond))
	if most != 300*time.Millisecond || after != 290*time.Millisecond {
		t.Errorf("behind by %v, all there after %v; want 300ms and 290ms", most, after)
	}
}
