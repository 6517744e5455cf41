package door

import (
	"slices"
	"testing"
)

func TestEachRightIsTriedByItself(t *testing.T) {
	got := triesOf("p_x", "SELECT (a, b), INSERT ({entry_columns}), UPDATE (c, d), DELETE")
	want := []try{{"SELECT", "EXPLAIN SELECT a, b FROM p_x WHERE 1 = 0"}, {"INSERT", "EXPLAIN INSERT INTO p_x () VALUES ()"},
		{"UPDATE", "EXPLAIN UPDATE p_x SET c = NULL, d = NULL WHERE 1 = 0"}, {"DELETE", "EXPLAIN DELETE FROM p_x WHERE 1 = 0"}}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := triesOf("p_x", "SELECT, INSERT (a, b), UPDATE"); !slices.Equal(got, []try{{"SELECT", "EXPLAIN SELECT * FROM p_x WHERE 1 = 0"},
		{"INSERT", "EXPLAIN INSERT INTO p_x (a, b) VALUES (NULL, NULL)"}, {"UPDATE", "EXPLAIN UPDATE p_x SET no_such_column = NULL WHERE 1 = 0"}}) {
		t.Errorf("%q", got)
	}
}
