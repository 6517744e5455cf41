package doctor

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient/blocking"
)

func TestWhatOthersSendCanBeLeftOut(t *testing.T) {
	found := blocking.Report{Chains: []blocking.Node{{Session: blocking.Session{ID: 5, Last: "SELECT secret"}, Behind: []blocking.Node{{Session: blocking.Session{ID: 6, Statement: "UPDATE secret"}, Waits: &blocking.Wait{Seconds: 60}}}}},
		Locked: []blocking.LockedRow{{JobExec: "ship", By: []blocking.Session{{ID: 5, Statement: "DELETE secret", Open: 9}}}}}
	texts := func() (all string) {
		for _, f := range append(blockingFindings(found, time.Second), lockedFindings(found)...) {
			all += f.Text + f.Do
		}
		return all
	}
	if got := texts(); strings.Count(got, "secret") != 2 {
		t.Errorf("%s", got)
	}
	withoutStatements(&found)
	if got := texts(); strings.Contains(got, "secret") || !strings.Contains(got, "connection 5") {
		t.Errorf("%s", got)
	}
}
