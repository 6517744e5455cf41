package campaign

import (
	"strings"
	"testing"

	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/stage"
)

// A scenario that has nothing to break on a server is no scenario in which all went well.
func TestWhatIsNotPlayedIsSaid(t *testing.T) {
	scenarios, unknown := Named("node-kill")
	if unknown != "" {
		t.Fatal(unknown)
	}
	all := Campaign{Engines: []stage.Engine{{Name: "single"}}, Scenarios: scenarios, Log: t.Logf}.Run(t.Context())
	if len(all) != 1 || all[0].String() != "single node-kill: not played: it needs a cluster of its own" {
		t.Errorf("outcomes %v", all)
	}
	var table strings.Builder
	if Print(&table, all); !strings.Contains(table.String(), "not played: it needs a cluster of its own") {
		t.Error(table.String())
	}
	if good, err := Judge(all); good || err == nil {
		t.Errorf("a campaign that played nothing is good: %t, %v", good, err)
	}
	if good, err := Judge(append(all, Outcome{Report: checker.Report{Rows: 3}})); !good || err != nil {
		t.Errorf("what was played is good, and the campaign is not: %t, %v", good, err)
	}
}
