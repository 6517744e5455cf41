package prescient

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzParseEntity(f *testing.F) {
	for _, key := range []string{"42", "O'Brien", "a/b/c", " leading", "trailing ", "nul\x00", "日本語", "🚢"} {
		f.Add("order/" + key)
		f.Add(key)
	}
	f.Add("order/\xed\xa0\x80")
	f.Add("a/b/c")
	f.Fuzz(func(t *testing.T, text string) {
		e, err := ParseEntity(text)
		if (err == nil) != (e.Validate() == nil && e.Name != "") {
			t.Fatalf("%q: %v, but Validate: %v", text, err, e.Validate())
		}
		if err != nil {
			if !errors.Is(err, ErrInvalid) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if e.String() != text || strings.Contains(e.Name, "/") {
			t.Fatalf("%q became %q of %q", text, e.Key, e.Name)
		}
		if !utf8.ValidString(e.Key) || len(e.Name) > MaxNameLen || utf8.RuneCountInString(e.Key) > MaxKeyLen {
			t.Fatalf("%q cannot be stored", text)
		}
		if again, err := ParseEntity(e.String()); again != e || err != nil {
			t.Fatalf("%q: %+v, %v the second time", text, again, err)
		}
		first, last := e.KeyRange()
		key := KeyOf(e, "ship", "")
		if s := sha256.Sum256([]byte(e.Name + "\x00" + e.Key)); string(key[:12]) != string(s[:12]) {
			t.Fatalf("%q: key %s", text, key)
		}
		if key.String() < first.String() || key.String() > last.String() || first.String()[:24] != last.String()[:24] {
			t.Fatalf("%q: key %s is not within %s and %s", text, key, first, last)
		}
	})
}
