package audit

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// By says who makes changes, from where and why, as far as the database cannot know. All of it is optional.
type By struct {
	// Person who makes the change, as the program knows them; up to 128 characters.
	Person string
	// Reason is why; up to 1000 characters.
	Reason string
	// Host is where the program runs; its own name by default.
	Host string
	// Program makes the change; the name of its file by default.
	Program string
	// Command or other door that it came through, such as "schedule update"; empty for the library.
	Command string
	// Operator says that it is the act of an operator. Then a client also records the cancel and reschedule of single
	// checks, which as an app's own doing are no matter of the audit.
	Operator bool
}

type byKey struct{}

// With returns a context for changes by somebody.
func With(ctx context.Context, by By) context.Context { return context.WithValue(ctx, byKey{}, by) }

// Of returns who makes the changes of a context; the zero value where nobody said it.
func Of(ctx context.Context) By {
	by, _ := ctx.Value(byKey{}).(By)
	return by
}

// here is where this program runs, and what it is called.
var here = sync.OnceValue(func() By {
	host, _ := os.Hostname() // what has no name is left empty
	return By{Host: host, Program: filepath.Base(os.Args[0])}
})

// stored is By as the table holds it: longer text is cut, and what is no UTF-8 replaced.
func (b By) stored() By {
	return By{
		Person: fit(b.Person, 128), Reason: fit(b.Reason, 1000), Host: fit(cmp.Or(b.Host, here().Host), 255),
		Program: fit(cmp.Or(b.Program, here().Program), 128), Command: fit(b.Command, 128),
	}
}

// fit makes UTF-8 of up to so many characters.
func fit(text string, limit int) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	n := 0
	for at := range text {
		if n == limit {
			return text[:at]
		}
		n++
	}
	return text
}
