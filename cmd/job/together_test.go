package job_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// A file may have schedules beside jobs and steps: each command takes its own, and says what it leaves to the other.
func TestSchedulesAndJobsComeFromOneFile(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		const schedules = "- id: nightly\n  crontab: \"@daily\"\n  topic: reports\n"
		name := rig.File(r.T, "all.yaml", schedules+jobs)
		got := r.Execute("schedule", "import", name, "--update")
		got.Wants(r.T, cmd.ExitOK, "the jobs and steps of the file (2) are left to job import")
		r.Says(got.Out, "+ nightly\n", "created 1, changed 0, deleted 0; 0 stay as they are\n")
		if out := r.OK("job", "list"); out != "there are no jobs\n" {
			r.Error(out)
		}
		got = r.Execute("job", "import", name)
		got.Wants(r.T, cmd.ExitOK, "the schedules of the file (1) are left to schedule import")
		r.Says(got.Out, "+ step export\n", "+ job nightly\n", "2 created, 0 changed, 0 kept\n")
		r.OK("schedule", "pause", "nightly")
		// What both export is one file, which changes nothing.
		text := r.OK("schedule", "export") + r.OK("job", "export")
		if text != schedules+"  enabled: false\n"+jobs {
			r.Error(text)
		}
		r.Says(r.With(text, "schedule", "import", "-").Out, "created 0, changed 0, deleted 0; 1 stay as they are\n")
		r.Says(r.With(text, "job", "import", "-").Out, "0 created, 0 changed, 2 kept\n")
		r.Says(r.With(strings.Replace(text, "retries: 3", "retries: 4", 1), "job", "edit", "nightly", "--file", "-", "--yes").Out, "changed: job nightly\n")
	})
}

func TestACommonFileIsGoodForBothOrForNeither(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		const one = "- {id: a, crontab: '@daily', topic: t}\n"
		for text, want := range map[string][2]string{
			one + jobs + "- {job: b, x: 1}\n":      {`stdin:12: job b: unknown name "x"`, `stdin, line 12: job b: unknown name "x"`},
			jobs + one + one:                       {`schedule "a": it stands in line 11 already`, `schedule "a": it stands in line 11 already`},
			one + jobs + "- {id: b, crontab: x}\n": {"1 of 4 schedules, jobs and steps are bad; nothing was imported", "1 of the schedules, jobs and steps of stdin are wrong; nothing was done"},
			one + jobs + "- {task: b}\n":           {`unknown name "task"`, "it is neither a job nor a step"},
		} {
			r.With(text, "schedule", "import", "-").Wants(r.T, cmd.ExitUsage, want[0])
			r.With(text, "job", "import", "-").Wants(r.T, cmd.ExitUsage, want[1])
		}
		r.With(one, "job", "import", "-").Wants(r.T, cmd.ExitUsage, "there is no job and no step in stdin")
		r.With(one+"- {job: b, crontab: '@daily', steps: [none]}\n", "job", "import", "-").Wants(r.T, cmd.ExitUsage, "line 2: ", `job "b", step 1: there is no shared step "none"`)
		r.With(jobs, "schedule", "import", "-", "--owner", "customer/1", "--delete-missing").Wants(r.T, cmd.ExitUsage, "stdin has no schedules")
		if n := r.Count("SELECT (SELECT COUNT(*) FROM schedule) + (SELECT COUNT(*) FROM job_definition) + (SELECT COUNT(*) FROM step_definition)"); n != 0 {
			r.Errorf("%d rows", n)
		}
	})
}
