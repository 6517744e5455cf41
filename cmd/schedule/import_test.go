package schedule_test

import (
	"fmt"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

const three = `- id: a
  crontab: "*/15 * * * *"
  exec: x
  payload: |
    two
    lines
- id: b
  crontab: ["@daily", "0 9 * * mon"]
  zone: Europe/Berlin
  topic: reports
  payload_base64: /wA=
  owner: customer/1
  catch_up: all
  catch_up_within: 5m
  expires_after: 1h
  jitter: 10m
  coalesce: true
- id: c
  crontab: "@at 2020-01-01T00:00:00Z"
  exec: x
  enabled: false
`

func TestWhatIsExportedIsImportedWithoutAChange(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		name := rig.File(r.T, "three.yaml", three)
		if out := r.OK("schedule", "import", name); out != "created 3, changed 0, deleted 0; 0 stay as they are\n" {
			r.Error(out)
		}
		// Those of several pages, and one whose only time is over, though its timer was not called yet.
		var many strings.Builder
		for i := range 230 {
			fmt.Fprintf(&many, `{"id":"m%03d","crontab":"@hourly","exec":"x","payload":"\u001b%d"}`+"\n", i, i)
		}
		many.WriteString(`{"id":"soon","crontab":"@at 2026-11-20T10:10:00Z","topic":"t"}` + "\n")
		r.With(many.String(), "schedule", "import", "-").Wants(r.T, cmd.ExitOK)
		r.OK("schedule", "pause", "m007")
		r.At("10:11")
		for _, format := range [][]string{nil, {"--format", "jsonl"}, {"--json"}} {
			text := r.OK(append([]string{"schedule", "export"}, format...)...)
			if strings.ContainsAny(text, "\x1b") {
				r.Error("it drives a terminal")
			}
			got := r.With(text, "schedule", "import", "-")
			got.Wants(r.T, cmd.ExitOK)
			if got.Out != "created 0, changed 0, deleted 0; 234 stay as they are\n" {
				r.Errorf("%v: %v", format, got)
			}
		}
		if out := r.OK("schedule", "export", "--owner", "customer/1"); !strings.HasPrefix(out, "- id: b\n  crontab:\n    - \"@daily\"\n") || strings.Count(out, "- id:") != 1 {
			r.Error(out)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE version > 1"); n != 1 { // m007
			r.Errorf("%d were changed", n)
		}
		// All of it comes back where there is nothing.
		text := r.OK("schedule", "export")
		r.OK(append([]string{"schedule", "delete", "a", "b", "c", "soon"}, ids(230)...)...)
		text = strings.Replace(text, `"@at 2026-11-20T10:10:00Z"`, `"@at 2026-11-21T10:10:00Z"`, 1)
		r.With(text, "schedule", "import", "-").Wants(r.T, cmd.ExitOK)
		if again := r.OK("schedule", "export"); again != text {
			r.Error("another comes back")
		}
	})
}

// What plain SQL inserted may be no good. It is in the export all the same: an import with --delete-missing would delete it otherwise.
func TestAnExportNamesWhatImportRefuses(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "good", "@hourly", "--topic", "t")
		r.Exec("INSERT INTO schedule (id, crontabs, topic) VALUES ('bad', '61 * * * *', 't')")
		got := r.Execute("schedule", "export")
		got.Wants(r.T, cmd.ExitOK, `warning: import refuses "bad"; update it, or delete it: schedule "bad": invalid: crontab "61 * * * *"`)
		if strings.Count(got.Out, "- id:") != 2 || strings.Count(got.Err, "\n") != 1 {
			r.Errorf("%v", got)
		}
		r.With(got.Out, "schedule", "import", "-").Wants(r.T, cmd.ExitUsage, `schedule "bad"`, "1 of 2 schedules are bad")
	})
}

func ids(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("m%03d", i))
	}
	return list
}

func TestEachBadLineOfAFileIsNamedAndNothingIsDone(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("schedule", "create", "there", "@daily", "--topic", "t")
		got := r.With(`{"id":"good","crontab":"@daily","topic":"t"}
{"id":"b","crontab":"61 * * * *","topic":"t"}
{"id":"c","crontab":"* * * * *","topic":"t"}
{"id":"good","crontab":"@daily","topic":"t"}
{"id":"e","crontab":"@daily","topics":"t"}
not JSON
{"id":"g","crontab":"@at 2020-01-01T00:00:00Z","topic":"t"}
{"id":"there","crontab":"@hourly","topic":"t"}
`, "schedule", "import", "-")
		got.Wants(r.T, cmd.ExitUsage, `stdin:2: schedule "b"`, `stdin:3: schedule "c"`, "too fine", `stdin:4: schedule "good": it stands in line 1 already`,
			`stdin:5: schedule "e": unknown name "topics"; did you mean topic?`, "stdin:6: ", `stdin:7: invalid: schedule "g"`, "has no time after now",
			`stdin:8: schedule "there" is there already, with another definition: crontab @daily → @hourly`, "7 of 8 schedules are bad; nothing was imported")
		if n := r.Count("SELECT COUNT(*) FROM schedule"); n != 1 || got.Out != "" {
			r.Errorf("%d schedules, %v", n, got)
		}
		got = r.With(strings.Repeat("{}\n", 150), "schedule", "import", "-")
		got.Wants(r.T, cmd.ExitUsage, "stdin:100: it has no id", "150 of 150 schedules are bad, of which 100 are named")
		if strings.Contains(got.Err, "stdin:101:") {
			r.Error(got)
		}
		r.With("id: a\ncrontab: @daily\n", "schedule", "import", "-").Wants(r.T, cmd.ExitUsage, "stdin: it is no YAML: line 2", "in quotes?; nothing was imported")
		if out := r.With("", "schedule", "import", "-").Out; out != "created 0, changed 0, deleted 0; 0 stay as they are\n" {
			r.Error(out)
		}
	})
}

