-- An app in another language than Go: INSERT of all columns that have no default, SELECT of the resolution that it makes
-- the slot with. It can change and delete nothing by itself, and writes no history; it cancels through the command.
GRANT SELECT ON {database}.{slot_config} TO {account};
GRANT SELECT, INSERT (entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, payload, revision, inserted_at, expires_at) ON {database}.{future_job} TO {account};
GRANT SELECT, INSERT (id, crontabs, zone, payload, job_exec, topic, owner_name, owner_key, catch_up, catch_up_within, expires_after, jitter, may_coalesce, is_long, overlap, tolerance, quota, created_at) ON {database}.{schedule} TO {account};
GRANT SELECT ON {database}.{schedule_refused} TO {account};
GRANT INSERT (shard, id, topic, event_key, generated_at, payload, inserted_at) ON {database}.{event_outbox} TO {account};
GRANT INSERT (consumer, id, seen_at) ON {database}.{event_seen} TO {account};
