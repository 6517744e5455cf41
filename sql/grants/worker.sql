-- A worker: run, work, sweep and roll-forward. It ends and moves what is due, and keeps the ledger; INSERT of pending rows,
-- and procedures, are for job_execs that insert and cancel by the worker's connections. With PROCESS ON *.* beside it, which is
-- for the whole server, it can see whether worker.put_off_purge would harm others: without that it puts no purge off.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT ON {database}.{job_pause} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{future_job} TO {account};
GRANT SELECT, INSERT ON {database}.{job_history} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{slot_run} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{exec_run} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{exec_known} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{duty} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{stats_hour} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{stats} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{stats_bucket} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{stats_reason} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{forecast} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{forecast_fit} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{forecast_made} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{finding} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{schedule} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{long_run} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{agent} TO {account};
GRANT SELECT, INSERT, DELETE ON {database}.{schedule_refused} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{schedule_deleted} TO {account};
GRANT SELECT, INSERT, DELETE ON {database}.{schedule_version} TO {account};
GRANT SELECT, DELETE, INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) ON {database}.{event_outbox} TO {account};
GRANT SELECT, UPDATE ON {database}.{event_shard} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{event_forwarder} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{event_topic} TO {account};
GRANT SELECT, INSERT ON {database}.{event_set_aside} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{event_count} TO {account};
GRANT INSERT ON {database}.{event_published} TO {account};
GRANT INSERT (consumer, id, seen_at) ON {database}.{event_seen} TO {account};
GRANT SELECT, INSERT ({entry_columns}) ON {database}.{audit_log} TO {account};
GRANT SELECT ON {database}.{job_definition} TO {account};
GRANT SELECT ON {database}.{step_definition} TO {account};
GRANT SELECT ON {database}.{job_version} TO {account};
GRANT SELECT ON {database}.{rule} TO {account};
GRANT SELECT ON {database}.{rule_version} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{job_run_log} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{step_run_log} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{queue_position} TO {account};
-- +file grants/parts/procedures.sql -- only full
