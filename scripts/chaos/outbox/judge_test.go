package outbox

import (
	"slices"
	"strings"
	"testing"
)

// good is a ledger in which no promise is broken, though much was repeated.
func good() Ledger {
	message := func(id, key string) Consumed { return Consumed{id, key, bodyOf(id)} }
	return Ledger{
		Told: []Told{{ID: "a1", Key: "a", Number: 1, Fate: Committed}, {ID: "a2", Key: "a", Number: 2, Fate: RolledBack}, {ID: "a3", Key: "a", Number: 3, Fate: Unknown},
			{ID: "a4", Key: "a", Number: 4, Fate: Committed}, {ID: "b1", Key: "b", Number: 1, Fate: Unknown}, {ID: "bad", Key: "a", Number: 5, Fate: Committed, Bad: true}},
		Consumed: []Consumed{message("a1", "a"), message("a3", "a"), message("a1", "a"), message("a4", "a"), message("a3", "a"),
			{"tick-10", "tick", ""}, {"tick-11", "tick", ""}, {"tick-10", "tick", ""}, {"tick-12", "tick", ""}},
		Aside: map[string]bool{"bad": true}, Ticking: []string{"tick"}, Counted: 6,
	}
}

func TestEachRuleFindsWhatBreaksIt(t *testing.T) {
	for _, test := range []struct {
		rule   string
		breaks func(l *Ledger)
	}{
		{"", func(*Ledger) {}},
		{"lost", func(l *Ledger) { l.Consumed, l.Counted = slices.Delete(l.Consumed, 3, 4), 5 }},
		{"rolled back", func(l *Ledger) {
			l.Consumed, l.Counted = slices.Insert(l.Consumed, 1, Consumed{"a2", "a", bodyOf("a2")}), 7
		}},
		{"order", func(l *Ledger) {
			l.Consumed[1], l.Consumed[3], l.Consumed[4] = l.Consumed[3], l.Consumed[1], l.Consumed[3]
		}},
		{"order", func(l *Ledger) { l.Consumed[5], l.Consumed[8] = l.Consumed[8], l.Consumed[5] }},
		{"occurrence", func(l *Ledger) { l.Consumed, l.Counted = slices.Delete(l.Consumed, 6, 7), 5 }},
		{"unique", func(l *Ledger) { l.Consumed[2].Body = "another" }},
		{"content", func(l *Ledger) { l.Consumed[0].Body, l.Consumed[2].Body = "another", "another" }},
		{"content", func(l *Ledger) { l.Consumed[3].Key = "c" }},
		{"made up", func(l *Ledger) {
			l.Consumed, l.Counted = append(l.Consumed, Consumed{"x", "a", bodyOf("x")}), 7
		}},
		{"once", func(l *Ledger) { l.Calm = true }},
		{"refused", func(l *Ledger) { l.Aside = nil }},
		{"refused", func(l *Ledger) {
			l.Consumed, l.Counted = append(l.Consumed, Consumed{"bad", "a", bodyOf("bad")}), 7
		}},
		{"aside", func(l *Ledger) { l.Aside["a4"] = true }},
		{"waiting", func(l *Ledger) { l.Waiting = 1 }},
		{"count", func(l *Ledger) { l.Counted++ }},
	} {
		l := good()
		test.breaks(&l)
		found := Judge(l)
		if test.rule == "" && len(found) > 0 || test.rule != "" && (len(found) == 0 || !slices.ContainsFunc(found, func(f string) bool { return strings.HasPrefix(f, test.rule+":") })) {
			t.Errorf("%s: found %q", test.rule, found)
		}
	}
}
