package file_test

import (
	"bufio"
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"

	"prescient/cmd/internal/file"
)

const rules = `- rule: remind
  occasion: order.placed
  exec: send-reminder
  delay: 3h
  spread: 10m
  expires_after: 1d12h
  on_pending: later
  ends:
    - order.shipped
    - order.cancelled
  payload: {"tone": "kind", "n": [1, 2.50, null, true]}
  max_checks: 3
  max_errors: -1
  enabled: false
- rule: second
  occasion: order.placed
  exec: call
  ends: order.shipped
`

func TestARulesFileSaysWhatItIs(t *testing.T) {
	var entries []file.Entry
	for entry, err := range file.Read(bufio.NewReader(strings.NewReader(rules)), file.YAML, file.Rule) {
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	var b bytes.Buffer
	if err := file.Write(&b, entries...); err != nil || b.String() != rules {
		t.Errorf("%v: %s", err, b.String())
	}
	if got := string(entries[0].Rule.Payload); got != `{"tone":"kind","n":[1,2.50,null,true]}` {
		t.Error(got)
	}
}

func TestWhatIsWrongWithARuleNamesItsLine(t *testing.T) {
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"- {task: a}\n", "it is no rule; want rule: with a name", 1},
		{"- rule: a\n  occasion: b\n  exec: c\n  dealy: 3h\n", `rule a: unknown name "dealy"; did you mean delay?`, 4},
		{"- rule: a\n  occasion: b\n  exec: c\n  payload:\n    x: 0x3\n", `payload: "0x3" is no number of JSON`, 5},
		{"- rule: a\n  occasion: b\n  exec: c\n  payload: [1]\n", "payload is no JSON object", 1},
		{"- rule: a\n  occasion: b\n  exec: c\n  delay: soon\n", "delay", 4},
		{"- rule: a\n  exec: c\n", "occasion", 1},
		{"- rule: a\n  occasion: b\n  exec: c\n  ends: [b]\n", "cannot end it", 1},
		{rules + "- {rule: second, occasion: b, exec: c}\n", "it stands in line 15 already", 19},
	} {
		var said []string
		for _, err := range file.Read(bufio.NewReader(strings.NewReader(test.text)), file.YAML, file.Rule) {
			if err == nil {
				continue
			}
			var bad *file.Bad
			if said = append(said, err.Error()); !errors.As(err, &bad) || bad.Line != test.line {
				t.Errorf("%q: %+v; want line %d", test.text, err, test.line)
			}
		}
		if len(said) != 1 || !strings.Contains(said[0], test.want) {
			t.Errorf("%q: %q; want %s", test.text, said, test.want)
		}
	}
}

func TestWhatIsLeftIsSaidByCommands(t *testing.T) {
	counts := file.Counts{file.Schedule: 2, file.Step: 1, file.Job: 3, file.Rule: 4}
	for _, test := range []struct {
		counts file.Counts
		wanted []file.Kind
		named  string
		left   []string
	}{
		{counts, []file.Kind{file.Schedule}, "schedules, jobs, steps and rules", []string{"the jobs and steps of the file (4) are left to job import", "the rules of the file (4) are left to rule import"}},
		{counts, []file.Kind{file.Job, file.Step}, "schedules, jobs, steps and rules", []string{"the schedules of the file (2) are left to schedule import", "the rules of the file (4) are left to rule import"}},
		{counts, []file.Kind{file.Rule}, "schedules, jobs, steps and rules", []string{"the schedules of the file (2) are left to schedule import", "the jobs and steps of the file (4) are left to job import"}},
		{file.Counts{file.Step: 1}, []file.Kind{file.Rule}, "jobs, steps and rules", []string{"the jobs and steps of the file (1) are left to job import"}},
		{file.Counts{file.Rule: 1, "": 1}, []file.Kind{file.Rule}, "rules", nil},
	} {
		if named, left := test.counts.Named(test.wanted...), test.counts.Left(test.wanted...); named != test.named || !reflect.DeepEqual(left, test.left) {
			t.Errorf("%v for %v: %q, %q", test.counts, test.wanted, named, left)
		}
	}
}
