package changes

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestADifferenceHasWhatChanged(t *testing.T) {
	for _, test := range []struct{ before, after, want string }{
		{``, ``, ``},
		{``, `{"a":1}`, `a: none → 1`},
		{`{"a":1}`, ``, `a: 1 → none`},
		{`{"a":1,"b":{"c":"x","d":null}}`, `{"a":1,"b":{"c":"y","d":null}}`, `b.c: x → y`},
		{`{"s":[{"n":"one"},{"n":"two"}]}`, `{"s":[{"n":"one"}]}`, `s[1].n: two → none`},
		{`{"s":[]}`, `{"s":["x"]}`, `s: [] → none, s[0]: none → x`},
		{`{"n":9007199254740993}`, `{"n":9007199254740992}`, `n: 9007199254740993 → 9007199254740992`},
		{`"text"`, `"other"`, `: text → other`},
		{`{"a":""}`, `{"a":null}`, `a:  → null`},
		{`{"a":""}`, `{}`, `a:  → none`},
		{`no JSON`, `{"o":{}}`, `: no JSON → none, o: none → {}`},
		{`{"b":1,"a":1}`, `{"b":2,"a":2}`, `a: 1 → 2, b: 1 → 2`},
	} {
		all, more := between(json.RawMessage(test.before), json.RawMessage(test.after))
		var got []string
		for _, c := range all {
			before, after := c.Before, c.After
			if !c.Was {
				before = "none"
			}
			if !c.Is {
				after = "none"
			}
			got = append(got, c.Path+": "+before+" → "+after)
		}
		if text := strings.Join(got, ", "); text != test.want || more != 0 {
			t.Errorf("%s to %s: %s, %d; want %s", test.before, test.after, text, more, test.want)
		}
	}
}

func TestALongDifferenceIsCut(t *testing.T) {
	var list []string
	for i := range mostChanges + 7 {
		list = append(list, fmt.Sprint(i))
	}
	all, more := between(nil, json.RawMessage("["+strings.Join(list, ",")+"]"))
	if len(all) != mostChanges || more != 7 {
		t.Errorf("%d, %d", len(all), more)
	}
}
