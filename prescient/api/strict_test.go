package api

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"prescient/prescient/ops"
)

func TestWhatReadersSeeDifferentlyIsRefused(t *testing.T) {
	for _, test := range []struct {
		query string
		fine  bool
	}{
		{"", true}, {"entity=order/3&limit=2", true}, {"crontab=a&crontab=b", true}, {"entity=", true}, {"entity=a%3Bb%26c", true},
		{"entity=%zz", false}, {"entity=%", false}, {"entity=order/3;limit=2", false}, {"entity=a&entity=b", false}, {"entity", false},
		{"entity&limit=1", false}, {"limit=1&", false}, {"tag=%ff", false}, {"slot=0001-01-01T00:00:00Z", false}, {"slot=0001-01-01T01:00:00%2B01:00", false},
	} {
		if err := plainQuery(test.query, []string{"crontab"}); (err == nil) != test.fine {
			t.Errorf("?%s: %v", test.query, err)
		}
	}
	for _, test := range []struct {
		body string
		fine bool
	}{
		{`{"a":{"x":1},"b":[{"x":1},{"x":2}]}`, true}, {`{"payload":{"a":1,"A":2,"a":3},"x":1}`, true}, {`[1,2,"a"]`, true}, {`null`, true}, {``, false}, {`{"a":`, false}, {`{} {}`, false},
		{`{"a":1,"a":1}`, false}, {`{"a":1,"A":1}`, false}, {`{"list":[{"a":1,"a":2}]}`, false}, {`{"filter":{"a":1},"b":1,"filter":{"c":1}}`, false},
		{`{"\u0061":1,"a":1}`, false}, {"{\"task\":1,\"ta\u017f\u212a\":1}", false}, {`{"payload":1,"Payload":2}`, false}, {"{\"a\":\"\xff\"}", false},
		{`{"a":` + strings.Repeat("[", 5_000_000), false}, {`{"payload":` + strings.Repeat("[", 5_000_000), false},
		{`{"a":[` + strings.Repeat("{},", mostValues) + `1]}`, false}, {`{"a":[` + strings.Repeat("{},", mostValues-4) + `1]}`, true},
		{`{"a":` + strings.Repeat("[", deepest) + strings.Repeat("]", deepest) + "}", false}, {`{"payload":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + "}", true},
		{`{"payload":[` + strings.Repeat("{},", 500_000) + `1]}`, true},
	} {
		if _, err := plainBody([]byte(test.body)); (err == nil) != test.fine {
			t.Errorf("%.60s: %v", test.body, err)
		}
	}
	// What is read in general is what encoding/json reads, but for what is free.
	got, err := plainBody([]byte(`{"a":[1,-2.5e3,"x",null,true,{}],"payload":{"b":1},"n":[],"arguments":"x"}`))
	if want := `{"a":[1,-2500,"x",null,true,{}],"arguments":"x","n":[],"payload":{}}`; err != nil || string(must(json.Marshal(got))) != want {
		t.Errorf("%v, %v", got, err)
	}
}

func must(text []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return text
}

// A body that is not as described costs little: neither in general nor in particular are its values made.
func TestAWideBodyIsNotRead(t *testing.T) {
	wide := []byte(`{"checks":[` + strings.Repeat("{},", 1_000_000) + `{}]}`)
	for what, into := range map[string]any{"in general": new(any), "in particular": new(ops.Inserting)} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := jsonFormat.Unmarshal(wide, into)
		runtime.ReadMemStats(&after)
		if made := (after.TotalAlloc - before.TotalAlloc) >> 20; err == nil || made > 50 {
			t.Errorf("%s: %v, %d MB", what, err, made)
		}
	}
}
