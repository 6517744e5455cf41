package sql

// tables are those of an installation, without the prefix. Package migrate makes them.
var tables = []string{"slot_config", "future_job", "job_history", "slot_run", "exec_run", "exec_known", "duty", "stats_hour", "stats", "stats_bucket", "stats_reason", "job_pause", "schedule", "schedule_refused", "schedule_deleted", "schedule_version", "long_run",
	"event_outbox", "event_shard", "event_forwarder", "event_topic", "event_set_aside", "event_count", "event_published", "event_seen", "agent", "audit_log",
	"job_definition", "step_definition", "job_step", "job_version", "job_run_log", "step_run_log", "queue_position", "forecast_made", "forecast", "forecast_fit", "api_token", "api_key", "bulk_run", "bulk_check", "web_user", "web_session", "finding", "rule", "rule_version"}

// Tables returns the names of the tables of an installation.
func Tables(prefix string) (names []string) {
	for _, name := range tables {
		names = append(names, prefix+name)
	}
	return names
}
