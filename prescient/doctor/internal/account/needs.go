package account

import "slices"

// need is a right, and a statement that is refused without it. The statements are explained, not run. {p} is the table prefix.
type need struct{ right, statement string }

// Needs of several roles.
var (
	insertAudit     = need{"INSERT on {p}audit_log", "INSERT INTO {p}audit_log (stream, kind, id, verb, incarnation) SELECT '', '', '', '', NULL FROM DUAL WHERE 1 = 0"}
	insertDeleted   = need{"INSERT on {p}schedule_deleted", "INSERT INTO {p}schedule_deleted (id, fired_until) SELECT 'x', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"}
	keepVersions    = need{"INSERT on {p}schedule_version", "INSERT INTO {p}schedule_version (schedule, created_at, version, ended_at) SELECT 'x', UTC_TIMESTAMP(6), 1, UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"}
	forgetVersions  = need{"DELETE on {p}schedule_version", "DELETE FROM {p}schedule_version WHERE schedule = '' AND 1 = 0"}
	selectConfig    = need{"SELECT on {p}slot_config", "SELECT version FROM {p}slot_config WHERE id = 1"}
	selectFutureJob = need{"SELECT on {p}future_job", "SELECT job_key, revision, payload FROM {p}future_job WHERE 1 = 0"}
	insertFutureJob = need{"INSERT on {p}future_job", "INSERT INTO {p}future_job (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, revision) SELECT 'x', 'x', 'x', '', UTC_TIMESTAMP(6), UNHEX(''), UTC_TIMESTAMP(), UTC_TIMESTAMP(), NULL, 1 FROM DUAL WHERE 1 = 0"}
	deleteFutureJob = need{"DELETE on {p}future_job", "DELETE FROM {p}future_job WHERE 1 = 0"}
	selectHistory   = need{"SELECT on {p}job_history", "SELECT job_key, ended_at, lateness_ms FROM {p}job_history WHERE 1 = 0"} // the last is none of those that app-sql reads in plain
	insertHistory   = need{"INSERT on {p}job_history", "INSERT INTO {p}job_history (entity_name, entity_key, outcome, ended_at) SELECT 'x', 'x', 'done', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"}
	selectLedger    = need{"SELECT on {p}slot_run", "SELECT token, batch_seq FROM {p}slot_run WHERE 1 = 0"}
	selectPauses    = need{"SELECT on {p}job_pause", "SELECT job_exec FROM {p}job_pause WHERE 1 = 0"}
)

// Needs, by role.
var (
	appNeeds = []need{insertAudit, insertDeleted, keepVersions, forgetVersions, selectConfig, selectFutureJob, insertFutureJob,
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET due_at = due_at, next_check_at = next_check_at, payload = payload, revision = revision WHERE 1 = 0"},
		deleteFutureJob, insertHistory}
	appSQLNeeds = []need{
		{"INSERT on {p}future_job", "INSERT INTO {p}future_job (entity_name, entity_key, job_exec, tag, due_at, payload) SELECT 'x', 'x', 'x', '', UTC_TIMESTAMP(6), NULL FROM DUAL WHERE 1 = 0"}}
	operatorNeeds = []need{insertAudit, selectConfig, selectFutureJob, insertFutureJob, selectHistory, selectLedger, selectPauses,
		{"INSERT on {p}job_pause", "INSERT INTO {p}job_pause (job_exec, paused_by, reason) SELECT 'x', '', '' FROM DUAL WHERE 1 = 0"},
		{"UPDATE on {p}job_pause", "UPDATE {p}job_pause SET paused_by = paused_by, reason = reason WHERE 1 = 0"},
		{"DELETE on {p}job_pause", "DELETE FROM {p}job_pause WHERE 1 = 0"}}
	workerNeeds = []need{insertAudit, insertDeleted, keepVersions, forgetVersions, selectConfig, selectFutureJob,
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET next_check_at = next_check_at, revision = revision, last_error = last_error WHERE 1 = 0"},
		deleteFutureJob, insertHistory, selectLedger,
		{"INSERT on {p}slot_run", "INSERT INTO {p}slot_run (slot, bucket, buckets, worker, started_at, finished_at) SELECT UTC_TIMESTAMP(), 0, 1, 'x', NULL, NULL FROM DUAL WHERE 1 = 0"},
		{"UPDATE on {p}slot_run", "UPDATE {p}slot_run SET token = token, batch_seq = batch_seq, allocated_until = allocated_until WHERE 1 = 0"},
		selectPauses, selectHistory, {"SELECT on {p}rule", "SELECT version, moved_to FROM {p}rule WHERE 1 = 0"},
		{"INSERT on {p}stats_hour", "INSERT INTO {p}stats_hour (start, ends, summed_at) SELECT UTC_TIMESTAMP(), 0, UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"},
		{"INSERT on {p}duty", "INSERT INTO {p}duty (name, token, worker) SELECT 'x', 0, 'x' FROM DUAL WHERE 1 = 0"},
		{"INSERT on {p}finding", "INSERT INTO {p}finding (code, receiver, found) SELECT 'x', 'x', 0 FROM DUAL WHERE 1 = 0"}}
	viewerNeeds = []need{selectConfig, {"SELECT on {p}future_job, but for payloads", "SELECT job_key, revision FROM {p}future_job WHERE 1 = 0"}, selectHistory, selectLedger, selectPauses}
	serveNeeds  = slices.Concat(operatorNeeds, appNeeds, []need{
		{"INSERT on {p}api_key", "INSERT INTO {p}api_key (token, idempotency_key, operation, body, at) SELECT 0, 'x', 'x', '', UTC_TIMESTAMP(6) FROM DUAL WHERE 1 = 0"}})
	ownerNeeds = []need{
		{"UPDATE on {p}slot_config", "UPDATE {p}slot_config SET version = version WHERE 1 = 0"},
		{"UPDATE on {p}future_job", "UPDATE {p}future_job SET next_check_at = next_check_at, revision = revision WHERE 1 = 0"},
		{"UPDATE on {p}slot_run", "UPDATE {p}slot_run SET token = token WHERE 1 = 0"}}
	// ownerRights cannot be tried by explaining a statement.
	ownerRights = []string{"CREATE", "ALTER", "DROP", "INDEX"}
)

// needsOf are those of a role.
var needsOf = map[string][]need{"analyst": {selectConfig, selectHistory}, "app-sql": appSQLNeeds, "app": appNeeds, "app-reschedule": appNeeds,
	"serve-viewer": viewerNeeds, "serve-operator": serveNeeds,
	"serve-admin": append(slices.Clone(serveNeeds), need{"UPDATE on {p}api_token", "UPDATE {p}api_token SET revoked_at = revoked_at WHERE 1 = 0"},
		need{"UPDATE on {p}web_user", "UPDATE {p}web_user SET disabled_at = disabled_at WHERE 1 = 0"}),
	"operator": operatorNeeds, "worker": workerNeeds, "oncall": append(slices.Clone(operatorNeeds), workerNeeds...), "owner": ownerNeeds}
