GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, DELETE, INSERT ({check_columns}), UPDATE (job_exec, job_key, payload, revision, inserted_at, expires_at, trace, rule_version, occasion_at) ON {database}.{future_job} TO {account}; -- only app
GRANT SELECT, DELETE, INSERT ({check_columns}), UPDATE (job_exec, job_key, due_at, first_check_at, next_check_at, check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at, expires_at, trace, rule_version, occasion_at) ON {database}.{future_job} TO {account}; -- only app-reschedule
GRANT INSERT ON {database}.{job_history} TO {account};
GRANT SELECT, DELETE, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat, version, enabled, created_at, utc_offset), UPDATE (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat, version, enabled, created_at, disabled_at, disabled_reason, passed_over, caught_up, by_hand_at, updated_at, utc_offset) ON {database}.{schedule} TO {account};
GRANT SELECT, DELETE ON {database}.{schedule_refused} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{schedule_deleted} TO {account};
GRANT SELECT, INSERT, DELETE ON {database}.{schedule_version} TO {account};
GRANT INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) ON {database}.{event_outbox} TO {account};
GRANT INSERT (consumer, id, seen_at) ON {database}.{event_seen} TO {account};
GRANT INSERT ({entry_columns}) ON {database}.{audit_log} TO {account};
GRANT SELECT, INSERT, DELETE, UPDATE (version, definition, updated_at) ON {database}.{job_definition} TO {account};
GRANT SELECT, INSERT, DELETE, UPDATE (version, definition, updated_at) ON {database}.{step_definition} TO {account};
GRANT SELECT, INSERT, DELETE ON {database}.{job_step} TO {account};
GRANT SELECT, INSERT ON {database}.{job_version} TO {account};
GRANT SELECT ON {database}.{rule} TO {account}; -- only app
GRANT SELECT ON {database}.{rule_version} TO {account}; -- only app
GRANT SELECT, INSERT, UPDATE ON {database}.{rule} TO {account}; -- only app-reschedule
GRANT SELECT, INSERT ON {database}.{rule_version} TO {account}; -- only app-reschedule
GRANT SELECT (job_key, ended_at) ON {database}.{long_run} TO {account}; -- only app-reschedule
GRANT SELECT ON {database}.{forecast_fit} TO {account};
GRANT SELECT ON {database}.{job_run_log} TO {account};
GRANT SELECT ON {database}.{step_run_log} TO {account};
-- +file grants/parts/procedures.sql -- only full
