package shards

import (
	"slices"
	"testing"

	text "prescient/sql"
)

// What a reshard does not copy is decided, table by table.
func TestEachTableThatNoReshardCopiesIsDecided(t *testing.T) {
	printed, err := VSchema("", nil)
	if err != nil {
		t.Fatal(err)
	}
	v, err := read(printed)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]bool)
	for _, table := range owns {
		if seen[table.name] || table.why == "" || v.Tables[table.name].Type != "reference" {
			t.Errorf("%s: %+v, %q", table.name, v.Tables[table.name], table.why)
		}
		seen[table.name] = true
	}
	for name, of := range v.Tables {
		if of.Type == "reference" && !seen[name] {
			t.Errorf("nobody has decided whether a new shard is to have the rows of %s", name)
		}
	}
	copied := slices.DeleteFunc(slices.Clone(owns), func(o own) bool { return !o.same })
	if last := copied[len(copied)-1].name; last != "slot_config" {
		t.Errorf("%s is copied behind slot_config", last)
	}
	for _, name := range []string{"schema_version", "schema_lock"} { // which migrate makes beside those of text.Tables
		if slices.Contains(text.Tables(""), name) || !seen[name] {
			t.Errorf("%s is not there for itself", name)
		}
	}
}
