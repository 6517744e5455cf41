package checker

import (
	"testing"

	"prescient/scripts/chaos/checker/evidence"
)

// The shards of these entities are those by which a keyspace has their rows: hashes of name and key.
func TestAnEventIsJudgedOnTheShardOfItsEntity(t *testing.T) {
	events := map[string]Event{
		"an insert": {Kind: Insert, Key: "k1"}, "its call": {Kind: Call, Key: "k1"},
		"a change of a schedule": {Kind: Plan, Key: "p0.1"}, "a call of its run": {Kind: Call, Key: "p0.1", Tag: "60"},
		"a step of a job": {Kind: Called, Key: "j1", Tag: "60"},
		"a fault of all":  {Kind: Fault}, "a fault of one": {Kind: Fault, Shard: "80-"}, "the time": {Kind: Clock},
	}
	lies := map[string]uint64{"an insert": evidence.PlaceOf("chaos", "k1"), "its call": evidence.PlaceOf("chaos", "k1"),
		"a change of a schedule": evidence.PlaceOf("schedule", "p0.1"), "a call of its run": evidence.PlaceOf("schedule", "p0.1"),
		"a step of a job": evidence.PlaceOf("schedule", "job/j1")}
	for _, shard := range []string{"-80", "80-"} {
		keys, err := evidence.KeysOf(shard)
		if err != nil {
			t.Fatal(err)
		}
		for name, e := range events {
			want := e.Shard == "" || e.Shard == shard
			if place, its := lies[name]; its {
				want = keys.Have(place)
			}
			if got := len(Of([]Event{e}, shard, keys, "chaos")) == 1; got != want {
				t.Errorf("%s is judged on %s: %t; want %t", name, shard, got, want)
			}
		}
	}
}

func TestTheVerdictOnTwoShardsIsThatOnBoth(t *testing.T) {
	r := Report{Rows: 3, Latest: 5, Ended: map[string]int{"done": 2}, Faults: map[string]int{"SIGKILL": 4}, Findings: []Finding{{Rule: "lost", Shard: "-80"}}}
	r.Add(Report{Rows: 4, Latest: 2, Lost: 1, Ended: map[string]int{"done": 1, "failed": 1}, Faults: map[string]int{"SIGKILL": 4}, Findings: []Finding{{Rule: "early", Shard: "80-"}}})
	if r.Rows != 7 || r.Latest != 5 || r.Lost != 1 || r.Ended["done"] != 3 || r.Ended["failed"] != 1 || r.Faults["SIGKILL"] != 4 || len(r.Findings) != 2 {
		t.Errorf("%+v", r)
	}
}