func TestAnotherDefinitionIsImportedWithUpdateAlone(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.With(three, "schedule", "import", "-").Wants(r.T, cmd.ExitOK)
		changed := strings.Replace(strings.Replace(three, "    lines\n", "    more lines\n", 1), "jitter: 10m\n", "jitter: 20m\n  enabled: false\n", 1)
		got := r.With(changed, "schedule", "import", "-")
		got.Wants(r.T, cmd.ExitPending, `stdin:1: schedule "a" is there already, with another definition: payload "two\nlines\n" → "two\nmore lines\n"`, `stdin:7: schedule "b"`,
			"2 of 3 schedules are bad; nothing was imported (--update changes what is there)")
		lines := "~ a: payload \"two\\nlines\\n\" → \"two\\nmore lines\\n\"\n~ b: jitter 10m → 20m; enabled true → false\n"
		if out := r.With(changed, "schedule", "import", "-", "--update", "--dry-run").Out; out != lines+"would have created 0, changed 2, deleted 0; 1 stay as they are\n" {
			r.Error(out)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE version > 1"); n != 0 {
			r.Errorf("a dry run changed %d", n)
		}
		if out := r.With(changed, "schedule", "import", "-", "--update").Out; out != lines+"created 0, changed 2, deleted 0; 1 stay as they are\n" {
			r.Error(out)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE version = 2 AND enabled = (id = 'a')"); n != 2 {
			r.Errorf("%d", n)
		}
		// What a file says nothing of, or true, stays paused.
		r.With(strings.Replace(changed, "enabled: false", "enabled: true", 2), "schedule", "import", "-", "--update").Wants(r.T, cmd.ExitOK)
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE enabled"); n != 1 {
			r.Errorf("%d are enabled", n)
		}
	})
}

func TestAFileIsAllThatAnOwnerHas(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for _, id := range []string{"changes", "stays", "goes"} {
			r.OK("schedule", "create", id, "@daily", "--exec", "x", "--owner", "customer/1")
		}
		r.OK("schedule", "create", "other", "@daily", "--exec", "x", "--owner", "customer/2")
		const wanted = "- {id: stays, crontab: '@daily', exec: x}\n- {id: changes, crontab: '@hourly', exec: x, owner: customer/1}\n- {id: new, crontab: '@daily', topic: t}\n"
		args := []string{"schedule", "import", "-", "--owner", "customer/1", "--delete-missing"}
		const lines = "+ new\n~ changes: crontab @daily → @hourly\n- goes\n"
		if got := r.With(wanted, append(args, "--dry-run")...); got.Out != lines+"would have created 1, changed 1, deleted 1; 1 stay as they are\n" {
			r.Error(got)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE version = 1 AND id <> 'new'"); n != 4 {
			r.Errorf("%d: a dry run did something", n)
		}
		if got := r.With(wanted, append(args, "--json", "--dry-run")...); got.Out != `{"id":"new","did":"created"}
{"id":"changes","did":"changed","changes":[{"name":"crontab","from":"@daily","to":"@hourly"}]}
{"id":"goes","did":"deleted"}
{"created":1,"changed":1,"deleted":1,"kept":1,"dry_run":true}
` {
			r.Error(got)
		}
		for _, taken := range []string{"- {id: other, crontab: '@daily', exec: x}\n", "- {id: other, crontab: '@daily', exec: x, owner: customer/2}\n"} {
			got := r.With(wanted+taken, args...)
			if got.Code == cmd.ExitOK || !strings.Contains(got.Err, `stdin:4: schedule "other"`) || !strings.Contains(got.Err, "customer/2") {
				r.Error(got)
			}
		}
		if got := r.With(wanted, args...); got.Out != lines+"created 1, changed 1, deleted 1; 1 stay as they are\n" {
			r.Error(got)
		}
		if got := r.With(wanted, args...); got.Out != "created 0, changed 0, deleted 0; 3 stay as they are\n" {
			r.Error(got)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE owner_name = 'customer' AND owner_key = '1'"); n != 3 {
			r.Errorf("%d", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM schedule WHERE id = 'other' AND version = 1"); n != 1 {
			r.Error("another owner's was touched")
		}
	})
}

func TestWithoutADatabaseBadLinesAreNamedAllTheSame(t *testing.T) {
	got := rig.Execute(t.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": rig.NoServer}, "{}\n", "schedule", "import", "-")
	got.Wants(t, cmd.ExitUsage, "stdin:1: it has no id", "1 of 1 schedules are bad", "cannot connect")
}
