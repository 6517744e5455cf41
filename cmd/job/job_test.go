package job_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

const jobs = `- step: export
  exec: export-orders
  arguments: {"table": "orders"}
- job: nightly
  crontab: 0 12 * * *
  steps:
    - export
    - name: report
      exec: send-report
      retries: 3
`

func TestAJobFromItsCreationToItsEnd(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.Says(r.OK("job", "list"), "there are no jobs\n")
		r.Says(r.OK("job", "list", "--step"), "there are no shared steps\n")
		r.Says(r.OK("runs"), "no run is there")
		got := r.With(jobs, "job", "create", "-")
		got.Wants(r.T, cmd.ExitOK)
		r.Says(got.Out, "+ step export\n", "+ job nightly\n", "2 created, 0 changed, 0 kept")
		r.Says(r.With(jobs, "job", "create", "-").Out, "0 created, 0 changed, 2 kept")
		if file := r.OK("job", "export"); file != jobs {
			r.Errorf("%s\nwant\n%s", file, jobs)
		}
		if file := r.OK("job", "export", "nightly"); file != jobs {
			r.Error(file)
		}
		other := strings.Replace(jobs, "retries: 3", "retries: 4", 1)
		r.With(other, "job", "create", "-").Wants(r.T, cmd.ExitPending, "the database has job nightly already, with another definition. Nothing of the file was taken; job import --update changes it")
		r.With(other, "job", "import", "-").Wants(r.T, cmd.ExitPending, "job nightly")
		r.Says(r.With(other, "job", "import", "-", "--update", "--dry-run").Out, "~ job nightly\n", "-       retries: 3\n", "+       retries: 4\n", "nothing was done")
		r.Says(r.OK("job", "show", "nightly"), "retries: 3\n", "version     1\n", "state       enabled\n", "next        2026-11-20 12:00:00\n")
		r.Says(r.With(other, "job", "import", "-", "--update").Out, "0 created, 1 changed, 1 kept")
		r.Says(r.OK("job", "show", "nightly", "-n", "1"), "version     2; before it 1\n")
		r.Says(r.OK("job", "show", "nightly", "--version", "1"), "retries: 3\n", "      exec: export-orders\n") // whole
		changed := strings.Replace(strings.Split(other, "- job")[0], `"orders"`, `"customers"`, 1)
		r.Says(r.With(changed, "job", "import", "-", "--update").Out, "~ step export\n", "+   arguments: {\"table\": \"customers\"}\n", "of job nightly, too")
		r.Says(r.OK("job", "show", "nightly", "--version", "3"), "customers")
		r.Says(r.OK("job", "show", "--step", "export"), "customers", "version 2, of jobs: nightly\n")
		r.Says(r.OK("job", "list"), "nightly", "0 12 * * *", "export, report", "2026-11-20 12:00:00")
		r.Says(r.OK("job", "list", "--json"), `{"name":"nightly","version":3,"crontab":["0 12 * * *"],"zone":"UTC","steps":["export","report"],"enabled":true,"next":"2026-11-20T12:00:00Z"`)
		r.Says(r.OK("job", "list", "--step"), "export-orders")
		r.Says(r.OK("job", "pause", "nightly", "--reason", "the orders are moved"), "paused: nightly")
		if n := r.Count("SELECT COUNT(*) FROM audit_log WHERE kind = 'job' AND id = 'nightly' AND verb = 'pause' AND command = 'job pause' AND reason = 'the orders are moved'"); n != 1 {
			r.Errorf("%d entries in the audit say why it was paused", n)
		}
		r.Says(r.OK("job", "pause", "nightly"), "kept: nightly")
		r.Says(r.OK("job", "list"), "paused")
		r.Says(r.OK("job", "export"), "  enabled: false\n")
		r.Says(r.OK("job", "resume", "nightly"), "resumed: nightly")
		run := strings.TrimSpace(r.OK("job", "run", "nightly"))
		if want := fmt.Sprintf("nightly-m%d", rig.At("10:05").Unix()); run != want {
			r.Errorf("%s; want %s", run, want)
		}
		r.Execute("runs", run).Wants(r.T, cmd.ExitNotFound, "has not begun")
		if out := r.OK("runs", "--json"); out != "" {
			r.Error(out)
		}
		r.Execute("job", "delete", "--step", "export").Wants(r.T, cmd.ExitPending, `step "export" is a step of nightly`)
		r.Says(r.OK("job", "delete", "nightly"), "deleted: nightly")
		r.Says(r.OK("job", "versions", "nightly"), "version", "0 12 * * *", "export, report")
		if n := strings.Count(r.OK("job", "versions", "nightly", "--json"), "\n"); n != 3 {
			r.Errorf("%d versions", n)
		}
		r.Execute("job", "versions", "none").Wants(r.T, cmd.ExitNotFound, "none")
		r.Says(r.OK("job", "delete", "--step", "export"), "deleted: export")
		for _, args := range [][]string{{"show", "nightly"}, {"pause", "nightly"}, {"run", "nightly"}, {"delete", "nightly"}, {"export", "nightly"}, {"show", "--step", "export"}} {
			r.Execute(append([]string{"job"}, args...)...).Wants(r.T, cmd.ExitNotFound, "no such job or step")
		}
		r.Says(r.OK("job", "show", "nightly", "--version", "2"), "retries: 4") // of what is gone
		if n := r.Count("SELECT COUNT(*) FROM audit_log WHERE kind IN ('job', 'step')"); n != 10 {
			r.Errorf("%d entries in the audit", n)
		}
	})
}

