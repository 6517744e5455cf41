package config

import (
	"cmp"
	"errors"

	"prescient/slots"
)

// resolveSlots makes the grid and chooses the slots of the worker on it.
func (l *loader) resolveSlots(c *Config) {
	text, source := l.given(keyResolution)
	grid, err := parseGrid(text)
	if err != nil {
		l.add(keyResolution, source, err)
	}
	c.Grid = grid

	minutes, minutesSource := l.given(keyMinutes)
	share, shareSource := l.given(keyShare)
	switch {
	case minutes != "" && share != "":
		l.addf(keyMinutes, minutesSource, "%s is given too (%s); only one of the two is allowed", keyShare, shareSource)
	case grid.IsZero():
	case minutes != "":
		c.Worker.Assignment, err = slots.ParseMinutes(grid, minutes)
		l.check(keyMinutes, minutes, minutesSource, err)
	case share != "":
		c.Worker.Assignment, err = slots.ParseShare(grid, share)
		l.check(keyShare, share, shareSource, err)
	default:
		c.Worker.Assignment = slots.All(grid)
	}
}

func parseGrid(text string) (slots.Grid, error) {
	resolution, err := ParseDuration(text)
	if err != nil {
		return slots.Grid{}, err
	}
	return slots.NewGrid(resolution)
}

// check adds an error that repeats the text, if it has one that can be repeated.
func (l *loader) check(key, text, source string, err error) {
	switch {
	case err == nil:
	case confidential(text):
		l.add(key, source, errNotShown)
	case len(text) > 200:
		l.addf(key, source, "%s… has %d characters; at most 200 are allowed", quote(text), len(text))
	default:
		l.add(key, source, err)
	}
}

// resolveJobs reads the items of jobs.http, gives the orders a prefix, and compares what only makes sense together.
func (l *loader) resolveJobs(c *Config) {
	c.Jobs.Orders.TablePrefix = cmp.Or(c.Jobs.Orders.TablePrefix, c.TablePrefix)
	orders := c.Jobs.Orders
	if !l.has(keyPrimary, keyEscalate) && orders.EscalateAfter <= orders.PrimaryAfter {
		text, source := l.given(keyEscalate)
		primary, _ := l.given(keyPrimary)
		l.addf(keyEscalate, source, "%s is not allowed; it has to be longer than %s, which is %s",
			quote(text), keyPrimary, quote(primary))
	}
	named := make(map[string]string)
	if orders.Enabled {
		named[orders.Exec] = keyOrdersExec
	}
	for i, line := range l.document.items {
		job := l.httpJob(i, line)
		key := httpKey(i, "exec")
		if other, taken := named[job.Exec]; taken && job.Exec != "" {
			l.addf(key, l.document.source(l.document.values[key].line),
				"%s is the name of %s too; each job_exec needs its own", quote(job.Exec), other)
		}
		named[job.Exec] = key
		c.Jobs.HTTP = append(c.Jobs.HTTP, job)
	}
}

// secret reads what signs the calls of a job, from a file or from a variable.
func (l *loader) secret(i int) Secret {
	file, variable := l.document.values[httpKey(i, keySecretFile)], l.document.values[httpKey(i, keySecretEnv)]
	switch {
	case file.text != "" && variable.text != "":
		l.addf(httpKey(i, keySecretFile), l.document.source(file.line),
			"%s is given too; only one of the two is allowed", keySecretEnv)
	case file.text != "":
		text, err := readSecret(file.text)
		if err != nil {
			l.add(httpKey(i, keySecretFile), l.document.source(file.line), err)
		}
		return NewSecret(text)
	case variable.text != "":
		text, _ := l.options.Env(variable.text)
		if text == "" {
			err := errors.New("the environment has no variable " + plain(variable.text) + ", or an empty one")
			l.add(httpKey(i, keySecretEnv), l.document.source(variable.line), err)
		}
		return NewSecret(text)
	}
	return Secret{}
}
