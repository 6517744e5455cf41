package migrate

import "strings"

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
