package operate

import (
	"bytes"
	"strings"
	"testing"

	"prescient/prescient/blocking"
)

func TestWhatIsNotKnownOfWaitsIsNotSaidAsAFact(t *testing.T) {
	waits := func(perhaps bool) []blocking.Node {
		return []blocking.Node{{Session: blocking.Session{ID: 7}, Waits: &blocking.Wait{Kind: blocking.Metadata, Perhaps: perhaps, Seconds: 2}}}
	}
	node := func(id uint64, perhaps bool) blocking.Report {
		return blocking.Report{Chains: []blocking.Node{{Session: blocking.Session{ID: id}, End: "KILL 205", Behind: waits(perhaps)}}}
	}
	for name, c := range map[string]struct {
		found blocking.Report
		want  string
		not   string
	}{
		"who is in the way": {node(205, false), "→ KILL 205 ends this session and rolls its transaction back. Sessions that wait for it: 1.", "erhaps"},
		"who may be":        {node(205, true), "→ Sessions that perhaps wait for it: 1. First see whether it has used the table", "all tables"},
		"what may be waited for": {node(205, true),
			"connection 7, waits 2s for the metadata lock of a table, perhaps for this session\n", "→ KILL 205"},
		"a prepared transaction":           {node(0, false), "a transaction without a connection\n  → Mostly that is a prepared XA transaction", "ends this session"},
		"nothing, of one who sees nothing": {blocking.Report{Blind: true}, "Whether sessions wait for others does not show.", "No session"},
		"rows of which none was read":      {blocking.Report{Skipped: true}, "none was looked at", "first ones"},
		"what one right shows twice": {blocking.Report{Unseen: []blocking.Unseen{{What: "a", Do: "GRANT"}, {What: "b", Do: "GRANT"}}},
			"Not shown is a.\nNot shown is b.\n      → GRANT\n", "GRANT\nNot"},
	} {
		var out bytes.Buffer
		if err := sayBlocking(&out, c.found, false); err != nil || !strings.Contains(out.String(), c.want) || strings.Contains(out.String(), c.not) {
			t.Errorf("%s: %v\n%s", name, err, &out)
		}
	}
}
