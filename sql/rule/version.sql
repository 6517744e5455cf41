-- What some versions of rules say. They never change.
-- Index: PRIMARY of rule_version and of rule, one entry each. Locks: none.
-- {versions}: (rule = … AND version = …) OR …
SELECT says.rule, says.version, rule.occasion, rule.job_exec, says.delay, says.spread, says.expires_after, says.on_pending, says.ends,
  HEX(CAST(says.payload AS CHAR CHARACTER SET utf8mb4)), says.max_checks, says.max_errors
FROM {prefix}rule_version says FORCE INDEX (PRIMARY) JOIN {prefix}rule rule FORCE INDEX (PRIMARY) ON rule.name = says.rule
WHERE {versions}
