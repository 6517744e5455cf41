package words

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"prescient/prescient"
)

// Clean spells out what could drive a terminal or mislead its reader: control characters, line ends, characters that
// cannot be seen or turn the direction of writing, and bytes that are no UTF-8.
func Clean(text string) string {
	if !strings.ContainsFunc(text, Drives) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for len(text) > 0 {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[0])
		case !Drives(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteString(Escape(r))
		}
		text = text[size:]
	}
	return b.String()
}

// Escape is how a character is written that is not ASCII and not to be shown.
func Escape(r rune) string {
	if r > 0xffff {
		return fmt.Sprintf(`\U%08x`, r)
	}
	return fmt.Sprintf(`\u%04x`, r)
}

// Drives reports whether a character is not one to be shown.
func Drives(r rune) bool {
	return unicode.IsControl(r) || prescient.Unseen(r)
}

// Clip cleans a text and shortens it to a number of characters.
func Clip(text string, length int) string {
	return prescient.Shorten(Clean(text), length)
}
