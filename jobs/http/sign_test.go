package http

import (
	"strings"
	"testing"
)

func TestSignatureIsTheHMACOfTheBody(t *testing.T) {
	// RFC 4231, test case 2
	const want = "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
	if got := Sign([]byte("Jefe"), []byte("what do ya want for nothing?")); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestVerifyAcceptsTheSignatureOfThisBodyAndSecretOnly(t *testing.T) {
	secret, body := []byte("secret"), []byte(`{"entity_key":"42"}`)
	good := Sign(secret, body)
	for _, test := range []struct {
		about        string
		secret, body string
		signature    string
		want         bool
	}{
		{"as signed", "secret", string(body), good, true},
		{"digits in upper case", "secret", string(body), "sha256=" + strings.ToUpper(good[7:]), true},
		{"another body", "secret", `{"entity_key":"43"}`, good, false},
		{"another secret", "Secret", string(body), good, false},
		{"no signature", "secret", string(body), "", false},
		{"digits alone", "secret", string(body), good[7:], false},
		{"another algorithm", "secret", string(body), "sha512=" + good[7:], false},
		{"cut short", "secret", string(body), good[:len(good)-2], false},
		{"too long", "secret", string(body), good + "00", false},
		{"no digits", "secret", string(body), "sha256=" + strings.Repeat("x", 64), false},
		{"a secret that was forgotten", "", string(body), Sign(nil, body), false},
	} {
		if got := Verify([]byte(test.secret), []byte(test.body), test.signature); got != test.want {
			t.Errorf("%s: %t, want %t", test.about, got, test.want)
		}
	}
}
