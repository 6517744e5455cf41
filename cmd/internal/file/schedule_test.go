package file_test

import (
	"bufio"
	"bytes"
	"errors"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"prescient/cmd/internal/file"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// read returns the schedules of a text, and what is said of the others.
func read(t testing.TB, text string, format file.Format) (entries []file.Entry, said []string) {
	t.Helper()
	for entry, err := range file.Read(bufio.NewReader(strings.NewReader(text)), format, file.Schedule) {
		if err != nil {
			said = append(said, err.Error())
			continue
		}
		entries = append(entries, entry)
	}
	return entries, said
}

func whole() schedule.Schedule {
	return schedule.Schedule{ID: "digest/42", Crontabs: []string{"0 9 * * mon-fri", "@every 1d12h"}, Zone: "Europe/Berlin", Payload: []byte("{\"a\":\n  1}\n"),
		JobExec: "send-digest", Owner: prescient.Entity{Name: "customer", Key: "4/2"}, CatchUp: schedule.All, CatchUpWithin: 90 * time.Second,
		ExpiresAfter: 36 * time.Hour, Jitter: time.Second, MayCoalesce: true,
		Long: true, Overlap: longrun.Queue, Tolerance: 5 * time.Second, Quota: schedule.NoQuota}
}

func written(t testing.TB, format file.Format, records ...file.Record) string {
	t.Helper()
	var b bytes.Buffer
	for _, r := range records {
		if err := file.WriteSchedule(&b, format, r); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestASchedulesFileSaysWhatItIs(t *testing.T) {
	least := schedule.Schedule{ID: "least", Crontabs: []string{"*/15 * * * *"}, Zone: "UTC", Topic: "reports", CatchUp: schedule.Once}
	for format, want := range map[file.Format]string{
		file.YAML: `- id: digest/42
  crontab:
    - "0 9 * * mon-fri"
    - "@every 1d12h"
  zone: Europe/Berlin
  exec: send-digest
  payload: |
    {"a":
      1}
  owner: customer/4/2
  catch_up: all
  catch_up_within: "1m30s"
  expires_after: "1d12h"
  jitter: "1s"
  coalesce: true
  long: true
  overlap: queue
  tolerance: "5s"
  quota: none
- id: least
  crontab: "*/15 * * * *"
  topic: reports
  enabled: false
`,
		file.JSONL: `{"id":"digest/42","crontab":["0 9 * * mon-fri","@every 1d12h"],"zone":"Europe/Berlin","exec":"send-digest","payload":"{\"a\":\n  1}\n","owner":"customer/4/2","catch_up":"all","catch_up_within":"1m30s","expires_after":"1d12h","jitter":"1s","coalesce":true,"long":true,"overlap":"queue","tolerance":"5s","quota":"none"}
{"id":"least","crontab":"*/15 * * * *","topic":"reports","enabled":false}
`,
	} {
		text := written(t, format, file.Of(whole(), true), file.Of(least, false))
		if text != want {
			t.Errorf("%s\nwant\n%s", text, want)
		}
		entries, said := read(t, text, format)
		if len(said) > 0 || len(entries) != 2 || !reflect.DeepEqual(entries[0].Schedule.Schedule, whole()) || entries[0].Schedule.Paused || !entries[1].Schedule.Paused {
			t.Errorf("%+v, %q", entries, said)
		}
		if format == file.YAML && (entries[0].Line != 1 || entries[1].Line != 20) || format == file.JSONL && entries[1].Line != 2 {
			t.Errorf("lines %d, %d", entries[0].Line, entries[1].Line)
		}
	}
}

func TestYAMLIsAListOrADocumentEach(t *testing.T) {
	for _, text := range []string{
		"- {id: a, crontab: '@daily', topic: t}\n- {id: b, crontab: ['@daily'], topic: t}\n",
		"id: a\ncrontab: '@daily'\ntopic: t\n---\nid: b\ncrontab:\n  - '@daily'\ntopic: t\nenabled: true\n",
		"---\n---\n- {id: a, crontab: '@daily', topic: t}\n---\n~\n---\n[{id: b, crontab: '@daily', topic: t}]\n...\n",
		"\ufeff" + `[{"id":"a","crontab":"@daily","topic":"t"},{"id":"b","crontab":"@daily","topic":"t"}]`,
	} {
		entries, said := read(t, text, file.YAML)
		if len(said) > 0 || len(entries) != 2 || entries[0].Schedule.ID != "a" || entries[1].Schedule.ID != "b" || entries[1].Schedule.Paused {
			t.Errorf("%q: %+v, %q", text, entries, said)
		}
	}
	for _, empty := range []string{"", "\n", "---\n", "[]", "# nothing\n"} {
		if entries, said := read(t, empty, file.YAML); len(entries)+len(said) > 0 {
			t.Errorf("%q: %+v, %q", empty, entries, said)
		}
	}
}

func TestWhatIsWrongIsSaidAndTheRestIsRead(t *testing.T) {
	const rest = `"crontab":"@daily","topic":"t"`
	for _, test := range []struct{ line, want string }{
		{`{"id":"a","crontabs":"@daily","topic":"t"}`, `schedule "a": unknown name "crontabs"; did you mean crontab?; id, crontab`},
		{`{"ID":"a",` + rest + `}`, `unknown name "ID"; did you mean id?`},
		{`{"id":5,` + rest + `}`, `id is a number; want a text, in quotes`},
		{`{"id":"",` + rest + `}`, `id is empty`},
		{`{` + rest + `}`, `it has no id`},
		{`{"id":"a","topic":"t"}`, `schedule "a": it has no crontab`},
		{`{"id":"a","crontab":[],"topic":"t"}`, `it has no crontab`},
		{`{"id":"a","crontab":["@daily",5],"topic":"t"}`, `crontab has a number in its list; want texts`},
		{`{"id":"a","crontab":[["@daily"]],"topic":"t"}`, `crontab has a list in its list; want texts`},
		{`{"id":"a","crontab":{},"topic":"t"}`, `crontab is an object; want a text, or a list of texts`},
		{`{"id":"a","crontab":"60 * * * *","topic":"t"}`, `its minute is "60"; 0 to 59`},
		{`{"id":"a","crontab":"@daily"}`, `give one of the two`},
		{`{"id":"a","exec":"x",` + rest + `}`, `give one of the two`},
		{`{"id":"a","zone":"Europe/Atlantis",` + rest + `}`, `time zone "Europe/Atlantis"`},
		{`{"id":"a","jitter":"soon",` + rest + `}`, `jitter: `},
		{`{"id":"a","jitter":"-5m",` + rest + `}`, `jitter -5m0s`},
		{`{"id":"a","jitter":5,` + rest + `}`, `jitter is a number; want a text, in quotes`},
		{`{"id":"a","catch_up":"never",` + rest + `}`, `catch_up "never": once, skip or all are allowed`},
		{`{"id":"a","owner":"customer",` + rest + `}`, `owner: `},
		{`{"id":"a","coalesce":"yes",` + rest + `}`, `coalesce is a text; true and false are allowed`},
		{`{"id":"a","long":"yes",` + rest + `}`, `long is a text; true and false are allowed`},
		{`{"id":"a","long":true,` + rest + `}`, `only a schedule that runs a job_exec may be long`},
		{`{"id":"a","overlap":"queue","crontab":"@daily","exec":"x"}`, `schedule "a" is not long; overlap, tolerance and quota are for long runs`},
		{`{"id":"a","long":true,"overlap":"never","crontab":"@daily","exec":"x"}`, `overlap "never": allow, forbid or queue are allowed`},
		{`{"id":"a","pool":"heavy","crontab":"@daily","exec":"x"}`, `schedule "a" has pool "heavy" and is not long; pools are for long runs`},
		{`{"id":"a","long":true,"pool":"a b","crontab":"@daily","exec":"x"}`, `pool "a b": only letters, digits and _ . - are allowed`},
		{`{"id":"a","long":true,"tolerance":"soon","crontab":"@daily","exec":"x"}`, `tolerance: `},
		{`{"id":"a","long":true,"tolerance":5,"crontab":"@daily","exec":"x"}`, `tolerance is a number; want a text, in quotes`},
		{`{"id":"a","long":true,"quota":"all","crontab":"@daily","exec":"x"}`, `"all" is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d, or none`},
		{`{"id":"a","long":true,"quota":"-1s","crontab":"@daily","exec":"x"}`, `quota -1s: whole seconds are allowed, or none`},
		{`{"id":"a","enabled":null,` + rest + `}`, `enabled is nothing; true and false are allowed`},
		{`{"id":"a","payload":null,` + rest + `}`, `payload is nothing; want a text, in quotes`},
		{`{"id":"a","payload":{"b":1},` + rest + `}`, `payload is an object; want a text`},
		{`{"id":"a","payload":"x","payload_base64":"eA==",` + rest + `}`, `payload and payload_base64 exclude each other`},
		{`{"id":"a","payload_base64":"?",` + rest + `}`, `payload_base64 "?": base64`},
		{`{"id":"a","id":"b",` + rest + `}`, `schedule "b": id is there twice`},
		{`{"id":"first",` + rest + `}`, `schedule "first": it stands in line 1 already`},
		{`{"id":"a\ud800",` + rest + `}`, `id has half of a surrogate pair`},
		{`["id"]`, `no `},
		{`{"id":1,"zone":1,"exec":1,"topic":1}`, `and more`},
	} {
		const first, last = `{"id":"first",` + rest + `}`, `{"id":"last\ufffd",` + rest + `}`
		for format, text := range map[file.Format]string{
			file.JSONL: first + "\n" + test.line + "\n\n" + last,
			file.YAML:  "- " + first + "\n- " + test.line + "\n- " + strings.ReplaceAll(last, `\ufffd`, "\ufffd") + "\n",
		} {
			if format == file.YAML && strings.Contains(test.line, `\ud800`) {
				continue // the reader of YAML ends there
			}
			entries, said := read(t, text, format)
			if len(said) != 1 || !strings.Contains(said[0], test.want) || len(entries) != 2 || entries[1].Schedule.ID != "last\ufffd" {
				t.Errorf("%s: %s: %q, %d read; want %s", format, test.line, said, len(entries), test.want)
			}
			for _, err := range file.Read(bufio.NewReader(strings.NewReader(text)), format, file.Schedule) {
				var bad *file.Bad
				if err != nil && (!errors.As(err, &bad) || bad.Line != 2) {
					t.Errorf("%v", err)
				}
			}
		}
	}
}

func TestWhatCannotBeReadOnEndsTheFile(t *testing.T) {
	good := "- {id: a, crontab: '@daily', topic: t}\n"
	for text, want := range map[string]string{
		"id: a\ncrontab: @daily\n":      "line 2",
		"id: a\ncrontab: */5 * * * *\n": "is a crontab that begins with * or @ in quotes?",
		good + "---\nid: [":             "it is no YAML",
		"id: a\n\tcrontab: '@daily'\n":  "it is no YAML",
		"id: \"\xff\"\n":                "it is no YAML",
		"id: a\x00\n":                   "it is no YAML",
	} {
		entries, said := read(t, text, file.YAML)
		if len(said) != 1 || !strings.Contains(said[0], want) || len(entries) != strings.Count(text, "@daily', topic") {
			t.Errorf("%q: %q, %+v; want %s", text, said, entries, want)
		}
	}
	broken := errors.New("broken")
	for _, format := range []file.Format{file.YAML, file.JSONL} {
		for _, err := range file.Read(bufio.NewReader(iotest.ErrReader(broken)), format, file.Schedule) {
			var bad *file.Bad
			if err == nil || errors.As(err, &bad) || !strings.Contains(err.Error(), "broken") {
				t.Errorf("%s: %v", format, err)
			}
		}
	}
}

func TestYAMLThatStandsForSomethingElseIsRefused(t *testing.T) {
	for text, want := range map[string]string{
		"- &x {id: a, crontab: '@daily', topic: t}\n- *x\n":                  "anchors, aliases and tags",
		"- id: &x a\n  crontab: '@daily'\n  topic: *x\n":                     "anchors, aliases and tags",
		"- id: a\n  crontab: '@daily'\n  topic: t\n  payload: !!binary eA==": "anchors, aliases and tags",
		"- <<: {id: a}\n  crontab: '@daily'\n":                               `unknown name "<<"`,
		"- id: 2026-01-01\n  crontab: '@daily'\n  topic: t\n":                "id is a time; want a text, in quotes",
		"- id: yes\n  crontab: '@daily'\n  topic: t\n":                       "",
		"- id: true\n  crontab: '@daily'\n  topic: t\n":                      "id is true or false; want a text, in quotes",
		"- {[a]: b}\n": "a name is no text",
		"text":         "it is no schedule",
	} {
		entries, said := read(t, text, file.YAML)
		if want == "" && (len(said) > 0 || len(entries) != 1) || want != "" && (len(said) == 0 || !strings.Contains(said[0], want) || len(entries) > 0) {
			t.Errorf("%q: %q, %+v; want %s", text, said, entries, want)
		}
	}
}

func TestWhatIsWrongNamesItsOwnLine(t *testing.T) {
	for _, test := range []struct {
		text, want string
		line       int
	}{
		{"zone: Europe/Atlantis\n", "Europe/Atlantis", 4},
		{"zone: UTC\n  jitter: 1ms\n", "jitter 1ms", 5},
		{"jitter: soon\n", "jitter: ", 4},
		{"catch_up: never\n", `catch_up "never"`, 4},
		{"quota: all\n", "quota: ", 4},
		{"zone: UTC\n  owner: customer\n", "owner: ", 5},
		{"zone: UTC\n  owner: cust omer/1\n", "owner: ", 5},
		{"payload: x\n  payload_base64: eA==\n", "exclude each other", 5},
		{"payload_base64: '?'\n", "payload_base64", 4},
		{"pool: heavy\n", "pools are for long runs", 4},
		{"overlap: queue\n", "is not long", 4},
		{"exec: x\n", "one of the two", 4},
		{"zone: 5\n  jitter: 5\n", "; line 5: jitter is a number", 4},
	} {
		text := "- id: a\n  crontab: '@daily'\n  topic: t\n  " + test.text
		found := 0
		for _, err := range file.Read(bufio.NewReader(strings.NewReader(text)), file.YAML, file.Schedule) {
			var bad *file.Bad
			if found++; !errors.As(err, &bad) || bad.Line != test.line || !strings.Contains(bad.Error(), test.want) {
				t.Errorf("%q: %+v; want %s in line %d", text, err, test.want, test.line)
			}
		}
		if found != 1 {
			t.Errorf("%q: %d", text, found)
		}
	}
	text := "- topic: t\n  id: a\n  crontab:\n  - '@daily'\n  - '61 * * * *'\n- topic: t\n  crontab: '@daily'\n  id: 'b '\n"
	var lines []int
	for _, err := range file.Read(bufio.NewReader(strings.NewReader(text)), file.YAML, file.Schedule) {
		var bad *file.Bad
		if !errors.As(err, &bad) {
			t.Fatal(err)
		}
		lines = append(lines, bad.Line)
	}
	if !reflect.DeepEqual(lines, []int{5, 8}) {
		t.Errorf("lines %v", lines)
	}
}

func TestJSONLinesThatAreNoneSayWhatTheyAre(t *testing.T) {
	const one = `{"id":"a","crontab":"@daily","topic":"t"}`
	wide := "\xff\xfe" + strings.Join(strings.Split(one, ""), "\x00") + "\x00\n\x00"
	for text, want := range map[string]string{wide: "it is UTF-16", wide[2:]: "it is UTF-16", one + "\r" + one + "\r": "CR alone", one + "\n" + one + "\r" + one + "\n": "CR alone"} {
		from := bufio.NewReader(strings.NewReader(text))
		if format := file.Guess("-", from); format != file.JSONL {
			t.Errorf("%q: %s", text, format)
		}
		if _, said := read(t, text, file.JSONL); len(said) != 1 || !strings.Contains(said[0], want) {
			t.Errorf("%q: %q; want %s", text, said, want)
		}
	}
}

func TestTheFormatIsGuessed(t *testing.T) {
	for _, test := range []struct {
		name, text string
		want       file.Format
	}{
		{"a.yaml", "{", file.YAML}, {"a.YML", "{", file.YAML}, {"a.jsonl", "-", file.JSONL}, {"a.ndjson", "", file.JSONL},
		{"-", "- id: a", file.YAML}, {"-", "\n {\"id\"", file.JSONL}, {"-", "\ufeff{", file.JSONL}, {"a.json", "[{", file.YAML}, {"a.json", "{", file.JSONL}, {"a", "", file.YAML},
	} {
		if got := file.Guess(test.name, bufio.NewReader(strings.NewReader(test.text))); got != test.want {
			t.Errorf("%+v: %s", test, got)
		}
	}
	for text, good := range map[string]bool{"yaml": true, "jsonl": true, "csv": false, "": false} {
		if _, err := file.ParseFormat(text); (err == nil) != good {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestADifferenceNamesWhatChanges(t *testing.T) {
	stored := schedule.Stored{Schedule: whole(), Enabled: true}
	if list := file.Difference(stored, schedule.Wanted{Schedule: whole()}); len(list) > 0 {
		t.Errorf("%v", list)
	}
	for want, change := range map[string]func(w *schedule.Wanted){
		"crontab 0 9 * * mon-fri, @every 1d12h → @daily": func(w *schedule.Wanted) { w.Crontabs = []string{"@daily"} },
		"zone Europe/Berlin → none":                      func(w *schedule.Wanted) { w.Zone = "" },
		`payload "{\"a\":\n  1}\n" → none`:               func(w *schedule.Wanted) { w.Payload = nil },
		`payload "{\"a\":\n  1}\n" → ""`:                 func(w *schedule.Wanted) { w.Payload = []byte{} },
		`payload "{\"a\":\n  1}\n" → (100 bytes)`:        func(w *schedule.Wanted) { w.Payload = bytes.Repeat([]byte("a"), 100) },
		"payload_base64 none → (2 bytes)":                func(w *schedule.Wanted) { w.Payload = []byte{0xff, 0} },
		"owner customer/4/2 → none":                      func(w *schedule.Wanted) { w.Owner = prescient.Entity{} },
		"catch_up all → none":                            func(w *schedule.Wanted) { w.CatchUp = schedule.Once },
		"catch_up_within 1m30s → 2m":                     func(w *schedule.Wanted) { w.CatchUpWithin = 2 * time.Minute },
		"expires_after 1d12h → none":                     func(w *schedule.Wanted) { w.ExpiresAfter = 0 },
		"jitter 1s → 1d1s":                               func(w *schedule.Wanted) { w.Jitter = 24*time.Hour + time.Second },
		"long true → none": func(w *schedule.Wanted) {
			w.Long, w.Overlap, w.Tolerance, w.Quota = false, "", 0, 0
		},
		"overlap queue → none":     func(w *schedule.Wanted) { w.Overlap = longrun.Forbid },
		"tolerance 5s → 1m":        func(w *schedule.Wanted) { w.Tolerance = time.Minute },
		"pool none → heavy":        func(w *schedule.Wanted) { w.Pool = "heavy" },
		"heartbeat none → nightly": func(w *schedule.Wanted) { w.Heartbeat = "nightly" },
		"quota none → 30s":         func(w *schedule.Wanted) { w.Quota = 30 * time.Second },
		"coalesce true → none":     func(w *schedule.Wanted) { w.MayCoalesce = false },
		"topic none → t":           func(w *schedule.Wanted) { w.JobExec, w.Topic = "", "t" },
		"enabled true → false":     func(w *schedule.Wanted) { w.Paused = true },
	} {
		w := schedule.Wanted{Schedule: whole()}
		change(&w)
		list := file.Difference(stored, w)
		if len(list) == 0 || list[len(list)-1].String() != want && list[0].String() != want {
			t.Errorf("%v; want %s", list, want)
		}
	}
	stored.Enabled = false
	if list := file.Difference(stored, schedule.Wanted{Schedule: whole()}); len(list) > 0 {
		t.Errorf("what is paused is to stay so: %v", list)
	}
}
