package monitoring

import (
	"fmt"
	"maps"

	"go.yaml.in/yaml/v3"
)

// The severities: somebody is to come at once, or during the day.
const (
	critical = "critical"
	warning  = "warning"
)

// recorded is what several alerts and panels look at, under a name.
type recorded struct{ name, expr string }

// What serve tells of the database is whole, and outlives a restart; else the counters of workers tell it.
var records = []recorded{
	{"prescient:calls:lately", `max by (job_exec) (prescient_lately_calls) or sum by (job_exec) (increase(prescient_run_seconds_count[<lately>]))`},
	{"prescient:call_errors:lately", `max by (job_exec) (prescient_lately_call_errors) or sum by (job_exec) (increase(prescient_call_errors_total[<lately>]))`},
	// A name that only rows have gets its label with its first row: increase() does not see that one. One that was there before nobody was scraped for a
	// while is not new.
	{"prescient:unregistered:lately", `max by (job_exec) (prescient_lately_unregistered)
or sum by (job_exec) (increase(prescient_moved_total{why="unregistered"}[<lately>])) > 0
or sum by (job_exec) (prescient_moved_total{why="unregistered"} unless last_over_time(prescient_moved_total{why="unregistered"}[1d] offset <lately>))`},
	{"prescient:left_behind:lately", `sum(increase(prescient_locked_total[<some_sweeps>])) + sum(increase(prescient_stuck_total[<some_sweeps>]))`},
}

// alert is a rule: what is wrong, since when, and what to do, by the commands that the doctor names.
type alert struct {
	name, expr string
	// lasts is for how long that has to be so; empty where the expression looks back for itself.
	lasts, severity string
	summary, says   string
}

