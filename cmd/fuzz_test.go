package cmd

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/slots"
)

// Whatever a file of checks holds, each record is a check that can be stored, or an error of one line.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", "{}", `{"entity":"order/42","job_exec":"x","in":"3h"}`, `{"entity":"a/b","job_exec":"x","due_at":"2026-03-01 13:00","payload":{"a":[1]}}`,
		"entity,job_exec,in\norder/42,x,3h\n\"a/\"\"\nb\",x,1s\n", "\ufeffentity,in\na/b,1h", "entity\n\"a", "entity,entity\n", "{\"entity\": 1}\nnull\n[]",
		`{"entity":"a/\u0000\ud800","job_exec":"x","in":"1h","payload":null}`, "entity_name,entity_key,due_at\na,b,9999-12-31 23:59\n", "{} {}",
		`{"entity":"a/b","job_exec":"x","in":"1h","on_pending":"replace","spread":"6h","tag":" "}`,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	now := time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte, isCSV bool) {
		format := formatJSONL
		if isCSV {
			format = formatCSV
		}
		all, err := newRecords(bytes.NewReader(text), format)
		if err != nil {
			return
		}
		before := 0
		for range bytes.Count(text, []byte("\n")) + 2 {
			line, r, err := all.next()
			var unreadable *readError
			if errors.Is(err, io.EOF) || errors.As(err, &unreadable) {
				return
			}
			if line <= before {
				t.Fatalf("%q: line %d after line %d", text, line, before)
			}
			before = line
			if err != nil {
				continue
			}
			job, err := r.job(insertFlags{target: target{exec: "x"}, when: when{in: "1h"}}, now)
			if said := cleaned(err); strings.ContainsFunc(said, drives) || !utf8.ValidString(said) {
				t.Fatalf("%q: %q", text, said)
			}
			if err == nil && (job.Validate() != nil || job.DueAt.IsZero() || !utf8.ValidString(job.Entity.Key)) {
				t.Fatalf("%q became %+v", text, job)
			}
		}
		t.Fatalf("%q never ends", text)
	})
}

func cleaned(err error) string {
	if err == nil {
		return ""
	}
	return clean(err.Error())
}

func FuzzAssignments(f *testing.F) {
	for _, text := range []string{"", "*", "0,30;15,45", "1/2;2/2", "0-59/15", ";", "5/15", "1/0", "*/2;*", "9999999999999999999/2", "0,0"} {
		f.Add(text)
	}
	grid, err := slots.NewGrid(15 * time.Minute)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		list, err := parseAssignments(grid, text)
		if err != nil {
			return
		}
		if (len(list) == 0) != (strings.TrimSpace(text) == "") {
			t.Fatalf("%q: %v", text, list)
		}
		for _, a := range list {
			if a.Grid() != grid || !a.Next(time.Unix(0, 0)).After(time.Unix(0, 0)) {
				t.Fatalf("%q: %v", text, a)
			}
		}
		if len(list) > 0 {
			if _, err := slots.Cover(list...); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		}
	})
}

// What a row holds drives no terminal, however it is printed.
func FuzzPrintedRows(f *testing.F) {
	for _, text := range []string{"", "42", "\x1b[2J\x1b]0;title\x07", "\u009b31m", "a\nb\r\tc", "\u202e", "\xff\xfe", "🚢 naïve", "\x00", "\x7f"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		job := prescient.FutureJob{EntityName: "order", EntityKey: text, JobExec: "x", Tag: text, LastError: text}
		var b bytes.Buffer
		if err := errors.Join(say(&b, "%s", text), printJSON(&b, job),
			printTable(&b, []column{{title: "entity"}, {title: "tag"}}, [][]string{{clip(job.Entity().String(), 60), clip(text, 30)}})); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(b.String(), "\n", ""), drives) || !utf8.Valid(b.Bytes()) {
			t.Fatalf("%q is printed as %q", text, b.String())
		}
		if lines := bytes.Count(b.Bytes(), []byte("\n")); lines > 4 {
			t.Fatalf("%q is printed on %d lines: %q", text, lines, b.String())
		}
	})
}
