package service

import (
	"testing"
	"testing/synctest"
	"time"
)

// While an agent drains the watchdog is told that it is well, for as long as that may take, and then for good; once it is to work again it has some time.
func TestWhatDrainsIsWellForAsLongAsItMay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		rests := new(idle)
		well := func(what string, want bool) {
			t.Helper()
			if rests.isWell() != want {
				t.Errorf("%s: well is %v", what, !want)
			}
		}
		well("at work", false)
		rests.forSome(settleTime)
		well("ending", true)
		time.Sleep(settleTime)
		well("ending for too long", false)
		rests.always()
		time.Sleep(10_000 * time.Hour)
		well("drained", true)
		rests.forSome(settleTime)
		time.Sleep(settleTime + 1)
		well("beginning for too long", false)
		rests.forSome(settleTime)
		rests.over()
		well("at work again", false)
	})
}
