package file_test

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"prescient/cmd/internal/file"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// readJobs returns the entries of a file of jobs, what is wrong with others, and what keeps it from being read on.
func readJobs(from io.Reader) (entries []file.Entry, bad []*file.Bad, err error) {
	for entry, wrong := range file.Read(bufio.NewReader(from), file.YAML, file.Job) {
		var one *file.Bad
		switch {
		case errors.As(wrong, &one):
			bad = append(bad, one)
		case wrong != nil:
			err = wrong
		default:
			entries = append(entries, entry)
		}
	}
	return entries, bad, err
}

// What is no number to YAML, since it is too large for one of its, is one all the same.
func TestANumberOfAnySizeComesBackAsItWasWritten(t *testing.T) {
	for _, number := range []string{"1e400", "-1e400", "1E-400", "1e5", strings.Repeat("9", 400), "-0", "2.50"} {
		step := steps.Step{Name: "a", JobExec: "x", Arguments: []byte(`{"k":` + number + `,"t":"` + number + `"}`)}
		var b bytes.Buffer
		if err := file.Write(&b, file.Entry{Step: &step}); err != nil {
			t.Fatal(err)
		}
		entries, bad, err := readJobs(&b)
		if err != nil || bad != nil || len(entries) != 1 || string(entries[0].Step.Arguments) != string(step.Arguments) {
			t.Errorf("%s: %+v, %v, %v", number, entries, bad, err)
		}
		entries, bad, err = readJobs(strings.NewReader("- {step: a, exec: x, arguments: {k: " + number + "}}\n"))
		if err != nil || bad != nil || len(entries) != 1 || string(entries[0].Step.Arguments) != `{"k":`+number+`}` {
			t.Errorf("%s: %+v, %v, %v", number, entries, bad, err)
		}
	}
}

const wholeFile = `- step: export
  exec: export-orders
  arguments: {"table": "orders", "n": [1, 2.50, null, true, 12345678901234567890]}
  timeout: 10m
- job: nightly
  crontab:
    - 0 3 * * *
    - '@weekly'
  zone: Europe/Berlin
  pool: heavy
  heartbeat: mornings
  overlap: queue
  tolerance: 5s
  quota: none
  catch_up: skip
  catch_up_within: 1h
  expires_after: 1d12h
  jitter: 30s
  coalesce: true
  enabled: false
  steps:
    - export
    - name: report
      exec: send-report
      arguments: "the 1st\nand last"
      timeout: 1s500ms
      retries: 3
      retry_wait: 250ms
      on_failure: continue
- job: least
  crontab: '*/15 * * * *'
  steps:
    - name: only
      exec: x
`

func TestAFileOfJobsIsReadAsItIsWritten(t *testing.T) {
	entries, bad, err := readJobs(strings.NewReader(wholeFile))
	if err != nil || bad != nil || len(entries) != 3 {
		t.Fatalf("%+v, %v, %v", entries, bad, err)
	}
	want := steps.Job{Name: "nightly", Crontabs: []string{"0 3 * * *", "@weekly"}, Zone: "Europe/Berlin", Pool: "heavy", Heartbeat: "mornings", Overlap: longrun.Queue, Tolerance: 5 * time.Second,
		Quota: schedule.NoQuota, CatchUp: schedule.Skip, CatchUpWithin: time.Hour, ExpiresAfter: 36 * time.Hour, Jitter: 30 * time.Second, MayCoalesce: true,
		Steps: []steps.Step{{Name: "export", Shared: true}, {Name: "report", JobExec: "send-report", Arguments: []byte(`"the 1st\nand last"`),
			Timeout: 1500 * time.Millisecond, Retries: 3, RetryWait: 250 * time.Millisecond, OnFailure: steps.Continue}}}
	if got := entries[1]; fmt.Sprintf("%+v", *got.Job) != fmt.Sprintf("%+v", want) || got.Enabled == nil || *got.Enabled || got.Line != 5 || got.String() != "job nightly" {
		t.Errorf("%+v\nwant\n%+v", *got.Job, want)
	}
	if got := entries[0].Step; string(got.Arguments) != `{"table":"orders","n":[1,2.50,null,true,12345678901234567890]}` || got.Timeout != 10*time.Minute {
		t.Errorf("%+v, %s", got, got.Arguments)
	}
	var b bytes.Buffer
	if err := file.Write(&b, entries...); err != nil || b.String() != wholeFile {
		t.Errorf("%v\n%s\nwant\n%s", err, b.String(), wholeFile)
	}
}

