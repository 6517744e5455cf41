package cmd

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// clean spells out what could drive a terminal or mislead its reader: control characters, line ends, characters that
// turn the direction of writing, and bytes that are no UTF-8.
func clean(text string) string {
	if !strings.ContainsFunc(text, drives) && utf8.ValidString(text) {
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
		case !drives(r):
			b.WriteRune(r)
		case r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
		text = text[size:]
	}
	return b.String()
}

// drives reports whether a character is not one to be shown.
func drives(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == '\ufeff'
}

// clip cleans a text and shortens it to a number of characters.
func clip(text string, length int) string {
	text = clean(text)
	if utf8.RuneCountInString(text) <= length {
		return text
	}
	return string([]rune(text)[:length-1]) + "…"
}
