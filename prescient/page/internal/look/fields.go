package look

import (
	"crypto/sha256"
	"fmt"
	"strings"
)

// Field is a part of a definition, for people.
type Field struct {
	Name, Text string
	// Help says what it is for, where that is not plain.
	Help string
}

// Change is a field before and after; empty where it is not there.
type Change struct{ Name, Before, After string }

// Changes are the fields that are not the same.
func Changes(before, after []Field) (all []Change) {
	was := make(map[string]string)
	for _, f := range before {
		was[f.Name] = f.Text
	}
	is := make(map[string]bool)
	for _, f := range after {
		is[f.Name] = true
		if was[f.Name] != f.Text {
			all = append(all, Change{f.Name, was[f.Name], f.Text})
		}
	}
	for _, f := range before {
		if !is[f.Name] {
			all = append(all, Change{f.Name, f.Text, ""})
		}
	}
	return all
}

// textSeen is how much of a text stands among fields.
const textSeen = 2000

// Begin is a text, or its begin with what tells it from others.
func Begin(text string) string {
	if len(text) <= textSeen {
		return text
	}
	return fmt.Sprintf("%s… (%d bytes, SHA-256 %x)", strings.ToValidUTF8(text[:textSeen], ""), len(text), sha256.Sum256([]byte(text)))
}
