package shards

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	text "prescient/sql"
)

func mustRead(t *testing.T, printed []byte) kept {
	t.Helper()
	k, err := read(printed)
	if err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	return k
}

func TestEachTableLiesByItsKeyOrItsPlaceOrOnEachShard(t *testing.T) {
	printed, err := VSchema("p_", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := mustRead(t, printed)
	for _, name := range text.Tables("") {
		of, there := v.Tables["p_"+name]
		switch {
		case !there:
			t.Errorf("%s is left out", name)
		case of.Type == "reference" && len(of.By) == 0:
		case len(of.By) != 1 || v.Vindexes[of.By[0].Name].Type == "":
			t.Errorf("%s: %+v", name, of)
		}
	}
	if of := v.Tables["p_future_job"]; !v.Sharded || of.By[0].Column != "job_key" || v.Vindexes[of.By[0].Name].Type != "binary" {
		t.Errorf("%s", printed)
	}
	for _, name := range slices.Concat(byKey, byPlace) {
		if !slices.Contains(text.Tables(""), name) {
			t.Errorf("there is no table %s", name)
		}
	}
}

func TestWhatAKeyspaceHasStaysInItsVSchema(t *testing.T) {
	has := `{"sharded": true, "foreign_key_mode": "unmanaged", "vindexes": {"hash": {"type": "xxhash"}},
		"tables": {"orders": {"column_vindexes": [{"column": "id", "name": "hash"}]}, "future_job": {"type": "reference"}}}`
	printed, err := VSchema("", []byte(has))
	if err != nil {
		t.Fatal(err)
	}
	v := mustRead(t, printed)
	if !strings.Contains(string(printed), `"foreign_key_mode":"unmanaged"`) || v.Vindexes["hash"].Type != "xxhash" || v.Tables["orders"].By[0].Name != "hash" || v.Tables["future_job"].By[0].Column != "job_key" {
		t.Errorf("%s", printed)
	}
	again, err := VSchema("", printed)
	if err != nil || string(again) != string(printed) {
		t.Errorf("printed into itself it is another: %s, %v", again, err)
	}
	for _, test := range []struct{ before, after, want string }{
		{has, string(printed), "vindex prescient_key is binary\n|agent lies on each shard for itself\n|\nfuture_job lies by job_key (binary), no longer on each shard for itself\n"},
		{string(printed), string(printed), ""},
		{"", `{"sharded": true}`, "the keyspace is sharded"},
		{`{"vindexes": {"a": {"type": "hash"}}, "tables": {"x": {}}}`, `{"vindexes": {"a": {"type": "binary"}}, "tables": {"x": {"column_vindexes": [{"columns": ["b", "c"], "name": "a"}]}}}`,
			"vindex a is binary, no longer hash\nx lies by b, c (binary), no longer by nothing (no vindex)"},
	} {
		changes, err := Changes([]byte(test.before), []byte(test.after))
		got := strings.Join(changes, "\n")
		for want := range strings.SplitSeq(test.want, "|") {
			if err != nil || !strings.Contains(got, want) || test.want == "" && got != "" || strings.Contains(got, "orders") {
				t.Errorf("no %q in %q, %v", want, got, err)
			}
		}
	}
}

// What somebody added to a table of ours stays where the table lies right, as further vindexes.
func TestWhatLiesWhereItIsToStaysAsItIs(t *testing.T) {
	has := `{"sharded": true, "vindexes": {"key": {"type": "binary", "params": {}}, "look": {"type": "consistent_lookup"}}, "tables": {"future_job":
		{"type": "", "column_vindexes": [{"column": "", "columns": ["job_key"], "name": "key"}, {"column": "tag", "name": "look"}], "pinned": ""}}}`
	printed, err := VSchema("", []byte(has))
	if err != nil || !strings.Contains(string(printed), `"look"}],"pinned":""`) || strings.Contains(string(printed), `"column":"job_key","name":"key"`) {
		t.Errorf("%s, %v", printed, err)
	}
}

func TestAVSchemaThatIsNoneOrOfOneShardIsRefused(t *testing.T) {
	for has, says := range map[string]string{
		"{":                          "JSON",
		"[]":                         "JSON",
		`{"tables": 3}`:              "JSON",
		`{"tables": {"orders": {}}}`: "not sharded",
		`{"sharded": false, "tables": {"orders": {}}}`: "not sharded",
	} {
		if printed, err := VSchema("", []byte(has)); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), says) || printed != nil {
			t.Errorf("%s: %s, %v", has, printed, err)
		}
	}
	if _, err := VSchema("No", nil); !errors.Is(err, prescient.ErrInvalid) {
		t.Error(err)
	}
	for _, has := range []string{"", " \n", "{}", `{"sharded": true}`, `{"tables": null}`} {
		if _, err := VSchema("", []byte(has)); err != nil {
			t.Errorf("%q: %v", has, err)
		}
	}
}
