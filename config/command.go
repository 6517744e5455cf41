package config

import (
	"slices"

	"prescient/config/value"
	"prescient/jobs/command/variable"
)

// readCommandJobs reads the items of jobs.command, and notes their keys for Describe.
func readCommandJobs(d document, s *settings, p *problems) []CommandJob {
	var jobs []CommandJob
	for i, line := range d.items[keyCommand] {
		job := readCommandJob(i, line, d, s, p)
		job.Run = readRun(i, line, d, s, p)
		job.Env = readEnv(i, d, s, p)
		job.PassEnv = readPassEnv(i, d, s, p)
		jobs = append(jobs, job)
	}
	return jobs
}

// readCommandJob reads the keys of an item that have one value. The item begins in a line.
func readCommandJob(i, line int, d document, s *settings, p *problems) CommandJob {
	var job CommandJob
	for _, f := range commandFields(&job) {
		key := itemKey(keyCommand, i, f.name)
		v := d.values[key]
		if v.text == "" {
			if f.name == "exec" {
				p.addf(key, d.source(line), "it is missing")
			}
			continue
		}
		f.read(key, v.text, d.source(v.line), p)
		s.note(Setting{Key: key, Value: v.text, Source: d.source(v.line)})
	}
	refusePoolOfShort(keyCommand, i, job.Pool, job.Long, d, p)
	return job
}

// readRun reads the program and its arguments, which may be secrets.
func readRun(i, line int, d document, s *settings, p *problems) (run []value.Secret) {
	list := itemKey(keyCommand, i, keyRun)
	for n := range d.items[list] {
		key := elementKey(list, n)
		v := d.values[key]
		word := value.NewSecret(v.text)
		if n == 0 && !value.Confidential(v.text) {
			word = value.SecretShownAs(v.text, v.text)
		}
		run = append(run, word)
		s.note(Setting{Key: key, Value: word.String(), Source: d.source(v.line)})
	}
	if len(run) == 0 || run[0].Reveal() == "" {
		p.addf(list, d.source(line), "it is missing; want a program and its arguments: [/usr/local/bin/backup, --all]")
	}
	return run
}

// readEnv reads the variables of an item.
func readEnv(i int, d document, s *settings, p *problems) map[string]value.Secret {
	var env map[string]value.Secret
	parent := itemKey(keyCommand, i, keyEnv)
	for _, name := range d.named[parent] {
		key := join(parent, name)
		v, given := d.values[key]
		if !given {
			continue
		}
		if err := variable.Check(name); err != nil {
			p.addf(value.Plain(key), d.source(v.line), "the name of a variable is not allowed; %v", err)
			continue
		}
		if env == nil {
			env = make(map[string]value.Secret)
		}
		env[name] = value.NewSecret(v.text)
		s.note(Setting{Key: key, Value: env[name].String(), Source: d.source(v.line)})
	}
	return env
}

// readPassEnv reads the names of variables that an item gets from the worker.
func readPassEnv(i int, d document, s *settings, p *problems) (names []string) {
	list := itemKey(keyCommand, i, keyPassEnv)
	for n := range d.items[list] {
		key := elementKey(list, n)
		v := d.values[key]
		if err := variable.Check(v.text); err != nil {
			p.addf(key, d.source(v.line), "%s is not allowed; %v", value.Quote(v.text), err)
			continue
		}
		names = append(names, v.text)
		s.note(Setting{Key: key, Value: v.text, Source: d.source(v.line)})
	}
	return slices.Clip(names)
}
