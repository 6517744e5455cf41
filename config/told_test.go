package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestWrongHeartbeatsAreRefused(t *testing.T) {
	many := ""
	for n := range mostHeartbeats + 1 {
		many += fmt.Sprintf("  - {name: n%d, success: 'http://h1'}\n", n)
	}
	for _, test := range []struct{ name, list, want string }{
		{"no name", "  - success: http://h1", "heartbeats.urls[0].name: it is missing"},
		{"no URL", "  - name: a", "heartbeats.urls[0].success: it is missing"},
		{"a name that is none", "  - {name: a b, success: 'http://h1'}", `"a b" is not allowed`},
		{"a scheme that is none", "  - {name: a, success: 'ftp://s3cret'}", "its scheme is not allowed"},
		{"a name twice", "  - {name: a, success: 'http://h1'}\n  - {name: a, success: 'http://h1/s3cret'}", `"a" is the name of heartbeats.urls[0].name too`},
		{"too many", many, "it has 51 items; at most 50 are allowed"},
		{"slots of another", "  - {name: a, success: 'http://h1/s3cret'}\n  slots: b", `heartbeats.slots: "b" is no name in heartbeats.urls`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := given{file: "heartbeats:\n  urls:\n" + test.list}.load(t)
			if !strings.Contains(err, test.want) || strings.Contains(err, "s3cret") {
				t.Errorf("got %q; want %q", err, test.want)
			}
		})
	}
}

func TestHeartbeatsShowTheirHostsAlone(t *testing.T) {
	c := given{file: "heartbeats:\n  slots: a\n  urls:\n  - {name: a, success: 'https://h1/s3cret', failure: 'https://h1/s3cret?status=down'}"}.mustLoad(t)
	h := c.Heartbeats.URLs[0]
	if c.Heartbeats.Slots != "a" || h.Success.Reveal() != "https://h1/s3cret" || !h.Start.IsZero() || h.Failure.Reveal() != "https://h1/s3cret?status=down" {
		t.Errorf("got %+v", c.Heartbeats)
	}
	if text := c.Redacted(); strings.Contains(text, "s3cret") || !strings.Contains(text, "heartbeats.urls[0].failure: https://h1/***") {
		t.Errorf("got %s", text)
	}
}
