package shards

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	text "prescient/sql"
)

// vschema is what is read here of one.
type vschema struct {
	Sharded     bool
	ForeignMode string `json:"foreign_key_mode"`
	Vindexes    map[string]struct{ Type string }
	Tables      map[string]struct {
		Type    string
		Columns []struct{ Column, Name string } `json:"column_vindexes"`
	}
}

func read(t *testing.T, printed []byte) (v vschema) {
	t.Helper()
	if err := json.Unmarshal(printed, &v); err != nil {
		t.Fatalf("%v in %s", err, printed)
	}
	return v
}

func TestEachTableLiesByItsKeyOrItsPlaceOrOnEachShard(t *testing.T) {
	printed, err := VSchema("p_", nil)
	if err != nil {
		t.Fatal(err)
	}
	v := read(t, printed)
	for _, name := range text.Tables("") {
		of, there := v.Tables["p_"+name]
		switch {
		case !there:
			t.Errorf("%s is left out", name)
		case of.Type == "reference" && len(of.Columns) == 0:
		case len(of.Columns) != 1 || v.Vindexes[of.Columns[0].Name].Type == "":
			t.Errorf("%s: %+v", name, of)
		}
	}
	if of := v.Tables["p_future_job"]; !v.Sharded || of.Columns[0].Column != "job_key" || v.Vindexes[of.Columns[0].Name].Type != "binary" {
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
	v := read(t, printed)
	if v.ForeignMode != "unmanaged" || v.Vindexes["hash"].Type != "xxhash" || v.Tables["orders"].Columns[0].Name != "hash" || v.Tables["future_job"].Columns[0].Column != "job_key" {
		t.Errorf("%s", printed)
	}
	again, err := VSchema("", printed)
	if err != nil || string(again) != string(printed) {
		t.Errorf("printed into itself it is another: %s, %v", again, err)
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
