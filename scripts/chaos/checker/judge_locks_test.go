package checker

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/scripts/chaos/checker/evidence"
)

// keysInOrder returns names of entities whose rows follow one another in UNIQUE (job_key).
func keysInOrder() []string {
	var keys []string
	for i := range 6 {
		keys = append(keys, fmt.Sprintf("k%d", i))
	}
	of := func(key string) []byte { jobKey := jobKeyOf(rules.Entity, key, "check", ""); return jobKey[:] }
	slices.SortFunc(keys, func(a, b string) int { return bytes.Compare(of(a), of(b)) })
	return keys
}

// A row that somebody else has locked is given back in the end, and called again. The checker takes that for sound where an
// app, or a worker that was cut off, had the row or one beside it in a transaction between the two calls, and only there.
func TestACallIsRepeatedWhereSomebodyElseHadTheRowLocked(t *testing.T) {
	keys := keysInOrder()
	const row = 2 // of keys: called by a at 2.1 s, and again by b at 2.6 s
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	there := func(at int) []Event { // pending to the end
		return []Event{{Kind: Insert, At: ms(100), ID: int64(10 + at), Key: keys[at], Exec: "check", Result: Committed, Due: noon.Add(time.Hour)}}
	}
	open := func(at, from, to int) []Event {
		return []Event{{Kind: Insert, At: ms(to), Took: ms(to - from), ID: int64(10 + at), Key: keys[at], Exec: "check", Result: Committed, Due: noon.Add(time.Hour)}}
	}
	call := func(at, when int, worker string, revision uint64) []Event {
		e := calledAt(ms(when), int64(100*at+when), worker)
		e.ID, e.Key, e.Revision = int64(10+at), keys[at], revision
		return []Event{e}
	}
	cutOff := func(worker string, from, to int) []Event {
		return []Event{{Kind: Fault, What: "split", Worker: worker, At: ms(from), Took: ms(to - from)}}
	}
	for _, tt := range []struct {
		name       string
		neighbours bool
		events     [][]Event
		want       bool // it is found
	}{
		{"nothing explains it", true, nil, true},
		{"an insert after it was open", true, [][]Event{open(row+1, 1900, 2700)}, false},
		{"an insert before it was open", true, [][]Event{open(row-1, 1900, 2700)}, false},
		{"the server locks no neighbours", false, [][]Event{open(row+1, 1900, 2700)}, true},
		{"the insert was over before the first call", true, [][]Event{open(row+1, 1500, 2050)}, true},
		{"the insert began after the second call", true, [][]Event{open(row+1, 2650, 2900)}, true},
		{"another row is between", true, [][]Event{there(row + 1), open(row+2, 1900, 2700)}, true},
		{"another row may have been gone by then", true, [][]Event{there(row + 1), {{Kind: Cancel, ID: row + 11, Result: Committed, At: ms(1800)}},
			open(row+2, 1900, 2700)}, false},
		{"the app had the row itself", false, [][]Event{{{Kind: Reschedule, ID: row + 10, At: ms(2500), Took: ms(300), Result: RolledBack}}}, false},
		{"a worker was cut off that had called the row before", false, [][]Event{call(row, 2050, "c", 7), cutOff("c", 2060, 4500)}, false},
		{"it was cut off for a moment only", false, [][]Event{call(row, 2050, "c", 7), cutOff("c", 2090, 2500)}, true},
		{"it was cut off after that", false, [][]Event{call(row, 2050, "c", 7), cutOff("c", 2650, 4500)}, true},
		{"a worker was cut off that had called the neighbour", true, [][]Event{there(row - 1), call(row-1, 2050, "c", 5), cutOff("c", 2060, 4500)}, false},
		{"the server locks no neighbours, and that worker's was one", false, [][]Event{there(row - 1), call(row-1, 2050, "c", 5), cutOff("c", 2060, 4500)}, true},
		{"its call was over: the row has moved on since", true, [][]Event{there(row - 1), call(row-1, 2010, "c", 5), call(row-1, 2080, "d", 6), cutOff("c", 2060, 4500)}, true},
		{"a worker was cut off that had called another row", true, [][]Event{there(row + 1), there(row + 2), call(row+2, 2050, "c", 5), cutOff("c", 2060, 4500)}, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			events := slices.Concat([]Event{told(0), {Kind: Insert, ID: row + 10, Key: keys[row], Exec: "check", Result: Committed, Due: noon.Add(1500 * time.Millisecond)}},
				call(row, 2100, "a", 7), call(row, 2600, "b", 7), slices.Concat(tt.events...))
			slices.SortStableFunc(events, func(a, b Event) int { return int(a.At - b.At) })
			tables := evidence.Tables{Ended: []evidence.Ended{{ID: row + 10, Outcome: "done", Slot: noon.Add(2 * time.Second), Worker: "b", Revision: 7}}, Runs: booked(1)}
			for _, e := range events {
				if e.Kind == Insert && e.ID != row+10 && !slices.ContainsFunc(events, func(c Event) bool { return c.Kind == Cancel && c.ID == e.ID }) {
					tables.Pending = append(tables.Pending, evidence.Pending{ID: e.ID, Next: noon.Add(time.Hour)})
				}
			}
			asked := rules
			asked.LocksNeighbours = tt.neighbours
			report := Judge(asked, events, tables)
			found := slices.ContainsFunc(report.Findings, func(f Finding) bool { return f.Rule == "twice" })
			if found != tt.want {
				t.Errorf("found %v; want one of twice: %t", report.Findings, tt.want)
			}
		})
	}
}
