package page_test

import (
	"strings"
	"testing"
)

// hostile are keys of an app that wants others' browsers to do something, or to look other than they are.
var hostile = []string{`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `' onmouseover='alert(1)`, "𝄞\U0001f600{{.}}${7*7}", "a\nb\x01\x1bc", `javascript:alert(1)//`, "/../..//evil.example?a=b&c#d"}

// harmless fails where something hostile got into a page as it is.
func (got reply) harmless(t *testing.T) reply {
	t.Helper()
	for _, part := range []string{"<script>alert", "<img", "onerror=alert(1)>", "' onmouseover", "\x01", "\x1b", `href="javascript:`} {
		if strings.Contains(got.Body, part) {
			t.Errorf("%q is in %s", part, got.Body)
		}
	}
	return got
}
