-- What time is it by the database's clock, at which version is slot_config, and is the job pending? Times come as
-- text, since this runs on the app's connection, whose driver settings are its own.
-- Index: UNIQUE (job_key), one entry. Locks: none.
-- {columns}: what to read, {key}: the job_key
SELECT CAST(UTC_TIMESTAMP(6) AS CHAR), config.version, {columns}
FROM {prefix}slot_config config LEFT JOIN {prefix}future_job job ON job.job_key = {key}
WHERE config.id = 1