func TestAnEditShowsItsDifferenceAndAsks(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.With(jobs, "job", "create", "-").Wants(r.T, cmd.ExitOK)
		changes := filepath.Join(r.TempDir(), "editor")
		r.Must(os.WriteFile(changes, []byte("#!/bin/sh\nsed -i \"s/$1/$2/\" \"$3\"\n"), 0o700))
		editor := func(from, to, answer string, args ...string) rig.Result {
			r.Helper()
			r.Variables["EDITOR"] = fmt.Sprintf("'%s' '%s' '%s'", changes, from, to)
			return r.With(answer, append([]string{"job", "edit"}, args...)...)
		}
		got := editor("0 12", "0 13", "no\n", "nightly")
		got.Wants(r.T, cmd.ExitOK, "make this change? [y/N]", "nothing was done")
		r.Says(got.Out, "-   crontab: 0 12 * * *\n", "+   crontab: 0 13 * * *\n")
		editor("0 12", "0 13", "", "nightly").Wants(r.T, cmd.ExitOK, "nothing was done")
		r.Says(r.OK("job", "show", "nightly"), "crontab: 0 12", "version     1\n")
		r.Says(editor("0 12", "0 13", "y\n", "nightly").Out, "changed: job nightly\n")
		r.Says(r.OK("job", "show", "nightly"), "crontab: 0 13", "version     2; before it 1\n", "next        2026-11-20 13:00:00\n")
		r.Says(editor("nothing", "x", "", "nightly").Out, "kept: job nightly is so already")
		editor("0 13", "61 13", "y\n", "nightly").Wants(r.T, cmd.ExitUsage, "61")
		editor("job: nightly", "job: daily", "y\n", "nightly").Wants(r.T, cmd.ExitUsage, "job nightly is not in the file")
		r.Says(editor("orders", "customers", "", "--step", "export", "--yes").Out, `+   exec: export-customers`, "changed: step export; of job nightly, too")
		r.Variables["EDITOR"] = "false"
		r.With("", "job", "edit", "nightly").Wants(r.T, cmd.ExitFailure, "the editor false", "nothing was done")
		delete(r.Variables, "EDITOR")
		r.With("", "job", "edit", "nightly").Wants(r.T, cmd.ExitUsage, "neither VISUAL nor EDITOR is set")
		r.With(jobs, "job", "edit", "nightly", "--file", "-").Wants(r.T, cmd.ExitUsage, "--yes")
		r.Says(r.With(jobs, "job", "edit", "nightly", "--file", "-", "--yes", "--json").Out, `{"name":"job nightly","did":"changed","lines":["  - job: nightly","-   crontab: 0 13 * * *"`)
		r.Execute("job", "edit", "none", "--file", "x").Wants(r.T, cmd.ExitNotFound)
	})
}

func TestABadFileOfJobsChangesNothing(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for text, want := range map[string]string{
			"":                        "there is no job and no step in stdin",
			"- job: [":                "it is no YAML",
			jobs + "- {job: b, x: 1}": `stdin, line 11: job b: unknown name "x"`,
			"- {job: b, crontab: '@daily', steps: [none]}":                              `there is no shared step "none"`,
			jobs + "- {job: b, crontab: '@daily', steps: [none]}":                       `there is no shared step "none"`,
			"- {job: b, crontab: '* * * * *', steps: [{name: a, exec: b}]}":             "too fine for slots",
			"- job: b\n  steps:\n  - {name: a, exec: b}\n  - none\n  crontab: '@daily'": "line 4: ",
			"- job: b\n  steps: [{name: a, exec: b}]\n\n  crontab: '* * * * *'":         "line 4: ",
		} {
			r.With(text, "job", "import", "-").Wants(r.T, cmd.ExitUsage, want)
		}
		if n := r.Count("SELECT (SELECT COUNT(*) FROM job_definition) + (SELECT COUNT(*) FROM step_definition) + (SELECT COUNT(*) FROM job_version)"); n != 0 {
			r.Errorf("%d rows", n)
		}
		r.Execute("job", "import", "/no/such/file").Wants(r.T, cmd.ExitUsage, "/no/such/file")
		r.Execute("job", "import").Wants(r.T, cmd.ExitUsage, "takes a file")
		r.Execute("job", "pause", "a", "a").Wants(r.T, cmd.ExitUsage, "twice")
		r.Execute("runs", "--limit", "0").Wants(r.T, cmd.ExitUsage, "--limit 0: 1 to 10000")
		r.Execute("runs", "x").Wants(r.T, cmd.ExitUsage, "want the name of a job, - and a unix second")
	})
}

func TestTheScheduleOfAJobHasNoBackDoor(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.With(jobs, "job", "create", "-").Wants(r.T, cmd.ExitOK)
		for _, args := range [][]string{{"update", "job/nightly", "@daily"}, {"delete", "job/nightly"}, {"pause", "job/nightly"}, {"create", "x", "@daily", "--exec", "steps.run", "--long"}} {
			r.Execute(append([]string{"schedule"}, args...)...).Wants(r.T, cmd.ExitUsage, "the schedule belongs to a job")
		}
		if out := r.OK("schedule", "export"); strings.Contains(out, "nightly") {
			r.Error(out) // to import it would be refused
		}
	})
}
