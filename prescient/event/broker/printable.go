package broker

import (
	"fmt"
	"strings"
)

// Printable returns a text as a header may have it: what is not printable ASCII is percent-encoded, and so is %. A text that has
// none of that stays as it is.
func Printable(text string) string {
	plain := func(c byte) bool { return c >= ' ' && c <= '~' && c != '%' }
	var b strings.Builder
	for i := range len(text) {
		edge := text[i] == ' ' && (i == 0 || i == len(text)-1) // protocols trim it there
		if plain(text[i]) && !edge {
			b.WriteByte(text[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", text[i])
		}
	}
	return b.String()
}
