package prescient

import (
	"fmt"
	"strings"
	"unicode"
)

// Unseen says whether a character is shown as nothing, or as a blank that is none: zero-width and no-break ones and all other
// blanks of Unicode, joiners, variation selectors, tags, fillers, and what turns the direction of writing. What shows names escapes
// them, and what creates refuses them by [ValidSeen]. Control characters are no part of it: those have escapes everywhere.
func Unseen(r rune) bool {
	switch {
	case r < 0x80 || unicode.Is(unicode.Prepended_Concatenation_Mark, r): // signs of Arabic that are seen
		return false
	case r == '\u2800': // the empty pattern of Braille
		return true
	}
	return unicode.In(r, unicode.Cf, unicode.Z, unicode.Variation_Selector, unicode.Other_Default_Ignorable_Code_Point)
}

// ValidSeen returns an error that wraps ErrInvalid where a text that is to name something new has a character that is Unseen: two names
// could not be told apart. What is there already under such a name can be read, changed and cancelled.
func ValidSeen(what, s string) error {
	if i := strings.IndexFunc(s, Unseen); i >= 0 {
		r := []rune(s[i:])[0]
		return fmt.Errorf("%w: %s %.150q has the character %U, which cannot be seen and is not allowed", ErrInvalid, what, s, r)
	}
	return nil
}
