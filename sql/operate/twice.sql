-- Which rows ended more than once since a time, among the latest ends? Each is compared with the end of its key before it: between two
-- ends of a row comes none of another.
-- Index: PRIMARY of job_history, from its end, the limit's entries; KEY (job_key) for each, those of its key that are later and one more in
-- each partition since then. Locks: none. 1: limit, 2: since when
SELECT latest.entity_name, latest.entity_key, latest.job_exec, latest.tag, latest.slot AS next_check_at
FROM (SELECT entity_name, entity_key, job_exec, tag, slot, job_key, revision, ended_at
      FROM {prefix}job_history ORDER BY ended_at DESC LIMIT ?) latest
WHERE latest.revision = (SELECT earlier.revision FROM {prefix}job_history earlier FORCE INDEX (job_key)
                         WHERE earlier.job_key = latest.job_key AND earlier.ended_at < latest.ended_at AND earlier.ended_at >= ?
                         ORDER BY earlier.ended_at DESC LIMIT 1)
LIMIT 1
