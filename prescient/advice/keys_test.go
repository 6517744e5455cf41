package advice

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"
)

// Each range begins where the one before ended, and the last one ends at the last key.
func TestRangesOfKeysGrowWhileTheyAreFast(t *testing.T) {
	for _, test := range []struct {
		what string
		took time.Duration // a statement of all keys
		most int           // statements
	}{{"empty", 0, 7}, {"small", 100 * time.Millisecond, 7}, {"large", 30 * time.Second, 40}, {"huge", 2 * time.Hour, 8000}} {
		p, before, n := firstPage, []byte{}, 0
		for ; ; n++ {
			to := p.to()
			if bytes.Compare(to[:], before) <= 0 {
				t.Fatalf("%s: %x follows %x", test.what, to, before)
			}
			if before = slices.Clone(to[:]); to == lastKey {
				break
			}
			took := time.Duration(float64(test.took) * p.span)
			if took > 8*aim {
				t.Fatalf("%s: a statement takes %s", test.what, took)
			}
			p = p.next(false, took, aim)
		}
		if n > test.most {
			t.Errorf("%s: %d statements", test.what, n)
		}
	}
}

func TestPagesGrowWhileTheyAreFast(t *testing.T) {
	p := firstPage
	var got []int
	for _, took := range []time.Duration{time.Millisecond, 0, 100 * time.Millisecond, 3 * time.Second, time.Minute, time.Minute, time.Minute} {
		got = append(got, p.limit)
		p = p.next(true, took, aim)
	}
	if want := []int{1000, 4000, 16000, 64000, 21333, 5333, 1333}; !slices.Equal(got, want) || p.limit != 1000 || p.from != 0 || p.span != firstRange {
		t.Errorf("%v; want %v; then %+v", got, want, p)
	}
}

// Kinds of entities are an app's: there may be any number, and what is said of them is bounded.
func TestGroupsAreNamedUpToABound(t *testing.T) {
	var rows []row
	for i := range 1000 {
		rows = append(rows, row{jobExec: "order-unshipped", entity: fmt.Sprintf("kind-%03d", i)})
	}
	groups, further := grouped(append(rows, rows[7]), Options{})
	if len(groups) != MaxNamed || further != 1000-MaxNamed || groups[0].Entity != "kind-007" || groups[MaxGroups].None == "" {
		t.Errorf("%d groups and %d further; %+v", len(groups), further, groups[0])
	}
}
