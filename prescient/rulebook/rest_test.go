package rulebook

import (
	"testing"
	"testing/synctest"
	"time"
)

// A step rests for as long as it has worked since it last rested, and not once more for a part after which it rested already.
func TestAStepRestsForAsLongAsItWorks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		s := step{since: began}
		var worked time.Duration
		for _, one := range []struct{ work, least, rests time.Duration }{
			{3 * time.Second, 0, 3 * time.Second},
			{0, 0, 0},
			{2 * time.Second, 0, 2 * time.Second},
			{time.Second, 5 * time.Second, 5 * time.Second}, // it waits for what others have locked
			{time.Second, 0, time.Second},
		} {
			time.Sleep(one.work)
			worked += one.work
			before := time.Now()
			if err := s.rest(t.Context(), one.least); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(before); took != one.rests {
				t.Errorf("after %v of work it rested for %v, where it was to rest for %v", one.work, took, one.rests)
			}
		}
		if all := time.Since(began); all != 2*worked+4*time.Second {
			t.Errorf("%v of work took %v", worked, all)
		}
	})
}
