package command

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/jobs/answer"
	"prescient/jobs/command/variable"
	"prescient/prescient"
)

// callVariable marks the processes of a call, beside a limit.
const callVariable = variable.Prefix + "CALL"

// passed are the variables of this process that every command gets.
var passed = []string{"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "TZ", "TMPDIR"}

const minHidden = 4 // bytes; shorter ones are words such as "1" that a text cannot do without

// environment returns the variables of every call, and what takes the configured values out of texts.
func environment(o Options, as *account) (env []string, hide *strings.Replacer) {
	var hidden []string
	if as != nil {
		env = append(env, "HOME="+as.home, "USER="+as.name, "LOGNAME="+as.name)
	}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		_, own := o.Env[name]
		switch {
		case own:
		case slices.Contains(o.PassEnv, name):
			env, hidden = append(env, entry), append(hidden, value)
		case as != nil && (name == "HOME" || name == "USER" || name == "LOGNAME"):
		case slices.Contains(passed, name) || strings.HasPrefix(name, "LC_"):
			env = append(env, entry)
		}
	}
	for name, value := range o.Env {
		env, hidden = append(env, name+"="+value), append(hidden, value)
	}
	slices.SortFunc(hidden, func(a, b string) int { return len(b) - len(a) })
	var pairs []string
	for _, value := range hidden {
		if len(value) >= minHidden {
			pairs = append(pairs, value, "***")
		}
	}
	return env, strings.NewReplacer(pairs...)
}

// row is what a call has of its row, by the names that placeholders have; in variables they are in upper case.
func row(job prescient.FutureJob) [][2]string {
	return [][2]string{
		{"entity_name", job.EntityName},
		{"entity_key", job.EntityKey},
		{"tag", job.Tag},
		{"job_exec", job.JobExec},
		{"due_at", job.DueAt.UTC().Format(time.RFC3339Nano)},
		{"slot", job.NextCheckAt.UTC().Format(time.RFC3339)},
		{"idempotency_key", job.IdempotencyKey()},
	}
}

// variables are those of a call of the row in a trace, under its mark. now is this machine's time.
func variables(job prescient.FutureJob, trace, mark string, now time.Time) []string {
	var env []string
	if trace != "" {
		env = append(env, "TRACEPARENT="+trace)
	}
	for _, field := range row(job) {
		env = append(env, variable.Prefix+strings.ToUpper(field[0])+"="+field[1])
	}
	return append(env, variable.Prefix+"CALLED_AT="+answer.CalledAt(job, now).UTC().Format(time.RFC3339Nano),
		variable.Prefix+"COUNT="+strconv.Itoa(job.CheckCount), variable.Prefix+"ERRORS="+strconv.Itoa(job.ErrorCount), mark)
}

// arguments are those of a call of the row.
func (c *Command) arguments(job prescient.FutureJob) []string {
	var pairs []string
	for _, field := range row(job) {
		pairs = append(pairs, "{"+field[0]+"}", field[1])
	}
	replacer := strings.NewReplacer(pairs...)
	args := slices.Clone(c.fixed)
	for _, argument := range c.replaced {
		args = append(args, replacer.Replace(argument))
	}
	return args
}