func TestWhatIsWrongWithAJobIsSaidAndTheRestIsRead(t *testing.T) {
	const job, ends = "- job: a\n  crontab: '@daily'\n", "  steps: [x]\n"
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"- nothing\n", "neither a job nor a step", 1},
		{"- {crontab: '@daily'}\n", "neither a job nor a step", 1},
		{job + "  crontabs: x\n", `job a: unknown name "crontabs"; did you mean crontab?; job, crontab, zone`, 3},
		{job, `job "a" has 0 steps; 1 to 100 are allowed`, 1},
		{job + "  steps: x\n", "steps is a text; want a list of steps", 3},
		{job + "  steps: [[x]]\n", "step 1: it is a list; want names and values", 3},
		{job + "  steps: [5]\n", "step 1 is a number; want a text, in quotes", 3},
		{job + "  steps: [x, x]\n", `step 1 has the name "x" too`, 3},
		{job + "  steps:\n  - name: x\n    exe: y\n", `step 1: unknown name "exe"; did you mean exec?`, 5},
		{job + "  steps:\n  - name: x\n", `step "x" has no job_exec`, 4},
		{job + "  steps:\n  - {name: x, exec: steps.run}\n", "is kept for jobs and timers", 4},
		{job + "  steps:\n  - {name: x, exec: schedule.fire}\n", "is kept for jobs and timers", 4},
		{job + "  steps:\n  - {name: x, exec: 'no blank'}\n", "job_exec", 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: many}\n", "retries is a text; want a whole number", 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 99999999999999999999}\n", `retries "99999999999999999999" is no whole number; 0 or more is allowed`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 1.5}\n", `retries "1.5" is no whole number; 0 or more is allowed`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: -1}\n", "retries -1", 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 010}\n", `retries "010" is no whole number as people write it; want digits, without a zero first`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 0x3}\n", `retries "0x3" is no`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 0b11}\n", `retries "0b11" is no`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 0o7}\n", `retries "0o7" is no`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 1_0}\n", `retries "1_0" is no`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: +3}\n", `retries "+3" is no`, 4},
		{job + "  steps:\n  - {name: x, exec: y, retries: 1001}\n", "retries 1001", 4},
		{job + "  steps:\n  - name: x\n    exec: y\n    arguments: {a: 010}\n", `"010" is no number of JSON`, 6},
		{job + "  steps:\n  - name: x\n    exec: y\n  - name: x\n    exec: y\n", `step 1 has the name "x" too`, 6},
		{job + "  steps:\n  - name: x\n    exec: y\n\n    retry_wait: 1s\n", "but no retries", 7},
		{job + "  steps:\n  - name: x\n    exec: y\n    retries: 1001\n  - name: z\n    exec: 'a b'\n", `; line 8: job "a", step 2`, 6},
		{"- job: a\n  crontab:\n  - '@daily'\n  - '61 * * * *'\n" + ends, "its minute is", 4},
		{job + ends + "  pool: a b\n", "pool", 4},
		{job + ends + "  jitter: 1ms\n", "jitter", 4},
		{job + "  steps:\n  - {name: x, exec: y, retry_wait: 1s}\n", "but no retries", 4},
		{job + "  steps:\n  - {name: x, exec: y, timeout: soon}\n", "timeout: ", 4},
		{job + "  steps:\n  - {name: x, exec: y, timeout: 5}\n", "timeout is a number; want a text, in quotes", 4},
		{job + "  steps:\n  - {name: x, exec: y, on_failure: pray}\n", `on_failure "pray"`, 4},
		{job + "  steps:\n  - name: x\n    exec: y\n    arguments:\n      a: 0x1F\n", `"0x1F" is no number of JSON`, 7},
		{job + "  steps:\n  - {name: x, exec: y, arguments: {a: 1, a: 2}}\n", "there twice", 4},
		{job + "  steps:\n  - {name: x, exec: y, arguments: {[1]: 2}}\n", "a name is no text", 4},
		{job + "  steps:\n  - {name: x, exec: y, arguments: &a [*a]}\n", "anchors, aliases and tags are not allowed", 4},
		{job + "  steps:\n  - {name: x, exec: y, arguments: !!binary eA==}\n", "anchors, aliases and tags are not allowed", 4},
		{job + "  steps:\n  - {name: x, exec: y, arguments: " + strings.Repeat("[", 200) + strings.Repeat("]", 200) + "}\n", "more than 100 deep", 4},
		{job + "  steps:\n  - {name: x, exec: y, arguments: '" + strings.Repeat("x", 70000) + "'}\n", "70002 bytes; at most 65536", 4},
		{job + "  zone: Europe/Atlantis\n" + ends, "Europe/Atlantis", 3},
		{job + "  catch_up: never\n" + ends, `catch_up "never"`, 3},
		{job + "  overlap: never\n" + ends, `overlap "never"`, 3},
		{job + "  quota: all\n" + ends, "quota: ", 3},
		{job + "  enabled: maybe\n" + ends, "enabled is a text; true and false are allowed", 3},
		{job + "  zone: ''\n" + ends, "zone is empty", 3},
		{job + "  zone: ~\n" + ends, "zone is nothing", 3},
		{job + "  zone: 2026-01-01\n" + ends, "zone is a time", 3},
		{job + "  zone: UTC\n  zone: UTC\n" + ends, "zone is there twice", 4},
		{"- job: a\n  crontab: ['@daily', 5]\n" + ends, "one in the list is a number", 2},
		{"- job: a\n  crontab: '61 * * * *'\n" + ends, "its minute is", 2},
		{"- job: 'a b'\n  crontab: '@daily'\n" + ends, "a b", 1},
		{"- job: " + strings.Repeat("x", 65) + "\n  crontab: '@daily'\n" + ends, "65 characters; at most 64", 1},
		{"- job: 5\n  crontab: '@daily'\n" + ends, "job is a number", 1},
		{"- step: a\n", `step "a" has no job_exec`, 1},
		{"- step: a\n  exec: y\n  crontab: '@daily'\n", `unknown name "crontab"`, 3},
	} {
		const rest = "- {job: last, crontab: '@daily', steps: [x]}\n- {job: last, crontab: '@daily', steps: [x]}\n"
		entries, bad, err := readJobs(strings.NewReader(test.text + rest))
		if err != nil || len(bad) != 2 || len(entries) != 1 || !strings.Contains(bad[0].Error(), test.want) || !strings.Contains(bad[1].Error(), "job last: it stands in line") {
			t.Errorf("%.200q: %v, %q, %+v; want %s", test.text, err, bad, entries, test.want)
			continue
		}
		if got := bad[0]; got.Line != test.line {
			t.Errorf("%.200q: line %d; want %d: %v", test.text, got.Line, test.line, got)
		}
	}
	for _, text := range []string{"- job: [", "a: \x00", "- *a\n", "\xff"} {
		if entries, _, err := readJobs(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), "it is no YAML") {
			t.Errorf("%q: %+v, %v", text, entries, err)
		}
	}
	for _, text := range []string{"", "---\n---\n~\n", "[]"} {
		if entries, bad, err := readJobs(strings.NewReader(text)); err != nil || len(entries)+len(bad) > 0 {
			t.Errorf("%q: %+v, %v, %v", text, entries, bad, err)
		}
	}
}

func TestTheDifferenceIsByLines(t *testing.T) {
	if got := strings.Join(file.Lines("a\nb\nc\n", "a\nc\nd\n"), "|"); got != "  a|- b|  c|+ d" {
		t.Error(got)
	}
	if got := strings.Join(file.Lines("a\n", "b\n"), "|"); got != "- a|+ b" {
		t.Error(got)
	}
	if got := file.Lines("a\n", "a\n"); got != nil {
		t.Error(got)
	}
}
