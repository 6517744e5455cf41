package token

import (
	"strings"
	"testing"
)

func TestASecretIsReadAndNothingElse(t *testing.T) {
	secret, hash := New()
	other, of := New()
	if secret == other || hash == of || len(secret) != 47 || !strings.HasPrefix(secret, "pst_") {
		t.Errorf("%s, %s", secret, other)
	}
	if got, is := Read(secret); !is || got != hash {
		t.Errorf("%x, %t; want %x", got, is, hash)
	}
	for _, bad := range []string{"", "pst_", secret[4:], "PST_" + secret[4:], secret + "A", secret[:46], secret + "=", secret + "\n", secret[:10] + "\n" + secret[10:], " " + secret,
		secret[:46] + "-", "pst_" + strings.Repeat("é", 43), strings.Repeat("x", 1<<20)} {
		if _, is := Read(bad); is {
			t.Errorf("%.80q is taken", bad)
		}
	}
}
