package migrate

import (
	"regexp"
	"strings"
)

// splitStatements cuts a migration as goose does: at a semicolon that ends a line, and at StatementBegin and StatementEnd, between which
// comments stay.
func splitStatements(migration string) []string { return split(migration, false) }

// withComments is splitStatements with the comments above and in each statement.
func withComments(migration string) []string { return split(migration, true) }

func split(migration string, comments bool) (list []string) {
	var b strings.Builder
	whole, statement := false, false // something beside comments is in it
	end := func() {
		if text := strings.TrimSuffix(strings.TrimSpace(b.String()), ";"); statement {
			list = append(list, text)
		}
		b.Reset()
		statement = false
	}
	for line := range strings.Lines(migration) {
		switch trimmed := strings.TrimSpace(line); {
		case trimmed == "-- +goose StatementBegin":
			end()
			whole = true
		case trimmed == "-- +goose StatementEnd":
			end()
			whole = false
		case whole, trimmed != "" && !strings.HasPrefix(trimmed, "--"):
			b.WriteString(line)
			statement = true
			if !whole && strings.HasSuffix(trimmed, ";") {
				end()
			}
		case comments || trimmed == "":
			b.WriteString(line)
		}
	}
	end()
	return list
}

// splitList cuts at the commas that stand in no parentheses and no literal, and makes each part one line.
func splitList(text string) (list []string) {
	depth, from, quoted := 0, 0, false
	add := func(part string) {
		if part = strings.Join(strings.Fields(part), " "); part != "" {
			list = append(list, part)
		}
	}
	for i, c := range []byte(text) {
		switch {
		case c == '\'':
			quoted = !quoted
		case quoted:
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			add(text[from:i])
			from = i + 1
		}
	}
	add(text[from:])
	return list
}

// addsOne says whether a statement adds one column or one index and nothing else: where the server has one of the name, it was done.
// This is the form that every server takes; what cannot be said so is an ALTER in a literal that is prepared, as far as it was not done.
func addsOne(statement string) bool {
	found := alterTable.FindStringSubmatch(statement)
	return found != nil && len(splitList(found[2])) == 1 && addsNamed.MatchString(found[2])
}

var (
	alterTable = regexp.MustCompile(`(?s)^ALTER TABLE (\w+)\s+(.*)$`)
	addsNamed  = regexp.MustCompile(`^\s*ADD (?:COLUMN|KEY|UNIQUE KEY) \w+ `)
)
