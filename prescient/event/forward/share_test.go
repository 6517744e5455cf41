package forward

import (
	"slices"
	"testing"
)

func TestShare(t *testing.T) {
	for _, test := range []struct {
		name                    string
		forwarders, lives, mine int
		take, give              int
	}{
		{"alone, all are free", 1, 0, 0, 64, 0},
		{"alone, but not seen as alive yet", 0, 0, 0, 64, 0},
		{"alone with all", 1, 64, 64, 0, 0},
		{"a second has come", 2, 64, 64, 0, 32},
		{"the second, before the first has given any", 2, 64, 0, 0, 0},
		{"the second, once it has", 2, 32, 0, 32, 0},
		{"one of three, whose shares are not equal", 3, 42, 0, 22, 0},
		{"one of three with too many", 3, 64, 32, 0, 10},
		{"one of three, and few are free", 3, 60, 10, 4, 0},
		{"more than shards", 100, 64, 1, 0, 0},
		{"one has died", 2, 32, 32, 0, 0},
		{"it is forgotten", 1, 32, 32, 32, 0},
	} {
		leases := make([]holder, 64)
		for i := range leases {
			leases[i] = holder{Shard: i, Lives: i < test.lives, Forwarders: test.forwarders}
		}
		take, give := share(leases, test.mine)
		if len(take) != test.take || give != test.give {
			t.Errorf("%s: takes %d, gives %d; want %d and %d", test.name, len(take), give, test.take, test.give)
		}
		if !slices.IsSorted(take) || slices.ContainsFunc(take, func(shard int) bool { return leases[shard].Lives }) {
			t.Errorf("%s: takes %d", test.name, take)
		}
	}
}

func TestTheFirstRouteThatTakesATopicCounts(t *testing.T) {
	routes := []Route{{Topics: "a"}, {Topics: "a.*"}, {Topics: "b*"}}
	for topic, want := range map[string]int{"a": 0, "a.b": 1, "a.": 1, "ab": -1, "b": 2, "bc": 2, "c": -1} {
		got := -1
		for i := range routes {
			if routeOf(routes, topic) == &routes[i] {
				got = i
			}
		}
		if got != want {
			t.Errorf("%s goes by route %d; want %d", topic, got, want)
		}
	}
	routes = append(routes, Route{Topics: "*"})
	if routeOf(routes, "c") != &routes[3] {
		t.Error("* alone does not take every topic")
	}
}
