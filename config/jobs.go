package config

import (
	"time"

	"prescient/config/value"
)

// readSQLJob reads an item of jobs.sql.
func readSQLJob(i item, env func(string) (string, bool)) (job SQLJob) {
	i.read(sqlFields(&job), map[string]*value.Secret{"url": &job.URL}, "exec", "table", "column", "key", "while")
	if text, key := i.secret(keyDSNFile, keyDSNEnv, env); !text.IsZero() {
		job.DSN = parseDSN(key, text.Reveal(), i.source(i.values[key].line), true, "", i.problems)
	}
	i.each(keyAgain, mostTimes, func(text string) error {
		var in time.Duration
		err := value.Duration(&in, time.Second, longest)(text)
		job.Again = append(job.Again, in)
		return err
	})
	i.each(keyTopics, mostTimes, func(text string) error {
		job.Topics = append(job.Topics, text)
		return value.Topic(text)
	})
	job.Headers = i.secrets(keyHeaders, checkHeader)
	job.Secret = i.signingSecret(env)
	acts := len(i.items[i.key(keyTopics)]) > 0 || i.values[i.key("set")].text != ""
	called := i.values[i.key("url")].text != ""
	switch key := i.key("url"); {
	case !acts && !called:
		i.addf(i.key(keyTopics), i.source(i.line), "it is missing; want %s, set, both of them, or url", keyTopics)
	case acts && called:
		i.addf(key, i.source(i.values[key].line), "it is not allowed beside %s and set; they commit with the check, and a call does not", keyTopics)
	case !called && (len(job.Headers) > 0 || !job.Secret.IsZero()):
		i.addf(key, i.source(i.line), "it is missing; %s and a secret are for calls", keyHeaders)
	}
	return job
}

// compareOrders compares what only makes sense together.
func compareOrders(orders OrdersJob, l layers, p *problems) {
	if !p.has(keyPrimary, keyEscalate) && orders.EscalateAfter <= orders.PrimaryAfter {
		text, source := l.given(keyEscalate)
		primary, _ := l.given(keyPrimary)
		p.addf(keyEscalate, source, "%s is not allowed; it has to be longer than %s, which is %s",
			value.Quote(text), keyPrimary, value.Quote(primary))
	}
}

// refuseSameNames finds job_execs that have the same name.
func refuseSameNames(jobs Jobs, d document, p *problems) {
	named := make(map[string]string)
	if jobs.Orders.Enabled {
		named[jobs.Orders.Exec] = keyOrdersExec
	}
	take := func(list string, i int, exec string) {
		key := itemKey(list, i, "exec")
		if other, taken := named[exec]; taken && exec != "" {
			p.addf(key, d.source(d.values[key].line), "%s is the name of %s too; each job_exec needs its own", value.Quote(exec), other)
		}
		named[exec] = key
	}
	for i, job := range jobs.HTTP {
		take(keyHTTP, i, job.Exec)
	}
	for i, job := range jobs.Command {
		take(keyCommand, i, job.Exec)
	}
	for i, job := range jobs.SQL {
		take(keySQL, i, job.Exec)
	}
}
