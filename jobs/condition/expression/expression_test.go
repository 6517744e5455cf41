package expression_test

import (
	"regexp"
	"strings"
	"testing"

	"prescient/jobs/condition/expression"
)

func TestAConditionIsOneExpression(t *testing.T) {
	for text, refused := range map[string]string{
		"shipped_at IS NULL AND cancelled_at IS NULL": "",
		"state IN ('new', 'paid')":                    "",
		"note = 'a; b -- c # d /* e ( ?'":             "",
		`note = 'it''s' AND other = "say \"no\""`:     "",
		"`a;b` = 1":                   "",
		"`a\\` = 1":                   "", // no escape in backticks
		"a - 1 > 0 AND b / 2 * 3 = 1": "",
		"NOT EXISTS (SELECT 1 FROM parcels p WHERE p.o=id)": "",
		"name = 'Zoë 🙂'":           "",
		"":                         "empty",
		" \n":                      "empty",
		"a = 1; DROP TABLE orders": "a ;",
		"a = 1) OR (1 = 1":         ") closes nothing",
		"a = (1":                   "1 ( not closed",
		"a = 'x":                   "' is not closed",
		`a = 'x\'`:                 "' is not closed",
		`a = "x'`:                  `" is not closed`,
		"`a":                       "` is not closed",
		"a = 1 -- all of them":     "comment",
		"a = 1--1":                 "comment",
		"a = 1 # all":              "comment",
		"a /*!50000 OR 1 */ = 1":   "comment",
		"a = $$x$$":                "a $",
		"a = ?":                    "a ?",
		"a = 1\x00":                "control character",
		"a = '\x00'":               "not closed",
		"a = '\xff'":               "not UTF-8",
		"a = '" + strings.Repeat("x", 4096) + "'": "4102 bytes; at most 4096",
	} {
		err := expression.Condition(text)
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%.60q: %v; want %q", text, err, refused)
		}
	}
}

func TestAssignmentsHaveNoClause(t *testing.T) {
	for text, refused := range map[string]string{
		"alerted_at = UTC_TIMESTAMP()":                              "",
		"alerts = alerts + 1, note = CONCAT(note, ' where; limit')": "",
		"worst = (SELECT MAX(x) FROM t WHERE y = 1 ORDER BY z)":     "",
		"`where` = 1":                   "",
		"whereabouts = 1":               "",
		"alerted_at = 1 WHERE 1 = 1 OR": "WHERE outside",
		"alerted_at = 1 limit 5":        "LIMIT outside",
		"alerted_at = 1 Order by id":    "ORDER outside",
		"alerted_at":                    "assigns nothing",
		"a = 1;":                        "a ;",
	} {
		err := expression.Assignments(text)
		if refused == "" && err != nil || refused != "" && (err == nil || !strings.Contains(err.Error(), refused)) {
			t.Errorf("%q: %v; want %q", text, err, refused)
		}
	}
}

func TestNamesHaveNoQuotes(t *testing.T) {
	for _, good := range []string{"orders", "shop.orders", "Order-Lines", "a$b", strings.Repeat("x", 64)} {
		if err := expression.Table(good); err != nil {
			t.Errorf("%q: %v", good, err)
		}
	}
	for _, bad := range []string{"", "a.b.c", "a b", "`a`", "a;", ".a", "a.", "zoë", strings.Repeat("x", 65)} {
		if expression.Table(bad) == nil || expression.Column(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
	if expression.Column("a.b") == nil {
		t.Error("a column with a table is taken")
	}
}

var inQuotes = regexp.MustCompile("(?s)'(?:[^'\\\\]|\\\\.|'')*'|\"(?:[^\"\\\\]|\\\\.|\"\")*\"|`(?:[^`]|``)*`")

// What is taken stays within the parentheses that it is put into: seen another way, without its quoted texts.
func FuzzCondition(f *testing.F) {
	for _, seed := range []string{"a = 1", "a = 'x''y'", `a = "\"" OR b`, "`a``b` IN (1, 2)", "a) OR (b", "'", "a -- b", "a - -b", "$$'$$", "(((", "\\'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		bare := inQuotes.ReplaceAllString(text, "0")
		if expression.Assignments(text) == nil && expression.Condition(text) != nil {
			t.Fatalf("%q is a list of assignments, and no expression", text)
		}
		if expression.Condition(text) != nil {
			return
		}
		if strings.ContainsAny(bare, ";#'\"`$?\x00") || strings.Contains(bare, "--") || strings.Contains(bare, "/*") {
			t.Fatalf("%q is taken, with %q outside of quotes", text, bare)
		}
		depth := 0
		for _, r := range bare {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			if depth < 0 {
				t.Fatalf("%q is taken, and leaves its parentheses", text)
			}
		}
		if depth != 0 {
			t.Fatalf("%q is taken, and leaves %d parentheses open", text, depth)
		}
	})
}
