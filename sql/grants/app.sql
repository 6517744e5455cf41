-- An app that inserts and cancels by the Go client: Insert with OnPending keep or error, InsertMany, Cancel, Get and
-- Pending. It cannot put a pending check to another time: replace, earlier, later and Reschedule are refused with error 1142 or
-- 1143 (app-reschedule has what they need). The UPDATE has runs of schedules go on under new definitions. DELETE and the INSERT into history are what a
-- cancel by the client does in the app's own transaction. MariaDB asks for UPDATE of each column that an INSERT … ON DUPLICATE KEY UPDATE
-- names, as that of schedules does.
-- An app that is content with CALL cancel takes app-sql. -- only full
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, DELETE, INSERT ({check_columns}), UPDATE (job_exec, job_key, payload, revision, inserted_at, expires_at) ON {database}.{future_job} TO {account};
GRANT INSERT ON {database}.{job_history} TO {account};
GRANT SELECT, DELETE, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, version, enabled, created_at, utc_offset), UPDATE (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, version, enabled, created_at, disabled_at, disabled_reason, passed_over, caught_up, by_hand_at, updated_at, utc_offset) ON {database}.{schedule} TO {account};
GRANT SELECT, DELETE ON {database}.{schedule_refused} TO {account};
GRANT SELECT, INSERT, UPDATE ON {database}.{schedule_deleted} TO {account};
GRANT INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at) ON {database}.{event_outbox} TO {account};
GRANT INSERT (consumer, id, seen_at) ON {database}.{event_seen} TO {account};
GRANT INSERT ({entry_columns}) ON {database}.{audit_log} TO {account};
GRANT SELECT, INSERT, DELETE, UPDATE (version, definition, updated_at) ON {database}.{job_definition} TO {account};
GRANT SELECT, INSERT, DELETE, UPDATE (version, definition, updated_at) ON {database}.{step_definition} TO {account};
GRANT SELECT, INSERT, DELETE ON {database}.{job_step} TO {account};
GRANT SELECT, INSERT ON {database}.{job_version} TO {account};
GRANT SELECT ON {database}.{job_run_log} TO {account};
GRANT SELECT ON {database}.{step_run_log} TO {account};
GRANT EXECUTE ON PROCEDURE {database}.{cancel} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{pending} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{delete_schedules} TO {account}; -- only full
