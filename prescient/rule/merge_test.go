package rule

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"testing"

	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// merges are what becomes of constants and data, of which an empty text is none.
var merges = []struct{ Constant, Data, Want string }{
	{"", "", ""},
	{"", `{"a": null}`, `{"a": null}`},
	{`{"a": {"b": null}}`, "", `{"a": {"b": null}}`},
	{`{}`, `{}`, `{}`},
	{`{"a": 1}`, `{"b": 2}`, `{"a": 1, "b": 2}`},
	{`{"a": 1}`, `{"a": 2}`, `{"a": 2}`},
	{`{"a": 1}`, `{"a": null}`, `{"a": 1}`},
	{`{}`, `{"a": null, "b": {"c": null, "d": 1}}`, `{"b": {"d": 1}}`},
	{`{"a": {"b": 1, "c": 2}}`, `{"a": {"b": null, "d": 3}}`, `{"a": {"b": 1, "c": 2, "d": 3}}`},
	{`{"a": [1, 2]}`, `{"a": [3]}`, `{"a": [3]}`},
	{`{"a": [1, {"b": null}]}`, `{"c": [null, {"d": null}]}`, `{"a": [1, {"b": null}], "c": [null, {"d": null}]}`},
	{`{"a": 1}`, `{"a": {"b": 1}}`, `{"a": {"b": 1}}`},
	{`{"a": {"b": 1}}`, `{"a": "x"}`, `{"a": "x"}`},
	{`{"größe": "ü", "😀": 1}`, `{"größe": "<&>", "q": "a\"b\\c\u0007"}`, `{"größe": "<&>", "😀": 1, "q": "a\"b\\c\u0007"}`},
	{`{"a": true}`, `{"b": false, "n": 1.5, "i": 9007199254740993}`, `{"a": true, "b": false, "n": 1.5, "i": 9007199254740993}`},
	{`{"": 1}`, `{"": {"": null}}`, `{"": {}}`},
}

// What the client merges is what the procedure merges by the server.
func TestServersMergeAsTheClientDoes(t *testing.T) {
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		db := d.Open(t, "")
		list := merges
		random := rand.New(rand.NewPCG(7, uint64(len(merges))))
		for range 300 {
			constant, data := object(random, 3), object(random, 3)
			list = append(list, struct{ Constant, Data, Want string }{constant, data, ""})
		}
		for _, c := range list {
			if c.Constant == "" || c.Data == "" {
				continue // which the procedure merges none of
			}
			var theirs string
			rig.Fatal(t, db.QueryRow("SELECT JSON_MERGE_PATCH(?, JSON_MERGE_PATCH('{}', ?))", c.Constant, c.Data).Scan(&theirs))
			ours, err := Merge(json.RawMessage(c.Constant), json.RawMessage(c.Data))
			if err != nil || !sameJSON(ours, json.RawMessage(theirs)) {
				t.Errorf("%s with %s: %s, %v; the server has %s", c.Constant, c.Data, ours, err, theirs)
			}
		}
	})
}

// object is a random object whose members are few, so that those of two meet.
func object(random *rand.Rand, depth int) string {
	text := "{"
	for i, name := range random.Perm(3)[:random.IntN(4)] {
		if i > 0 {
			text += ", "
		}
		text += fmt.Sprintf("%q: %s", string(rune('a'+name)), value(random, depth-1))
	}
	return text + "}"
}

func value(random *rand.Rand, depth int) string {
	switch n := random.IntN(6); {
	case n == 0:
		return "null"
	case n == 1:
		return "[1, null]"
	case n == 2 || depth == 0:
		return fmt.Sprint(random.IntN(9))
	}
	return object(random, depth)
}
