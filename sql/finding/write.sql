-- Note what was seen, and the messages that are to be sent.
-- Index: PRIMARY of finding. Locks: a record each, its own.
-- {rows}: (…), (…) in the order of the columns
INSERT INTO {prefix}finding (code, receiver, severity, found, names, text, remedy, seen_since, bad_since, gone_since, looked_at,
  message, message_kind)
VALUES {rows}
ON DUPLICATE KEY UPDATE severity = VALUES(severity), found = VALUES(found), names = VALUES(names), text = VALUES(text),
  remedy = VALUES(remedy), seen_since = VALUES(seen_since), bad_since = VALUES(bad_since), gone_since = VALUES(gone_since),
  looked_at = VALUES(looked_at), message = VALUES(message), message_kind = VALUES(message_kind)
