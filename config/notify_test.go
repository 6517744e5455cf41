package config

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestWrongReceiversAreRefused(t *testing.T) {
	many := ""
	for n := range mostReceivers + 1 {
		many += fmt.Sprintf("  - {name: n%d, url: 'http://h1'}\n", n)
	}
	const mail = "kind: mail, url: 'smtp://u@h1:587', from: 'a@example.org', to: 'b@example.org'"
	for _, test := range []struct{ name, list, want string }{
		{"no name", "  - url: http://h1", "notify.receivers[0].name: it is missing"},
		{"no URL", "  - name: a", "notify.receivers[0].url: it is missing"},
		{"a name that is none", "  - {name: a b, url: 'http://h1'}", `"a b" is not allowed`},
		{"a kind that is none", "  - {name: a, url: 'http://h1', kind: pager}", "allowed are webhook, alertmanager, mail"},
		{"a scheme that is none", "  - {name: a, url: 'ftp://s3cret'}", "its scheme is not allowed"},
		{"e-mail to a webhook", "  - {name: a, url: 'smtp://h1'}", "smtp, smtps and smtp+plain are for mail"},
		{"a webhook of e-mail", "  - {name: a, kind: mail, url: 'http://h1/s3cret', from: 'a@example.org', to: 'b@example.org'}", "its scheme is not allowed with kind: mail"},
		{"a password in the file", "  - {name: a, kind: mail, url: 'smtp://u:s3cret@h1', from: 'a@example.org', to: 'b@example.org'}", "it has a password, which does not belong into the file"},
		{"a user without TLS", "  - {name: a, kind: mail, url: 'smtp+plain://u@h1', from: 'a@example.org', to: 'b@example.org'}", "it has a user, whose password"},
		{"nobody to mail to", "  - {name: a, kind: mail, url: 'smtp://h1', from: 'a@example.org'}", "notify.receivers[0].to: it is missing"},
		{"an address that is none", "  - {name: a, kind: mail, url: 'smtp://h1', from: nobody, to: 'b@example.org'}", "is no list of addresses"},
		{"a list of addresses", "  - {name: a, kind: mail, url: 'smtp://h1', from: 'a@example.org', to: [b@example.org, c@example.org]}", "notify.receivers[0].to: it has the wrong form; want one value"},
		{"several who send", "  - {name: a, kind: mail, url: 'smtp://h1', from: 'a@example.org, b@example.org', to: 'b@example.org'}", "it has 2 addresses; at most 1"},
		{"a line break in an address", "  - {name: a, kind: mail, url: 'smtp://h1', from: 'a@example.org', to: \"b@example.org\\r\\nBcc: c@example.org\"}", "is no list of addresses"},
		{"addresses of a webhook", "  - {name: a, url: 'http://h1', to: 'b@example.org'}", "only mail has addresses"},
		{"hours that are none", "  - {name: a, url: 'http://h1', quiet: '22-7'}", "are no hours; want two different times"},
		{"a zone that is none", "  - {name: a, url: 'http://h1', zone: Europe/Nowhere}", "is no time zone"},
		{"quiet hours of an Alertmanager", "  - {name: a, kind: alertmanager, url: 'http://h1', quiet: '22:00-07:00'}", "for its own configuration"},
		{"a secret of an Alertmanager", "  - {name: a, kind: alertmanager, url: 'http://h1', secret_env: HOME}", "it is not allowed with kind: alertmanager"},
		{"a secret in the file", "  - {name: a, url: 'http://h1', secret: s3cret}", "secret_file or secret_env"},
		{"both secrets", "  - {" + mail + ", name: a, secret_file: /x, secret_env: X}", "only one of the two is allowed"},
		{"a name twice", "  - {name: a, url: 'http://h1'}\n  - {name: a, url: 'http://h1/s3cret'}", `"a" is the name of notify.receivers[0].name too`},
		{"too many", many, "it has 21 items; at most 20 are allowed"},
		{"codes that are none", "  - {name: a, url: 'http://h1'}\n  ignore: a b", `"a b" is not allowed`},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := given{file: "notify:\n  receivers:\n" + test.list}.load(t)
			if !strings.Contains(err, test.want) || strings.Contains(err, "s3cret") || strings.Count(err, strings.SplitN(test.want, ": ", 2)[0]+": ") > 1 {
				t.Errorf("got %q; want %q", err, test.want)
			}
		})
	}
}

func TestReceiversAreRead(t *testing.T) {
	c := given{file: `notify:
  reminder: 0s
  ignore: durability, settings
  receivers:
  - {name: a, url: 'https://h1/s3cret', level: bad, quiet: '22:00-07:30', zone: Europe/Berlin, quiet_for: all, rate: 1, secret_env: NOTIFY_SECRET}
  - {name: b, kind: mail, url: 'smtp://u@h1:587', from: 'Ops <a@example.org>', to: 'b@example.org, c@example.org'}`, env: map[string]string{"NOTIFY_SECRET": "s3cret"}}.mustLoad(t)
	a, b := c.Notify.Receivers[0], c.Notify.Receivers[1]
	if a.Kind != KindWebhook || a.Level != LevelBad || a.QuietFrom != 22*time.Hour || a.QuietUntil != 7*time.Hour+30*time.Minute || a.Zone.String() != "Europe/Berlin" || a.QuietFor != QuietAll ||
		a.Rate != 1 || a.Secret.Reveal() != "s3cret" {
		t.Errorf("%+v", a)
	}
	if strings.Join(b.From, ";")+strings.Join(b.To, ";") != `"Ops" <a@example.org><b@example.org>;<c@example.org>` || b.Level != LevelWarn || b.Zone != time.UTC || b.QuietFrom != b.QuietUntil || b.Rate != 6 {
		t.Errorf("%+v", b)
	}
	if c.Notify.Reminder != 0 || c.Notify.Every != time.Minute || strings.Join(c.Notify.Ignore, ";") != "durability;settings" {
		t.Errorf("%+v", c.Notify)
	}
	if text := c.Redacted(); strings.Contains(text, "s3cret") || !strings.Contains(text, "notify.receivers[0].url: https://h1/***") || !strings.Contains(text, "notify.receivers[1].url: smtp://u@h1:587") && !strings.Contains(text, "notify.receivers[1].url: smtp://h1:587") {
		t.Errorf("got %s", text)
	}
}
