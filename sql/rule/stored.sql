-- Rules as they stand, with what their current versions say, and how far the walk over what is pending is.
-- Index: PRIMARY of rule, a range or one entry, and of rule_version, one entry each. Locks: none.
-- {payload}: the constant in hex, or NULL, {condition}: on rule.name, {limit}: how many
SELECT rule.name, rule.version, rule.occasion, rule.job_exec, rule.state, CAST(rule.since AS CHAR), rule.moved_to, rule.ended_to,
  says.delay, says.spread, says.expires_after, says.on_pending, says.ends, {payload},
  says.max_checks, says.max_errors, CAST(rule.created_at AS CHAR), CAST(rule.updated_at AS CHAR),
  rule.walked_to, rule.walk_pass, rule.walk_reached, rule.walk_found, rule.walk_moved, rule.walk_late, rule.walk_ended,
  CAST(rule.walk_at AS CHAR)
FROM {prefix}rule rule FORCE INDEX (PRIMARY)
  JOIN {prefix}rule_version says FORCE INDEX (PRIMARY) ON says.rule = rule.name AND says.version = rule.version
WHERE {condition} ORDER BY rule.name LIMIT {limit}
