-- Rules whose checks do not all follow their last change, which was long ago, where no process moves those of any rule.
-- Index: PRIMARY of rule, all of it: there are some dozens; PRIMARY of duty, a range. Locks: none.
-- 1: changed before, 2: limit
SELECT rule.name AS id, CONCAT('changed at ', DATE_FORMAT(rule.updated_at, '%Y-%m-%d %H:%i'), ' (UTC)') AS reason
FROM {prefix}rule rule FORCE INDEX (PRIMARY)
WHERE rule.walked_to < GREATEST(rule.moved_to, rule.ended_to) AND rule.updated_at < ?
  AND NOT EXISTS (SELECT 1 FROM {prefix}duty duty FORCE INDEX (PRIMARY)
    WHERE duty.name > 'rule/' AND duty.name < 'rule0' AND {lives duty.allocated_until})
ORDER BY rule.name LIMIT ?
