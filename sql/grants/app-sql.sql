-- An app in any language: INSERT of the names, the time and the payload, from which the table makes the rest, INSERT of schedules, -- only full
-- and CALL of the procedures that list what is pending for an entity, that cancel it, and that delete an owner's schedules. It can change -- only full
-- and delete nothing by itself, writes no history, and reads no rows of others, which on MySQL it could lock. -- only full
-- An app in another language than Go: INSERT of all columns that have no default, SELECT of the resolution that it makes -- only plain
-- the slot with, of what is pending and of how it ended. It can change and delete nothing by itself, and writes no history; for that it -- only plain
-- has app-reschedule, too, and the statements of sql/plain. -- only plain
GRANT SELECT ON {database}.{slot_config} TO {account}; -- only plain
GRANT SELECT, INSERT ({check_columns}) ON {database}.{future_job} TO {account}; -- only plain
GRANT SELECT (entity_name, entity_key, job_exec, tag, due_at, job_key, slot, outcome, error, check_count, started_at, ended_at) ON {database}.{job_history} TO {account}; -- only plain
GRANT SELECT, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat, created_at) ON {database}.{schedule} TO {account}; -- only plain
GRANT INSERT (entity_name, entity_key, job_exec, tag, due_at, payload, expires_at, trace) ON {database}.{future_job} TO {account}; -- only full
GRANT SELECT, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, pool, heartbeat) ON {database}.{schedule} TO {account}; -- only full
GRANT SELECT ON {database}.{schedule_refused} TO {account};
GRANT INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at, trace) ON {database}.{event_outbox} TO {account};
GRANT INSERT (consumer, id, seen_at) ON {database}.{event_seen} TO {account};
-- +file grants/parts/procedures.sql -- only full
GRANT EXECUTE ON PROCEDURE {database}.{put} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{reschedule} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{happened} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{ended} TO {account}; -- only full
GRANT EXECUTE ON PROCEDURE {database}.{publish} TO {account}; -- only full
