-- All rules with what their current versions say, for whoever reports an occasion: there are some dozens, and a client keeps them for
-- some seconds.
-- Index: PRIMARY of rule, all of it, and of rule_version, one entry each. Locks: none.
SELECT rule.name, rule.version, rule.occasion, rule.job_exec, rule.state, CAST(rule.since AS CHAR), rule.moved_to, rule.ended_to,
  says.delay, says.spread, says.expires_after, says.on_pending, says.ends, HEX(CAST(says.payload AS CHAR CHARACTER SET utf8mb4)),
  says.max_checks, says.max_errors
FROM {prefix}rule rule FORCE INDEX (PRIMARY)
  JOIN {prefix}rule_version says FORCE INDEX (PRIMARY) ON says.rule = rule.name AND says.version = rule.version
ORDER BY rule.name
