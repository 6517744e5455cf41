-- The versions of a rule, the last first.
-- Index: PRIMARY of rule_version, a range, and of rule, one entry. Locks: none.
-- {payload}: the constant in hex, or NULL, {name}: which, {before}: a version, {limit}: how many
SELECT says.rule, says.version, rule.occasion, rule.job_exec, says.delay, says.spread, says.expires_after, says.on_pending, says.ends,
  {payload}, says.max_checks, says.max_errors, says.state, CAST(says.created_at AS CHAR)
FROM {prefix}rule_version says FORCE INDEX (PRIMARY) JOIN {prefix}rule rule FORCE INDEX (PRIMARY) ON rule.name = says.rule
WHERE says.rule = {name} AND says.version < {before} ORDER BY says.version DESC LIMIT {limit}
