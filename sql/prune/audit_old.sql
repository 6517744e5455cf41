-- Old entries of the audit, the first of them first, behind a cursor: what they made, and whether they stay. The first of the installation
-- does, which says since when there is an audit, the latest of a job_exec, and that of the version which an object has.
-- Index: PRIMARY of audit_log, a range; stream of audit_log, and PRIMARY of schedule, job_definition and step_definition, an entry each.
-- Locks: none.
-- {cutoff}: before which they are, {behind}: the cursor as a condition, {limit}: how many
SELECT CAST(old.at AS CHAR), HEX(old.entry), HEX(old.stream), CAST(old.incarnation AS CHAR), COALESCE(old.version, 0),
  CASE old.kind
    WHEN 'schedule' THEN EXISTS (SELECT 1 FROM {prefix}schedule one FORCE INDEX (PRIMARY) WHERE one.id = old.id
      AND one.created_at = old.incarnation AND one.version = old.version)
    WHEN 'job' THEN EXISTS (SELECT 1 FROM {prefix}job_definition job FORCE INDEX (PRIMARY)
      WHERE job.name = CONVERT(old.id USING ascii) COLLATE ascii_bin
      AND job.created_at = old.incarnation AND job.version = old.version)
    WHEN 'step' THEN EXISTS (SELECT 1 FROM {prefix}step_definition step FORCE INDEX (PRIMARY)
      WHERE step.name = CONVERT(old.id USING ascii) COLLATE ascii_bin
      AND step.created_at = old.incarnation AND step.version = old.version)
    WHEN 'job_exec' THEN old.at = (SELECT later.at FROM {prefix}audit_log later FORCE INDEX (stream)
      WHERE later.stream = old.stream ORDER BY later.stream DESC, later.at DESC LIMIT 1)
    WHEN 'installation' THEN old.at = (SELECT first.at FROM {prefix}audit_log first FORCE INDEX (stream)
      WHERE first.stream = old.stream ORDER BY first.stream, first.at LIMIT 1)
    ELSE 0 END
FROM {prefix}audit_log old FORCE INDEX (PRIMARY)
WHERE old.at < {cutoff} AND {behind} ORDER BY old.at, old.entry LIMIT {limit}