var alerts = []alert{
	// A failover takes half a minute, a restart less than one.
	// Who scrapes workers alone is told of nothing more by it. It is one value in each case: two with the labels of one alert are none.
	{"PrescientUnseen", `max(max(prescient_database_up) == 0 or absent(prescient_database_up)
or absent(prescient_last_slots_unfinished) and on() count(last_over_time(prescient_last_slots_unfinished[1d])))`, "2m", critical,
		`Nobody sees what becomes of <program>`,
		"No process is scraped, none reaches the database, or `serve`, which was scraped today, is not any more. See that `work` and `serve` run and are scraped, and that the database answers: `<program> doctor`. Until then other alerts do not come, and perhaps nothing is run."},
	// An agent counts as dead once it was not heard of for a minute, a timer once it did not come. Two minutes are for one that comes back.
	{"PrescientAgentDied", `max by (kind) (prescient_agents{state="dead"}) > 0`, "2m", warning,
		`{{ $value }} of the agents of {{ $labels.kind }} died`,
		"`<program> agents` names them, and their hosts. Start them again, unless others serve their slots. One whose place another took under a new name shows for a day."},
	// Bad is what the doctor calls bad. A sweep that comes by may end it. Where all that is overdue was left behind, PrescientRowsLeft tells of it.
	{"PrescientOverdue", `max(prescient_backlog_age_seconds) > <overdue_seconds>
unless on() max(prescient_paused_seconds{job_exec="*"})
unless on() max(prescient_overdue_checks) <= on() prescient:left_behind:lately`, "<sweep>", critical,
		`Checks are overdue, the oldest for {{ $value | humanizeDuration }}`,
		"See by `<program> agents` whether a worker or a sweep lives. If none does, start `work`, which catches up. Else `<program> blocking` and the worker's log say what keeps these checks."},
	// A transaction of an app is over by then. Each sweep meets the row again.
	{"PrescientRowsLeft", `prescient:left_behind:lately > 0`, "<more_sweeps>", warning,
		`Rows are left behind by each sweep`,
		"An open transaction has them locked: `<program> blocking` says whose, and how to end it. Where it names none, what becomes of the rows cannot be written: the worker's log says why. Sweeps try them again."},
	// A slot may still run while the next ones do. The dead, and a pause of everything, have alerts of their own.
	{"PrescientSlotsMissed", `max(prescient_last_slots_unfinished) > <missed>
unless on() max(prescient_agents{state="dead"}) > 0
unless on() max(prescient_paused_seconds{job_exec="*"})`, "<served>", warning,
		`{{ $value }} of the last 10 slots were not served, or not to their end`,
		"See that workers or timers serve every slot: `<program> agents` lists those that were heard of. A sweep runs what waited in these slots, late. `<program> attest --from now-12h` says which they were."},
	{"PrescientCallsFail", `prescient:call_errors:lately{job_exec!="<timer>"} >= <failing_calls>
and prescient:call_errors:lately / prescient:calls:lately >= <failing>`, "", warning,
		`{{ printf "%.0f" $value }} calls of {{ $labels.job_exec }} failed in the last <lately>`,
		"See `<program> stats --exec {{ $labels.job_exec }}`, and mend what the error names. `<program> pause {{ $labels.job_exec }}` keeps its checks until then."},
	{"PrescientUnregistered", `prescient:unregistered:lately > 0`, "", warning,
		`No worker has the job_exec {{ $labels.job_exec }}`,
		"Its checks are put off. Start a worker that has registered it. If the name is misspelt, list the checks with `<program> pending --exec {{ $labels.job_exec }}`, cancel them, and insert them under the right name."},
	{"PrescientPaused", `max by (job_exec) (prescient_paused_seconds) > <pause_seconds>`, "", warning,
		`{{ if eq $labels.job_exec "*" }}Everything{{ else if eq $labels.job_exec "*events" }}The publishing of events{{ else }}The job_exec {{ $labels.job_exec }}{{ end }} has been paused for {{ $value | humanizeDuration }}`,
		"`<program> doctor --only paused` says by whom and why. Once the reason is gone run `<program> resume {{ if eq $labels.job_exec \"*\" }}--all{{ else if eq $labels.job_exec \"*events\" }}--events{{ else }}{{ $labels.job_exec }}{{ end }}`."},
	{"PrescientScheduleFails", `sum(prescient:call_errors:lately{job_exec="<timer>"}) > 0`, "", critical,
		`The timers of schedules fail`,
		"`<program> doctor --only schedules` names the schedules and what to mend; then `<program> schedule update ID`. The timers run again in each slot: nothing that is due is lost."},
	// The forecast is made each minute, and goes by run times that change.
	{"PrescientSlotTooFull", `max(prescient_forecast_over_seconds) > 0`, "5m", warning,
		`A slot to come does not end in time, by {{ $value | humanizeDuration }}`,
		"`<program> forecast` says which. Start more agents for this slot, raise worker.concurrency or the guard concurrency of its job_execs, or spread the checks: `<program> insert --spread`."},
	{"PrescientEventsRefused", `(max(prescient_set_aside_events) or sum(increase(prescient_events_set_aside_total[<lately>]))) > 0`, "", warning,
		`Brokers refused events for good`,
		"`<program> event set-aside` lists these events, with their numbers and the reasons. `<program> event resend` sends them again, `<program> event drop` drops them."},
	// A broker that is restarted takes less.
	{"PrescientEventsWait", `max by (topic) (prescient_outbox_age_seconds) > <old_seconds>
unless on() max(prescient_paused_seconds{job_exec=~"[*]|[*]events"})`, "2m", critical,
		`Events of {{ $labels.topic }} have waited for {{ $value | humanizeDuration }}`,
		"`<program> event status` says why, and who publishes. Nobody does: say in events.routes where events go, and start `work` or `forward`. Else the broker is slow, or refuses the first event of a key. No event is lost."},
	{"PrescientLongRunsWait", `max by (pool) (prescient_long_runs_waiting_seconds) > <wait_seconds>`, "1m", warning,
		`Long runs{{ if $labels.pool }} of the pool {{ $labels.pool }}{{ end }} have waited for {{ $value | humanizeDuration }}`,
		"`<program> agents --pools` says where no place is free. Start more workers, give them more places (worker.pools), or see why the other runs take so long."},
	// A burst of somebody's is over by then.
	{"PrescientServeRefuses", `sum by (why) (increase(prescient_serve_refused_total[5m])) > 0 or sum(increase(prescient_serve_connections_closed_total[5m])) > 0`, "10m", warning,
		`serve turns others away{{ if $labels.why }}: {{ $labels.why }}{{ end }}`,
		"rate: a caller sends more than it may. token: an address sends tokens that are no good. place: as many requests are under way as may be. Without any, connections are closed for others. The log of serve names the callers."},
}

// What Prometheus reads.
type (
	ruleFile  struct{ Groups []ruleGroup }
	ruleGroup struct {
		Name  string
		Rules []rule
	}
	rule struct {
		Record      string `yaml:",omitempty"`
		Alert       string `yaml:",omitempty"`
		Expr        string
		For         string            `yaml:",omitempty"`
		Labels      map[string]string `yaml:",omitempty"`
		Annotations map[string]string `yaml:",omitempty"`
	}
)

// rules is the file for Prometheus.
func (p planned) rules() (string, error) {
	group := ruleGroup{Name: p.name}
	for _, r := range records {
		group.Rules = append(group.Rules, rule{Record: r.name, Expr: p.query(r.expr), Labels: p.labels})
	}
	for _, a := range alerts {
		labels := map[string]string{"severity": a.severity}
		maps.Copy(labels, p.labels)
		group.Rules = append(group.Rules, rule{Alert: a.name, Expr: p.query(a.expr), For: p.words.Replace(a.lasts), Labels: labels,
			Annotations: map[string]string{"summary": p.words.Replace(a.summary), "description": p.words.Replace(a.says)}})
	}
	text, err := yaml.Marshal(ruleFile{[]ruleGroup{group}})
	if err != nil {
		return "", fmt.Errorf("writing the rules: %w", err)
	}
	return "# Written by `" + p.words.Replace("<program>") + " monitoring`: its bounds are those of doctor and of the configuration then.\n" + string(text), nil
}
