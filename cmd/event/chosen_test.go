package event

import (
	"testing"

	"prescient/prescient/event"
)

func TestADryRunSaysHowFarItCounted(t *testing.T) {
	for want, is := range map[string]event.MatchCount{
		"resent 7": {Count: 7, Whole: true},
		"resent 7 or more: only the first 100000 events that were set aside were looked at, and all that match would be resent": {Count: 7},
	} {
		if got := countOf(is, "resent"); got != want {
			t.Errorf("%+v: %s", is, got)
		}
	}
}
