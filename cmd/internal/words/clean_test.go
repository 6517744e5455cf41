package words

import (
	"strings"
	"testing"
)

func TestClean(t *testing.T) {
	for text, want := range map[string]string{
		"":                      "",
		"order/42 – größer, 注文": "order/42 – größer, 注文",
		"\x1b[31mred":           `\x1b[31mred`,
		"two\nlines\r\t":        `two\nlines\r\t`,
		"\u009b31m":             `\u009b31m`,
		"a\u202eb\u2066c":       `a\u202eb\u2066c`,
		"\x7f\x00":              `\x7f\x00`,
		"\xff\xc3":              `\xff\xc3`,
		"\ufffd":                "\ufffd",
		"a\u00a0b\u200bc\u2060": `a\u00a0b\u200bc\u2060`,
		"❤\ufe0f\U000e0041":     `❤\ufe0f\U000e0041`,
	} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
	if got := Clip("ab\x1bcdefgh", 6); got != `ab\x1…` {
		t.Error(got)
	}
}

func FuzzClean(f *testing.F) {
	f.Add("\x1b[31m\u202e\xff")
	f.Fuzz(func(t *testing.T, text string) {
		once := Clean(text)
		if strings.ContainsFunc(once, Drives) {
			t.Errorf("%q: %q", text, once)
		}
		if again := Clean(once); again != once {
			t.Errorf("%q: %q, then %q", text, once, again)
		}
	})
}
