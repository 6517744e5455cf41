package config

import (
	"fmt"
	"slices"

	"prescient/config/value"
	"prescient/jobs/command/variable"
)

// readCommandJob reads an item of jobs.command.
func readCommandJob(i item) (job CommandJob) {
	i.read(commandFields(&job), nil, "exec")
	i.refusePoolOfShort(job.Pool, job.Long)
	job.Run = readRun(i)
	job.Env = i.secrets(keyEnv, checkVariable)
	job.PassEnv = readPassEnv(i)
	return job
}

func checkVariable(name, _ string) error {
	if err := variable.Check(name); err != nil {
		return fmt.Errorf("the name of a variable is not allowed; %w", err)
	}
	return nil
}

// readRun reads the program and its arguments, which may be secrets.
func readRun(i item) (run []value.Secret) {
	list := i.key(keyRun)
	for n := range i.items[list] {
		key := elementKey(list, n)
		v := i.values[key]
		word := value.NewSecret(v.text)
		if n == 0 && !value.Confidential(v.text) {
			word = value.SecretShownAs(v.text, v.text)
		}
		run = append(run, word)
		i.note(Setting{Key: key, Value: word.String(), Source: i.source(v.line)})
	}
	if len(run) == 0 || run[0].Reveal() == "" {
		i.addf(list, i.source(i.line), "it is missing; want a program and its arguments: [/usr/local/bin/backup, --all]")
	}
	return run
}

// readPassEnv reads the names of variables that an item gets from the worker.
func readPassEnv(i item) (names []string) {
	i.each(keyPassEnv, mostAllowed, func(text string) error {
		if err := variable.Check(text); err != nil {
			return fmt.Errorf("%s is not allowed; %w", value.Quote(text), err)
		}
		names = append(names, text)
		return nil
	})
	return slices.Clip(names)
}
