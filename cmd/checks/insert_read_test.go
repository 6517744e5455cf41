package checks

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/words"
)

// Whatever a file of checks holds, each record is a check that can be stored, or an error of one line.
func FuzzRecords(f *testing.F) {
	for _, text := range []string{
		"", "\n\n", "{}", `{"entity":"order/42","job_exec":"x","in":"3h"}`, `{"entity":"a/b","job_exec":"x","due_at":"2026-03-01 13:00","payload":{"a":[1]}}`,
		"entity,job_exec,in\norder/42,x,3h\n\"a/\"\"\nb\",x,1s\n", "\ufeffentity,in\na/b,1h", "entity\n\"a", "entity,entity\n", "{\"entity\": 1}\nnull\n[]",
		`{"entity":"a/\u0000\ud800","job_exec":"x","in":"1h","payload":null}`, "entity_name,entity_key,due_at\na,b,9999-12-31 23:59\n", "{} {}",
		`{"entity":"a/b","job_exec":"x","in":"1h","on_pending":"replace","spread":"6h","expires":"1h","tag":" "}`,
	} {
		f.Add([]byte(text), false)
		f.Add([]byte(text), true)
	}
	now := time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text []byte, isCSV bool) {
		format := FormatJSONL
		if isCSV {
			format = FormatCSV
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
			job, err := r.job(insertFlags{target: target{exec: "x"}, when: arguments.When{In: "1h"}}, now)
			if said := cleaned(err); strings.ContainsFunc(said, words.Drives) || !utf8.ValidString(said) {
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
	return words.Clean(err.Error())
}

func TestAFileThatASpreadsheetWroteSaysWhatItIs(t *testing.T) {
	for _, test := range []struct{ format, text, want string }{
		{FormatCSV, "entity;due_at\norder/1;+1h\n", "its columns are parted by semicolons; want commas"},
		{FormatCSV, "\ufeff\"entity\";\"due_at\"\r\n", "parted by semicolons"},
		{FormatCSV, "entity\tdue_at\norder/1\t+1h\n", "parted by tabs"},
		{FormatCSV, "entity|due_at\n", "parted by bars"},
		{FormatCSV, "sep=;\nentity;due_at\n", `its first line is "sep=;", which only spreadsheets read: take it away, and part the columns with commas`},
		{FormatCSV, "\"SEP=,\"\r\nentity,due_at\n", "which only spreadsheets read: take it away"},
		{FormatCSV, "sep=\t\nentity\tdue_at\n", "which only spreadsheets read"},
		{FormatCSV, "entity,due_at\rorder/1,+1h\r", "CR alone"},
		{FormatCSV, "entity,due_at\norder/1,+1h\rorder/2,+1h\r", "CR alone"},
		{FormatCSV, "entity\norder/1\rorder/2\r", "CR alone"},
		{FormatCSV, "entity,due_at\norder/1;+1h\n", "parted by semicolons"},
		{FormatCSV, "\xff\xfee\x00n\x00", "it is UTF-16"},
		{FormatCSV, "e\x00n\x00", "it is UTF-16"},
		{FormatJSONL, "\xfe\xff\x00{", "it is UTF-16"},
		{FormatJSONL, "{\"in\":\"1h\"}\r{\"in\":\"1h\"}\r", "CR alone"},
		{FormatJSONL, "{}\n{\"in\":\"1h\"}\r{\"in\":\"1h\"}\r", "CR alone"},
		{FormatCSV, "entity, \tdue_at\norder/1,+1h\n", ""},
		{FormatCSV, "entity,payload\norder/1,\"{\"\"a;\"\":\r1}\"\n", ""},
		{FormatJSONL, "{\r\"in\":\"1h\"}\n", "CR alone"},
		{FormatJSONL, "{\"in\":\"1h\"}\r\n\r\n", ""},
	} {
		list, err := newRecords(strings.NewReader(test.text), test.format)
		for err == nil {
			_, _, err = list.next()
		}
		if errors.Is(err, io.EOF) && test.want == "" {
			continue
		}
		if test.want == "" || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s %q: %v; want %q", test.format, test.text, err, test.want)
		}
	}
}
