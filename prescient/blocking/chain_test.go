package blocking

import (
	"fmt"
	"testing"
)

// waitsOf reads "2>1 3>2": 2 waits for 1, and 3 for 2; "2q1" is one that waits behind 1 in a queue. Each waits for as many
// seconds as its number is, for a row of ours, or of another table where the number is above 10.
func waitsOf(pairs ...string) (waits []Wait) {
	for _, pair := range pairs {
		w := Wait{Kind: Row, Schema: "shop", Table: "future_job"}
		var how rune
		if _, err := fmt.Sscanf(pair, "%d%c%d", &w.Waiting, &how, &w.Blocking); err != nil {
			panic(err)
		}
		w.queued = how == 'q'
		w.Seconds = int64(w.Waiting)
		if w.Waiting > 10 {
			w.Table = "orders"
		}
		waits = append(waits, w)
	}
	return waits
}

func TestChainsGoFromTheirRootsToTheLastThatWaits(t *testing.T) {
	for name, c := range map[string]struct {
		waits []Wait
		want  string
	}{
		"nobody waits":                              {nil, ""},
		"one waits":                                 {waitsOf("2>1"), "1(2)"},
		"a chain of three":                          {waitsOf("3>2", "2>1"), "1(2(3))"},
		"the longest first":                         {waitsOf("2>1", "3>1", "5>1"), "1(5 3 2)"},
		"two roots, that of the longest first":      {waitsOf("3>1", "4>2"), "2(4) 1(3)"},
		"one that waits for two":                    {waitsOf("3>1", "3>2"), "1(3) 2(3)"},
		"who is before in a queue is no root":       {waitsOf("2>1", "3>1", "3q2", "4>1", "4q2", "4q3"), "1(4 3 2)"},
		"who is before is one where nobody has it":  {waitsOf("2>1", "3q2"), "1(2(3))"},
		"the same twice":                            {waitsOf("2>1", "2>1"), "1(2)"},
		"two that wait for each other":              {waitsOf("1>2", "2>1", "3>2"), "circle 1(2(3))"},
		"a circle beside a chain":                   {waitsOf("1>2", "2>1", "4>3"), "3(4) circle 1(2)"},
		"others' tables do not concern us":          {waitsOf("11>1", "12>11"), ""},
		"but what waits for ours behind them does":  {waitsOf("11>1", "2>11", "12>1"), "1(11(2))"},
		"others behind one that waits for ours not": {waitsOf("2>1", "11>2"), "1(2)"},
	} {
		ours := func(w Wait) bool { return w.Table == "future_job" }
		end := func(s Session) string { return fmt.Sprint("KILL ", s.ID) }
		found := chains(nil, c.waits, ours, end)
		if got := drawn(found); got != c.want {
			t.Errorf("%s: %s; want %s", name, got, c.want)
		}
		for _, root := range found {
			if root.End != fmt.Sprint("KILL ", root.ID) || root.Waits != nil || root.Behind[0].Waits == nil || root.Behind[0].End != "" {
				t.Errorf("%s: %+v", name, root)
			}
		}
	}
}

func drawn(nodes []Node) (text string) {
	for i, n := range nodes {
		if i > 0 {
			text += " "
		}
		if n.Circle {
			text += "circle "
		}
		text += fmt.Sprint(n.ID)
		if len(n.Behind) > 0 {
			text += "(" + drawn(n.Behind) + ")"
		}
	}
	return text
}

// However many wait for however many, what is returned is bounded.
func TestChainsOfManyThatWaitForManyAreBounded(t *testing.T) {
	var waits []Wait
	for level := range uint64(20) {
		for a := range uint64(10) {
			for b := range uint64(10) {
				waits = append(waits, Wait{Waiting: 10*(level+1) + a + 1, Blocking: 10*level + b + 1, Kind: Row})
			}
		}
	}
	found := chains(nil, waits, func(Wait) bool { return true }, func(Session) string { return "" })
	n := len(found)
	for _, root := range found {
		n += root.Waiting()
	}
	if n == 0 || n > 2*maxNodes {
		t.Errorf("%d sessions are named", n)
	}
}

func TestAChainSaysHowManyWaitAndForHowLong(t *testing.T) {
	root := chains(nil, waitsOf("2>1", "7>2", "3>1"), func(Wait) bool { return true }, func(Session) string { return "" })[0]
	if root.Waiting() != 3 || root.Longest() != 7 {
		t.Errorf("%d wait, the longest for %d s", root.Waiting(), root.Longest())
	}
}

func TestWhatAWaitIsForIsSaidInWords(t *testing.T) {
	for want, w := range map[string]Wait{
		"a row of future_job, in PRIMARY":     {Kind: Row, Table: "future_job", Index: "PRIMARY"},
		"rows of future_job":                  {Kind: Row, Table: "future_job"},
		"the metadata lock of future_job":     {Kind: Metadata, Table: "future_job"},
		"the metadata lock of all tables":     {Kind: Metadata},
		"the metadata lock of a table":        {Kind: Metadata, Perhaps: true},
		"a row of job_history, in job_key":    {Kind: Row, Table: "job_history", Index: "job_key"},
		"the metadata lock of history_checks": {Kind: Metadata, Table: "history_checks", Index: "no matter"},
	} {
		if got := w.Of(); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

func TestWhatIsOurs(t *testing.T) {
	l := &look{database: "shop", named: map[string]bool{"future_job": true}}
	for name, c := range map[string]struct {
		wait Wait
		want bool
	}{
		"a row of ours":                       {Wait{Kind: Row, Schema: "shop", Table: "future_job"}, true},
		"a row of an app's":                   {Wait{Kind: Row, Schema: "shop", Table: "orders"}, false},
		"a row of another installation":       {Wait{Kind: Row, Schema: "bakery", Table: "future_job"}, false},
		"a row of MariaDB's dictionary":       {Wait{Kind: Row, Schema: "SYS_TABLES"}, false},
		"the metadata lock of ours":           {Wait{Kind: Metadata, Schema: "shop", Table: "future_job"}, true},
		"the metadata lock of the server":     {Wait{Kind: Metadata}, true},
		"the metadata lock of another's":      {Wait{Kind: Metadata, Schema: "bakery", Table: "future_job"}, false},
		"a row whose database is in capitals": {Wait{Kind: Row, Schema: "SHOP", Table: "future_job"}, true},
	} {
		if got := l.ours(c.wait); got != c.want {
			t.Errorf("%s: %t; want %t", name, got, c.want)
		}
	}
}

func TestMariaDBsNamesOfTablesAreRead(t *testing.T) {
	for name, want := range map[string][2]string{
		"`shop`.`future_job`":                       {"shop", "future_job"},
		"`shop`.`job_history` /* Partition `p1` */": {"shop", "job_history"},
		"`my.shop`.`orders`":                        {"my.shop", "orders"},
		"`SYS_TABLES`":                              {"SYS_TABLES", ""},
		"":                                          {"", ""},
	} {
		if schema, table := tableOf(name); schema != want[0] || table != want[1] {
			t.Errorf("%s: %q, %q", name, schema, table)
		}
	}
}
