package machine

import (
	"fmt"
	"reflect"
	"slices"
	"testing"
)

// A table that lacks an action or a rule, or goes on in another state, is found by the example of a cell: none of them could be left out.
func TestEachChangeOfTheTableIsFoundByAnExample(t *testing.T) {
	for _, s := range States {
		for _, k := range Kinds {
			rules := Table[s][k].Rules
			for i, rule := range rules {
				idle := rule.Next == s && len(rule.Do) == 0
				if !(idle && i == len(rules)-1) { // which says what holds without it
					unfound(t, s, k, fmt.Sprintf("rule %d is left out", i+1), slices.Delete(slices.Clone(rules), i, i+1))
				}
				for n, action := range rule.Do {
					lacks := rule
					lacks.Do = slices.Delete(slices.Clone(rule.Do), n, n+1)
					unfound(t, s, k, fmt.Sprintf("rule %d does not %s", i+1, action.Name), with(rules, i, lacks))
				}
				for _, next := range States {
					if next != rule.Next {
						goes := rule
						goes.Next = next
						unfound(t, s, k, fmt.Sprintf("rule %d goes to %s", i+1, next), with(rules, i, goes))
					}
				}
			}
		}
	}
}

func with(rules []Rule, i int, rule Rule) []Rule {
	changed := slices.Clone(rules)
	changed[i] = rule
	return changed
}

// unfound says so where no example tells a cell from the one that it is changed to.
func unfound(t *testing.T, s State, k Kind, what string, rules []Rule) {
	t.Helper()
	table := Table
	table[s][k].Rules = rules
	for _, tt := range cells {
		if tt.m.State != s || tt.e.Kind != k {
			continue
		}
		if got, do := table.Step(tt.m, tt.here, noon, tt.e); got != tt.want || !reflect.DeepEqual(do, tt.do) {
			return
		}
	}
	t.Errorf("%s %s: no example finds that %s", s, k, what)
}
