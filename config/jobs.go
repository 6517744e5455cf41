package config

import (
	"prescient/config/value"
)

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
}
