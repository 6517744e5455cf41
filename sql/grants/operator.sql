-- An operator: pause, resume, requeue of an entity and doctor, and all that lists. It makes ended checks pending again and stops
-- job_execs; it moves, cancels and runs nothing, and neither the ledger nor history can be written. With PROCESS ON *.* beside
-- it, which is for the whole server, doctor also shows how far the server's purge is behind, and the oldest transaction. With
-- SELECT ON performance_schema.* as well, doctor and blocking show which sessions wait for which.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, INSERT ({check_columns}) ON {database}.{future_job} TO {account};
GRANT SELECT ON {database}.{job_history} TO {account};
GRANT SELECT ON {database}.{slot_run} TO {account};
GRANT SELECT ON {database}.{exec_run} TO {account};
GRANT SELECT ON {database}.{exec_known} TO {account};
GRANT SELECT ON {database}.{stats_hour} TO {account};
GRANT SELECT ON {database}.{stats} TO {account};
GRANT SELECT ON {database}.{stats_bucket} TO {account};
GRANT SELECT ON {database}.{stats_reason} TO {account};
GRANT SELECT ON {database}.{duty} TO {account};
GRANT SELECT ON {database}.{forecast} TO {account};
GRANT SELECT ON {database}.{forecast_fit} TO {account};
GRANT SELECT ON {database}.{forecast_made} TO {account};
GRANT SELECT ON {database}.{finding} TO {account};
GRANT SELECT, INSERT, UPDATE, DELETE ON {database}.{job_pause} TO {account};
GRANT SELECT ON {database}.{schedule} TO {account};
GRANT SELECT ON {database}.{schedule_version} TO {account};
GRANT SELECT ON {database}.{long_run} TO {account};
GRANT SELECT, UPDATE (wanted, wanted_by, wanted_at) ON {database}.{agent} TO {account};
GRANT SELECT ON {database}.{schedule_refused} TO {account};
GRANT SELECT, INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) ON {database}.{event_outbox} TO {account};
GRANT SELECT ON {database}.{event_shard} TO {account};
GRANT SELECT ON {database}.{event_forwarder} TO {account};
GRANT SELECT ON {database}.{event_topic} TO {account};
GRANT SELECT, DELETE ON {database}.{event_set_aside} TO {account};
GRANT SELECT ON {database}.{event_count} TO {account};
GRANT SELECT, INSERT ({entry_columns}) ON {database}.{audit_log} TO {account};
GRANT SELECT ON {database}.{job_definition} TO {account};
GRANT SELECT ON {database}.{step_definition} TO {account};
GRANT SELECT ON {database}.{job_step} TO {account};
GRANT SELECT ON {database}.{job_version} TO {account};
GRANT SELECT ON {database}.{rule} TO {account};
GRANT SELECT ON {database}.{rule_version} TO {account};
GRANT SELECT ON {database}.{job_run_log} TO {account};
GRANT SELECT ON {database}.{step_run_log} TO {account};
GRANT SELECT ON {database}.{queue_position} TO {account};
GRANT SELECT ON {database}.{bulk_run} TO {account};
GRANT SELECT ON {database}.{bulk_check} TO {account};
