-- Rules that were deleted long ago, what they said not yet.
-- Index: PRIMARY of rule, all of it: there are some dozens; PRIMARY of rule_version, one entry each. Locks: none.
-- 1: before
SELECT rule.name FROM {prefix}rule rule FORCE INDEX (PRIMARY)
  JOIN {prefix}rule_version says FORCE INDEX (PRIMARY) ON says.rule = rule.name AND says.version = rule.version
WHERE rule.state = 'deleted' AND rule.updated_at < ? AND rule.walked_to >= GREATEST(rule.moved_to, rule.ended_to) ORDER BY rule.name
