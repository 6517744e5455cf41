package api

import (
	"strings"
	"testing"
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
		{`{"a":{"x":1},"b":[{"x":1},{"x":2}]}`, true}, {`{"payload":{"a":1,"A":2,"a":3},"x":1}`, true}, {`{"a":`, true}, {`[1,2,"a"]`, true}, {`null`, true}, {``, true},
		{`{"a":1,"a":1}`, false}, {`{"a":1,"A":1}`, false}, {`{"list":[{"a":1,"a":2}]}`, false}, {`{"filter":{"a":1},"b":1,"filter":{"c":1}}`, false},
		{`{"\u0061":1,"a":1}`, false}, {"{\"task\":1,\"ta\u017f\u212a\":1}", false}, {`{"payload":1,"Payload":2}`, false}, {"{\"a\":\"\xff\"}", false},
		{`{"a":` + strings.Repeat("[", 5_000_000), false}, {`{"payload":` + strings.Repeat("[", 5_000_000), true},
	} {
		if err := plainBody([]byte(test.body)); (err == nil) != test.fine {
			t.Errorf("%.60s: %v", test.body, err)
		}
	}
}
