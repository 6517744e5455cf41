package tally

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxReason is how many characters of a reason are told apart.
const maxReason = 200

// ReasonOf is what errors of one kind have in common: the first line, with … in the place of each word that has a digit, and of what is quoted.
// So `order 42: "x" is gone` and `order 7: "y" is gone` have one reason. A code stays: `answered 503` is not `answered 404`.
func ReasonOf(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	var b strings.Builder
	characters := 0
	put := func(part string) {
		for _, r := range part {
			if characters++; characters <= maxReason {
				b.WriteRune(r)
			}
		}
	}
	before, last := ' ', "" // what stands before, and the last word
	for len(line) > 0 && characters < maxReason {
		first, size := utf8.DecodeRuneInString(line)
		if closing := quotes[first]; closing != "" && (first != '\'' || !isWord(before)) { // it may be an apostrophe
			if inside, rest, closed := strings.Cut(line[size:], closing); closed && inside != "" {
				put("…")
				before, line = '…', rest
				continue
			}
		}
		if !isWord(first) {
			put(line[:size])
			before, line = first, line[size:]
			continue
		}
		end := strings.IndexFunc(line, func(r rune) bool { return !isWord(r) })
		if end < 0 {
			end = len(line)
		}
		word := line[:end]
		if strings.ContainsFunc(word, unicode.IsDigit) && !isCode(last, word) {
			put("…")
		} else {
			put(word)
		}
		before, last, line = 'w', word, line[end:]
	}
	return b.String()
}

// quotes are what quotations begin with, and what ends them.
var quotes = map[rune]string{'"': `"`, '`': "`", '\'': "'", '“': "”", '«': "»"}

// isCode says whether a word is a code, by the one before it: of HTTP, of a command, of a server.
func isCode(last, word string) bool {
	switch strings.ToLower(last) {
	case "answered", "status", "code", "error", "with":
		return len(word) <= 4 && !strings.ContainsFunc(word, func(r rune) bool { return r < '0' || r > '9' })
	}
	return false
}

// isWord takes the parts of a UUID for one word.
func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' || r == '-' }
