-- Which rows ended more than once since a time, among the latest ends?
-- Index: PRIMARY of job_history, from its end, the limit's entries; KEY (job_key) for each, in the partitions since
-- then. Locks: none. 1: limit, 2: since when
SELECT ended.entity_name, ended.entity_key, ended.job_exec, ended.tag, MAX(ended.slot) AS next_check_at
FROM (SELECT DISTINCT job_key, revision
      FROM (SELECT job_key, revision FROM {prefix}job_history ORDER BY ended_at DESC LIMIT ?) page) latest
STRAIGHT_JOIN {prefix}job_history ended FORCE INDEX (job_key)
  ON ended.job_key = latest.job_key AND ended.revision = latest.revision AND ended.ended_at >= ?
GROUP BY ended.job_key, ended.revision, ended.entity_name, ended.entity_key, ended.job_exec, ended.tag
HAVING COUNT(*) > 1 LIMIT 1
