// Package expression says which pieces of SQL the configuration may have: one that stays what it is wherever it is put into a statement.
package expression

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// most is the longest text, in bytes.
const most = 4096

// Condition returns an error that says why a text is no condition: an expression that is put into parentheses.
func Condition(text string) error {
	_, err := words(text)
	return err
}

// Assignments returns an error that says why a text is no list of assignments, as UPDATE has them: column = expression, ….
func Assignments(text string) error {
	outside, err := words(text)
	if err != nil {
		return err
	}
	for _, word := range outside {
		if clause := strings.ToUpper(word); slices.Contains(clauses, clause) {
			return fmt.Errorf("it has %s outside of parentheses; only assignments are allowed, the statement has a condition of its own", clause)
		}
	}
	if !strings.Contains(text, "=") {
		return errors.New("it assigns nothing; want column = expression, …")
	}
	return nil
}

// clauses may come behind the assignments of an UPDATE.
var clauses = []string{"WHERE", "ORDER", "LIMIT", "RETURNING", "FROM"}

var (
	name  = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}$`)
	table = regexp.MustCompile(`^[A-Za-z0-9_$-]{1,64}(\.[A-Za-z0-9_$-]{1,64})?$`)
)

// Column returns an error where a text is no name of a column.
func Column(text string) error {
	if !name.MatchString(text) {
		return errors.New("want 1 to 64 letters, digits and _ $ -, without quotes")
	}
	return nil
}

// Table returns an error where a text is no name of a table, with or without its database.
func Table(text string) error {
	if !table.MatchString(text) {
		return errors.New("want a table, or database.table: of letters, digits and _ $ -, without quotes")
	}
	return nil
}

// words returns the words of a text that stand outside of quotes and parentheses. It refuses what could end the place that the text is put into:
// a semicolon, a comment, and quotes and parentheses that are not closed. What is left to say of it, the server says.
func words(text string) (outside []string, err error) {
	switch {
	case strings.TrimSpace(text) == "":
		return nil, errors.New("it is empty")
	case len(text) > most:
		return nil, fmt.Errorf("it has %d bytes; at most %d are allowed", len(text), most)
	case !utf8.ValidString(text):
		return nil, errors.New("it is not UTF-8")
	}
	depth, began := 0, -1
	end := func(at int) {
		if began >= 0 && depth == 0 {
			outside = append(outside, text[began:at])
		}
		began = -1
	}
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		next := i + size
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			if began < 0 {
				began = i
			}
			i = next
			continue
		}
		end(i)
		switch {
		case r == '\'' || r == '"' || r == '`':
			if next = closing(text, i); next < 0 {
				return nil, fmt.Errorf("a %c is not closed", r)
			}
		case r == '(':
			depth++
		case r == ')' && depth == 0:
			return nil, errors.New("a ) closes nothing")
		case r == ')':
			depth--
		case r == ';':
			return nil, errors.New("it has a ; outside of quotes; one expression is allowed")
		case r == '#' || strings.HasPrefix(text[i:], "--") || strings.HasPrefix(text[i:], "/*"):
			return nil, errors.New("it has a comment (#, -- or /*), which is not allowed")
		case r == '$': // MySQL has texts between two of them
			return nil, errors.New("it has a $ outside of quotes; a name that has one stands in backticks")
		case r == '?':
			return nil, errors.New("it has a ? outside of quotes; there are no parameters")
		case unicode.IsControl(r) && !strings.ContainsRune("\t\n\r", r):
			return nil, errors.New("it has a control character")
		}
		i = next
	}
	end(len(text))
	if depth > 0 {
		return nil, fmt.Errorf("%d ( not closed", depth)
	}
	return outside, nil
}

// closing returns where the quoted text ends that begins at a place; -1 where it does not end.
func closing(text string, at int) int {
	quote := text[at]
	for i := at + 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && quote != '`':
			i++
		case text[i] == 0:
			return -1
		case text[i] == quote && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return -1
}
