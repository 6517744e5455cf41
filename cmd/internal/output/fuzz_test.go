package output

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"prescient/cmd/internal/words"
	"prescient/prescient"
)

// What a row holds drives no terminal, however it is printed.
func FuzzPrintedRows(f *testing.F) {
	for _, text := range []string{"", "42", "\x1b[2J\x1b]0;title\x07", "\u009b31m", "a\nb\r\tc", "\u202e", "\xff\xfe", "🚢 naïve", "\x00", "\x7f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		job := prescient.FutureJob{EntityName: "order", EntityKey: text, JobExec: "x", Tag: text, LastError: text}
		var b bytes.Buffer
		if err := errors.Join(Say(&b, "%s", text), JSON(&b, job),
			Table(&b, []Column{{Title: "entity"}, {Title: "tag"}}, [][]string{{words.Clip(job.Entity().String(), 60), words.Clip(text, 30)}})); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), words.Drives) || !utf8.Valid(b.Bytes()) {
			t.Fatalf("%q is printed as %q", text, b.String())
		}
		if lines := bytes.Count(b.Bytes(), []byte("\n")); lines > 4 {
			t.Fatalf("%q is printed on %d lines: %q", text, lines, b.String())
		}
	})
}
