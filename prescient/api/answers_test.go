package api_test

// asked adds good requests of operations.
func askedOfAnswers() bool {
	for id, query := range map[string]string{
		"slots.clock": "", "slots.load": "?limit=10", "slots.ledger": "?slot=2026-11-20T13:00:00Z", "forecast.get": "?brief=true", "stats.execs": "?job_exec=ship", "stats.percentiles": "",
		"stats.slower": "", "execs.list": "?limit=2", "doctor.examine": "?only=overdue,paused", "attest.run": "?ends=10", "status.look": "", "checks.life": "?entity=order/1",
		"checks.export_pending": "?entity=order", "checks.export_ended": "?format=csv", "metrics": "",
	} {
		one := requests[id]
		one.query = query
		if id == "forecast.get" {
			one.code = 404
		}
		requests[id] = one
	}
	return true
}

var _ = askedOfAnswers()
