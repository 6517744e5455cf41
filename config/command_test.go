package config

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"prescient/config/value"
	"prescient/prescient"
)

func TestCommandsAreRead(t *testing.T) {
	c := given{file: `
jobs:
  command:
    - exec: backup
      run: [/usr/local/bin/backup, --customer, "{entity_key}", ""]
      env: {BUCKET: s3://b, Path_2: x}
      pass_env: [AWS_PROFILE, HOME]
      dir: /srv
      user: backup
      timeout: 90s
      grace: 2s
      memory: 512MiB
      cpu: 1m
      nice: 0
      processes: 0
      files: 100
      max_errors: 3
    - exec: export
      run:
        - mysqldump shop | gzip
      shell: true
      long: true
      pool: heavy
`}.mustLoad(t)
	shown := func(text string) value.Secret { return value.SecretShownAs(text, text) }
	want := []CommandJob{
		{
			Exec: "backup", Run: []value.Secret{shown("/usr/local/bin/backup"), value.NewSecret("--customer"), value.NewSecret("{entity_key}"), value.NewSecret("")},
			Env: map[string]value.Secret{"BUCKET": value.NewSecret("s3://b"), "Path_2": value.NewSecret("x")}, PassEnv: []string{"AWS_PROFILE", "HOME"},
			Dir: "/srv", User: "backup", Grace: 2 * time.Second, Limits: Limits{Memory: 512 << 20, CPU: time.Minute, Nice: None, Processes: None, Files: 100},
			Guards: prescient.Guards{Timeout: 90 * time.Second, MaxErrors: 3},
		},
		{Exec: "export", Run: []value.Secret{shown("mysqldump shop | gzip")}, Shell: true, Long: true, Pool: "heavy"},
	}
	if !reflect.DeepEqual(c.Jobs.Command, want) {
		t.Errorf("got %+v\nwant %+v", c.Jobs.Command, want)
	}
	if got := strings.Join(c.Jobs.Command[0].RevealRun(), "|"); got != "/usr/local/bin/backup|--customer|{entity_key}|" {
		t.Errorf("run is %q", got)
	}
	if got := c.Jobs.Command[0].RevealEnv(); !reflect.DeepEqual(got, map[string]string{"BUCKET": "s3://b", "Path_2": "x"}) {
		t.Errorf("variables are %v", got)
	}
	described := c.Redacted()
	for _, line := range []string{"jobs.command[0].run[0]: /usr/local/bin/backup  #", "jobs.command[0].run[1]: ***  #", "jobs.command[0].env.BUCKET: ***  #", "jobs.command[0].pass_env[1]: HOME  #"} {
		if !strings.Contains(described, line) {
			t.Errorf("%q is not in %s", line, described)
		}
	}
}

func TestCommandsThatAreRefused(t *testing.T) {
	item := func(more string) string { return "jobs: {command: [{exec: a, run: [x], " + more + "}]}" }
	for _, test := range []struct{ file, want string }{
		{"jobs: {command: [{}]}", "jobs.command[0].exec: it is missing (file FILE, line 1)\njobs.command[0].run: it is missing; want a program and its arguments: [/usr/local/bin/backup, --all] (file FILE, line 1)"},
		{"jobs: {command: [{exec: a, run: ['', x]}]}", "jobs.command[0].run: it is missing"},
		{"jobs: {command: [{exec: a, run: x}]}", "jobs.command[0].run: it has the wrong form; want a list (file FILE, line 1)"},
		{"jobs: {command: [{exec: a, run: [[x]]}]}", "jobs.command[0].run[0]: it has the wrong form; want one value (file FILE, line 1)"},
		{item("run: [y]"), "jobs.command[0].run: it is given twice, first in line 1"},
		{item("args: [y]"), "jobs.command[0].args: unknown key"},
		{item("env: [A]"), "jobs.command[0].env: it has the wrong form; want keys below it"},
		{item("env: {'A B': x}"), `"jobs.command[0].env.A B"`},
		{item("env: {A: x, A: y}"), "jobs.command[0].env.A: it is given twice, first in line 1"},
		{item("env: {1A: x}"), "jobs.command[0].env.1A: the name of a variable is not allowed; only letters, digits and _ are, without a digit first, since shells drop others"},
		{item("env: {spring.profiles.active: x}"), "jobs.command[0].env.spring.profiles.active: the name of a variable is not allowed; only letters"},
		{item("env: {PWD: x}"), "jobs.command[0].env.PWD: the name of a variable is not allowed; the shell that starts the command sets it itself, or drops it"},
		{item("pass_env: [PPID]"), `jobs.command[0].pass_env[0]: "PPID" is not allowed; the shell that starts the command sets it itself`},
		{item("env: {PRESCIENT_CHECK_TAG: x}"), "the name of a variable is not allowed; every call has its own"},
		{item("pass_env: [A-B]"), `jobs.command[0].pass_env[0]: "A-B" is not allowed; only letters, digits and _ are, without a digit first, since shells drop others`},
		{item("memory: 2G"), `jobs.command[0].memory: "2G" is no size; want one such as 512MiB or 2GiB`},
		{item("memory: 1MiB"), "memory 1MiB: at least 16MiB are allowed, and 0 for no bound"},
		{item("nice: 20"), `jobs.command[0].nice 20: 0 to 19 are allowed`},
		{item("grace: 1m"), `jobs.command[0].grace 1m: 1ms to 30s are allowed`},
		{item("cpu: 0s"), `jobs.command[0].cpu 0s: 1s to 24h are allowed`},
		{item("pool: heavy"), `jobs.command[0].pool: "heavy" is not allowed without long: true; pools are for long runs`},
		{"jobs: {command: [{exec: a, run: [x]}], http: [{exec: a, url: 'http://h'}]}", `jobs.command[0].exec: "a" is the name of jobs.http[0].exec too; each job_exec needs its own`},
	} {
		if _, got := (given{file: test.file}).load(t); !strings.Contains(got, test.want) {
			t.Errorf("%s:\n%s\nwant %s", test.file, got, test.want)
		}
	}
}

// A command has these of its row, and may call this program.
func TestVariablesOfACheckAreNotMisspelt(t *testing.T) {
	given{env: map[string]string{"PRESCIENT_CHECK_ENTITY_KEY": "42"}}.mustLoad(t)
	if _, got := (given{env: map[string]string{"PRESCIENT_JOBS_COMMAND": "x"}}).load(t); !strings.Contains(got, "jobs.command is a list, which only the file can have") {
		t.Error(got)
	}
}
