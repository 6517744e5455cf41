package broker

import (
	"net/url"
	"reflect"
	"strings"
	"testing"
)

func TestAddressMayHaveSeveralHosts(t *testing.T) {
	got, err := ParseAddress("nats://us%40er:pa%3Ass@a:4222,b,[::1]:4223/x?subject=s.%7Btopic%7D", "nats", "tls")
	if err != nil {
		t.Fatal(err)
	}
	want := Address{Scheme: "nats", User: url.UserPassword("us@er", "pa:ss"), Hosts: []string{"a:4222", "b", "[::1]:4223"}, Path: "/x",
		Query: url.Values{"subject": {"s.{topic}"}}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestNoErrorOfAnAddressShowsIt(t *testing.T) {
	for _, text := range []string{
		"", "s3cret", "s3cret://host", "user:s3cret@host", "nats://user:s3cret@", "nats://user:s3cret@host:port", "nats://user:s3cret@host:0",
		"nats://user:s3cret@host:65536", "nats://user:s3/cret@host", "nats://user:s3%zzs3cret@host", "nats://user:x@host/#s3cret",
		"nats://user:s3cret@a,,b", "nats://user:s3 cret@a", "nats://user:s3#cret@a", "nats://host/?s3cret%zz", "nats:user:s3cret@host",
		"nats://user:s3cret@a,user:s3cret@b",
	} {
		_, err := ParseAddress(text, "nats", "tls")
		if err == nil && !strings.Contains(text, "@a,user") { // whose user is user:s3cret@a,user
			t.Errorf("%s is taken", text)
		}
		if err != nil && (strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret")) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestSettingsAreKnownAndComeOnce(t *testing.T) {
	address := Address{Query: url.Values{"linger": {"5ms"}}}
	if got, err := address.Settings("linger", "sasl"); err != nil || !reflect.DeepEqual(got, map[string]string{"linger": "5ms"}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, test := range []struct {
		query url.Values
		known []string
		want  string
	}{
		{url.Values{"linger": {"5ms"}}, nil, "may have none"},
		{url.Values{"linger": {"5ms"}}, []string{"sasl"}, `unknown parameter "linger"; known are sasl`},
		{url.Values{"linger": {"5ms", "6ms"}}, []string{"linger"}, "linger twice"},
	} {
		if _, err := (Address{Query: test.query}).Settings(test.known...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%v, want %q in it", err, test.want)
		}
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "order/42-x~": "order/42-x~", "50 %": "50 %25", "é\r\n": "%C3%A9%0D%0A", " a b ": "%20a b%20", "\xff": "%FF",
	} {
		if got := Printable(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

func TestAHeaderMayBeAnAttributeOfCloudEvents(t *testing.T) {
	for _, test := range []struct {
		header      Header
		name, value string
		found       bool
	}{
		{Header{"ce-subject", "%C3%A9%20+"}, "subject", "é +", true},
		{Header{"ce-subject", "%zz"}, "subject", "%zz", true},
		{Header{"Prescient-Id", "1"}, "", "", false},
	} {
		if name, value, found := test.header.Attribute(); name != test.name || value != test.value || found != test.found {
			t.Errorf("%v: %s, %s, %t", test.header, name, value, found)
		}
	}
}
