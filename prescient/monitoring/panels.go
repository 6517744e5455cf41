package monitoring

// row is a question that somebody on call has, and what answers it.
type row struct {
	question string
	panels   []panel
}

// panel is a number where it has one query without a legend, else curves.
type panel struct {
	title, unit string
	red         string // from when on a number is red; empty for never
	queries     []query
}

type query struct{ legend, expr string }

// number is what one query comes to now.
func number(title, unit, red, expr string) panel {
	return panel{title, unit, red, []query{{"", expr}}}
}

// curves are what queries come to over time; each has a legend.
func curves(title, unit string, queries ...query) panel { return panel{title, unit, "", queries} }

// The units of Grafana.
const (
	seconds  = "s"
	share    = "percentunit"
	count    = "short"
	aSecond  = "ops"
	interval = "[$__rate_interval]"
)

var rows = []row{
	{"Am I on time?", []panel{
		number("Oldest check that is due", seconds, "<overdue_seconds>", `max(prescient_backlog_age_seconds)`),
		number("Overdue checks", count, "1", `max(prescient_overdue_checks)`),
		number("Of the last 10 slots not served", count, "1", `max(prescient_last_slots_unfinished)`),
		number("A slot to come ends late by", seconds, "1", `max(prescient_forecast_over_seconds)`),
		number("Calls that fail, lately", share, "<failing>", `sum(prescient:call_errors:lately) / sum(prescient:calls:lately)`),
		number("Due within an hour", count, "", `max(prescient_pending_checks{within="1h"})`),
		curves("Start of calls after their slot", seconds,
			query{"half of them", `histogram_quantile(0.5, sum by (le) (rate(prescient_lateness_seconds_bucket` + interval + `)))`},
			query{"all but 1 %", `histogram_quantile(0.99, sum by (le) (rate(prescient_lateness_seconds_bucket` + interval + `)))`},
			query{"latest of the last 10 slots", `max(prescient_last_slots_lateness_seconds)`}),
		curves("What is done", aSecond,
			query{"due", `sum(rate(prescient_due_total` + interval + `))`},
			query{"calls", `sum(rate(prescient_run_seconds_count` + interval + `))`},
			query{"{{outcome}}", `sum by (outcome) (rate(prescient_ended_total` + interval + `))`}),
	}},
	{"What is late?", []panel{
		curves("Age of the oldest slot that holds checks", seconds,
			query{"oldest", `max(prescient_backlog_age_seconds)`}, query{"over, of a slot to come", `max(prescient_forecast_over_seconds)`}),
		curves("Overdue checks", count,
			query{"overdue", `max(prescient_overdue_checks)`}, query{"ended a second", `max(prescient_overdue_ends_per_second)`}),
		curves("Left behind, and later than the SLA", aSecond,
			query{"locked", `sum(rate(prescient_locked_total` + interval + `))`}, query{"cannot be written", `sum(rate(prescient_stuck_total` + interval + `))`},
			query{"past the SLA", `sum(rate(prescient_over_sla_total` + interval + `))`}),
		curves("How long slot runs and calls take, all but 1 %", seconds,
			query{"slot runs", `histogram_quantile(0.99, sum by (le) (rate(prescient_slot_run_seconds_bucket` + interval + `)))`},
			query{"{{job_exec}}", `topk(10, histogram_quantile(0.99, sum by (le, job_exec) (rate(prescient_run_seconds_bucket` + interval + `))))`}),
		curves("Pending, with slots within", count, query{"{{within}}", `max by (within) (prescient_pending_checks)`}),
	}},
	{"What failed?", []panel{
		curves("Calls that failed, lately", count, query{"{{job_exec}}", `topk(10, prescient:call_errors:lately)`}),
		curves("Share of the calls that failed, lately", share, query{"{{job_exec}}", `topk(10, prescient:call_errors:lately / (prescient:calls:lately > 0))`}),
		curves("Ended otherwise than as done, lately", count, query{"{{job_exec}}", `topk(10, max by (job_exec) (prescient_lately_unsettled))`}),
		curves("Slot runs, and ends that an app's change overtook", aSecond,
			query{"slot runs: {{result}}", `sum by (result) (rate(prescient_slot_runs_total` + interval + `))`}, query{"overtaken", `sum(rate(prescient_dropped_total` + interval + `))`}),
	}},
	{"What did not run?", []panel{
		curves("Moved to a later slot", aSecond, query{"{{why}}", `sum by (why) (rate(prescient_moved_total` + interval + `))`}),
		curves("Put off since no worker has the job_exec, lately", count, query{"{{job_exec}}", `topk(10, prescient:unregistered:lately)`}),
		curves("Paused for", seconds, query{"{{job_exec}}", `max by (job_exec) (prescient_paused_seconds)`}),
		curves("Slots not served, and pauses", count,
			query{"of the last 10 slots", `max(prescient_last_slots_unfinished)`}, query{"pauses", `max(prescient_pauses)`}),
	}},
	{"How do long runs get on?", []panel{
		curves("Long runs by pool", count,
			query{"{{pool}} waiting", `max by (pool) (prescient_long_runs_waiting)`}, query{"{{pool}} under way", `max by (pool) (prescient_long_runs_running)`}),
		curves("For how long the first of a pool waits", seconds, query{"{{pool}}", `max by (pool) (prescient_long_runs_waiting_seconds)`}),
	}},
	{"Do events go out?", []panel{
		curves("Oldest event of a topic", seconds, query{"{{topic}}", `max by (topic) (prescient_outbox_age_seconds)`},
			query{"from insert to broker, all but 1 %", `histogram_quantile(0.99, sum by (le) (rate(prescient_event_delay_seconds_bucket` + interval + `)))`}),
		curves("Events that wait", count, query{"{{topic}}", `max by (topic) (prescient_outbox_events)`}, query{"refused", `max(prescient_set_aside_events)`}),
		curves("Publications", aSecond,
			query{"published", `sum(rate(prescient_events_published_total` + interval + `))`}, query{"tried again", `sum(rate(prescient_events_failed_total` + interval + `))`},
			query{"refused", `sum(rate(prescient_events_set_aside_total` + interval + `))`}),
	}},
	{"Who works?", []panel{
		curves("Agents", count, query{"{{kind}} {{state}}", `max by (kind, state) (prescient_agents) > 0`}),
		curves("Share of the concurrency in use", share, query{"{{instance}}", `max by (instance) (prescient_busy_ratio)`}),
		curves("Trouble with the database, and of workers", aSecond,
			query{"commits again", `sum(rate(prescient_commit_retries_total` + interval + `))`}, query{"leases lost", `sum(rate(prescient_leases_lost_total` + interval + `))`},
			query{"buckets taken over", `sum(rate(prescient_takeovers_total` + interval + `))`}),
		curves("Processes that reach the database", count, query{"reach it", `sum(prescient_database_up)`}, query{"are scraped", `count(prescient_database_up)`}),
		curves("Turned away by serve", aSecond,
			query{"{{why}}", `sum by (why) (rate(prescient_serve_refused_total` + interval + `))`}, query{"connections", `sum(rate(prescient_serve_connections_closed_total` + interval + `))`}),
	}},
}
