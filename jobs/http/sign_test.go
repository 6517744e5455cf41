package http

import (
	"strings"
	"testing"
	"time"
)

func TestSignatureIsTheHMACOfTimeAndBody(t *testing.T) {
	// printf '1772370001.what do ya want for nothing?' | openssl dgst -sha256 -hmac Jefe
	const want = "t=1772370001,v1=101d42fbda1bb2c0dfd62d22322996acba33a181a9cd4bb667c3c9d298565e70"
	if got := Sign([]byte("Jefe"), []byte("what do ya want for nothing?"), time.Unix(1772370001, 999)); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestVerifyAcceptsTheSignatureOfThisBodySecretAndTimeOnly(t *testing.T) {
	secret, body, at := []byte("secret"), []byte(`{"entity_key":"42"}`), time.Unix(1772370001, 0)
	good := Sign(secret, body, at)
	stamp, digits, _ := strings.Cut(good, ",v1=")
	for _, test := range []struct {
		about        string
		secret, body string
		signature    string
		later        time.Duration
		want         bool
	}{
		{"as signed", "secret", string(body), good, 0, true},
		{"digits in upper case", "secret", string(body), stamp + ",v1=" + strings.ToUpper(digits), 0, true},
		{"in another order, with a version to come", "secret", string(body), "v2=abc,v1=" + digits + "," + stamp, 0, true},
		{"just in time", "secret", string(body), good, Tolerance, true},
		{"a clock that is behind", "secret", string(body), good, -Tolerance, true},
		{"sent again later", "secret", string(body), good, Tolerance + time.Second, false},
		{"signed ahead of time", "secret", string(body), good, -Tolerance - time.Second, false},
		{"sent again later, as if new", "secret", string(body), "t=1772373601,v1=" + digits, time.Hour, false},
		{"another body", "secret", `{"entity_key":"43"}`, good, 0, false},
		{"another secret", "Secret", string(body), good, 0, false},
		{"no signature", "secret", string(body), "", 0, false},
		{"no time", "secret", string(body), "v1=" + digits, 0, false},
		{"time alone", "secret", string(body), stamp, 0, false},
		{"no number for a time", "secret", string(body), "t=now,v1=" + digits, 0, false},
		{"two times", "secret", string(body), good + ",t=1772370001", 0, false},
		{"two signatures", "secret", string(body), good + ",v1=00", 0, false},
		{"digits alone", "secret", string(body), digits, 0, false},
		{"another version", "secret", string(body), stamp + ",v2=" + digits, 0, false},
		{"cut short", "secret", string(body), good[:len(good)-2], 0, false},
		{"too long", "secret", string(body), good + "00", 0, false},
		{"no digits", "secret", string(body), stamp + ",v1=" + strings.Repeat("x", 64), 0, false},
		{"a secret that was forgotten", "", string(body), Sign(nil, body, at), 0, false},
	} {
		if got := Verify([]byte(test.secret), []byte(test.body), test.signature, at.Add(test.later), Tolerance); got != test.want {
			t.Errorf("%s: %t, want %t", test.about, got, test.want)
		}
	}
}
