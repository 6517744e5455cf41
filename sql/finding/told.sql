-- Note that a receiver was told of a code, where the message is still the one that is to be sent.
-- Index: PRIMARY of finding, one entry. Locks: that.
-- 1: severity, 2: how many findings, 3: names, 4: code, 5: receiver, 6: id of the message, NULL for none
UPDATE {prefix}finding SET told_at = UTC_TIMESTAMP(6), told_severity = ?, told_found = ?, told_names = ?,
  message = NULL, message_kind = NULL
WHERE code = ? AND receiver = ? AND message <=> ?
