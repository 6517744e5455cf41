-- What time is it by the database's clock, at which version is slot_config, and is the job pending? Times come as
-- text, since this runs on the app's connection, whose driver settings are its own.
-- Vitess asks each shard for a row of slot_config that is joined to none. In plain the key alone says where the answer comes from,
-- and aggregates make one row of it, whether the job is pending or not.
-- Index: UNIQUE (job_key), one entry. Locks: none.
-- {columns}: what to read, in plain each as an aggregate, {key}: the job_key
SELECT CAST(UTC_TIMESTAMP(6) AS CHAR), config.version, {columns} -- only full
FROM {prefix}slot_config config LEFT JOIN {prefix}future_job job ON job.job_key = {key} -- only full
WHERE config.id = 1 -- only full
SELECT CAST(UTC_TIMESTAMP(6) AS CHAR), (SELECT config.version FROM {prefix}slot_config config WHERE config.id = 1), {columns} -- only plain
FROM {prefix}future_job job WHERE job.job_key = {key} -- only plain
