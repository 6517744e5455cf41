-- The latest ends of an entity within a time, of which one check is passed over: an arm of list/last_ends.
-- Index: job_history's own KEY (job_key), all entries of the entity in the partitions of the time. Locks: none.
-- {first}, {last}: the keys of the entity, {but}: the check, {within}: the time, {limit}: how many
(SELECT ended_at, job_key, revision FROM {prefix}job_history FORCE INDEX (job_key)
 WHERE job_key BETWEEN {first} AND {last} AND job_key <> {but} AND {within}
 ORDER BY ended_at DESC, job_key DESC, revision DESC LIMIT {limit})
