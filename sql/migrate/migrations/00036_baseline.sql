-- The baseline: all tables, views and procedures, each of which a file makes. slot_config is the first: it keeps those of another resolution away.
-- Locks and copies nothing: all of it is new. Broken off and run again, it makes what is missing, and the views and procedures anew.

-- +goose NO TRANSACTION
-- +goose Up
-- +file tables/slot_config.sql
-- +file tables/future_job.sql
-- +file tables/job_history.sql
-- +file tables/slot_run.sql
-- +file tables/job_pause.sql
-- +file tables/schedule.sql
-- +file tables/schedule_refused.sql
-- +file tables/schedule_deleted.sql
-- +file tables/long_run.sql
-- +file tables/event_outbox.sql
-- +file tables/event_shard.sql
-- +file tables/event_forwarder.sql
-- +file tables/event_topic.sql
-- +file tables/event_set_aside.sql
-- +file tables/event_count.sql
-- +file tables/event_published.sql
-- +file tables/event_seen.sql
-- +file tables/agent.sql
-- +file tables/audit_log.sql
-- +file tables/job_definition.sql
-- +file tables/step_definition.sql
-- +file tables/job_step.sql
-- +file tables/job_version.sql
-- +file tables/job_run_log.sql
-- +file tables/step_run_log.sql
-- +file tables/queue_position.sql
-- +file views/history_outcomes.sql
-- +file views/history_times.sql
-- +file views/history_checks.sql
-- +file views/history_checks_daily.sql
-- +file views/history_not_yet.sql
-- +file views/history_lateness.sql
-- +file procedures/cancel.sql
-- +file procedures/delete_schedules.sql
-- +file procedures/pending.sql
UPDATE {prefix}slot_config SET migrated_to = GREATEST(migrated_to, 36);

-- +goose Down
DROP PROCEDURE IF EXISTS {prefix}pending;
DROP PROCEDURE IF EXISTS {prefix}delete_schedules;
DROP PROCEDURE IF EXISTS {prefix}cancel;
DROP VIEW IF EXISTS {prefix}history_lateness;
DROP VIEW IF EXISTS {prefix}history_not_yet;
DROP VIEW IF EXISTS {prefix}history_checks_daily;
DROP VIEW IF EXISTS {prefix}history_checks;
DROP VIEW IF EXISTS {prefix}history_times;
DROP VIEW IF EXISTS {prefix}history_outcomes;
DROP TABLE IF EXISTS {prefix}queue_position;
DROP TABLE IF EXISTS {prefix}step_run_log;
DROP TABLE IF EXISTS {prefix}job_run_log;
DROP TABLE IF EXISTS {prefix}job_version;
DROP TABLE IF EXISTS {prefix}job_step;
DROP TABLE IF EXISTS {prefix}step_definition;
DROP TABLE IF EXISTS {prefix}job_definition;
DROP TABLE IF EXISTS {prefix}audit_log;
DROP TABLE IF EXISTS {prefix}agent;
DROP TABLE IF EXISTS {prefix}event_seen;
DROP TABLE IF EXISTS {prefix}event_published;
DROP TABLE IF EXISTS {prefix}event_count;
DROP TABLE IF EXISTS {prefix}event_set_aside;
DROP TABLE IF EXISTS {prefix}event_topic;
DROP TABLE IF EXISTS {prefix}event_forwarder;
DROP TABLE IF EXISTS {prefix}event_shard;
DROP TABLE IF EXISTS {prefix}event_outbox;
DROP TABLE IF EXISTS {prefix}long_run;
DROP TABLE IF EXISTS {prefix}schedule_deleted;
DROP TABLE IF EXISTS {prefix}schedule_refused;
DROP TABLE IF EXISTS {prefix}schedule;
DROP TABLE IF EXISTS {prefix}job_pause;
DROP TABLE IF EXISTS {prefix}slot_run;
DROP TABLE IF EXISTS {prefix}job_history;
DROP TABLE IF EXISTS {prefix}future_job;
DROP TABLE IF EXISTS {prefix}slot_config;
