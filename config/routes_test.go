package config

import (
	"strings"
	"testing"
)

func TestWrongRoutesAreRefused(t *testing.T) {
	for _, test := range []struct{ name, item, want string }{
		{"no topics", "url: 'log:'", "events.routes[0].topics: it is missing"},
		{"no broker", "topics: a", "events.routes[0].url: it is missing"},
		{"a star inside", "topics: 'a*b'\n    url: 'log:'", `"a*b" is not allowed; want a topic`},
		{"no scheme", "topics: a\n    url: 127.0.0.1", "it is no URL; want a scheme that names the broker"},
		{"a policy that is none", "topics: a\n    url: 'log:'\n    refused: drop", "allowed are set-aside, hold"},
		{"a secret", "topics: a\n    url: 'log:'\n    secret: s3cret", "secret_file or secret_env"},
		{"an unknown key", "topic: a", "unknown key"},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := given{file: "events:\n  routes:\n  - " + test.item}.load(t)
			if !strings.Contains(err, test.want) || strings.Contains(err, "s3cret") {
				t.Errorf("got %q; want %q", err, test.want)
			}
		})
	}
}

func TestAPasswordOfABrokerIsNotShown(t *testing.T) {
	c := given{file: "events:\n  routes:\n  - topics: '*'\n    url: amqp://u:s3cret@h1:5672"}.mustLoad(t)
	if c.Events.Routes[0].URL.Reveal() != "amqp://u:s3cret@h1:5672" || strings.Contains(c.Redacted(), "s3cret") || !strings.Contains(c.Redacted(), "amqp://***") {
		t.Errorf("got %s", c.Redacted())
	}
}
