-- What is wrong, and who was told.
-- Index: PRIMARY of finding, the entries of the codes of doctor and the receivers, 2,000 at most. Locks: none.
-- Names by the thousand, which this program does not write, are none.
-- {codes}: 'clock', …; {of}: AND receiver IN ('ops', …), or nothing for all
SELECT code, receiver, severity, found, IF(OCTET_LENGTH(names) <= 16384, names, NULL), text, remedy,
  seen_since, bad_since, gone_since, looked_at, told_at, told_severity, told_found,
  IF(OCTET_LENGTH(told_names) <= 16384, told_names, NULL), message, message_kind
FROM {prefix}finding FORCE INDEX (PRIMARY) WHERE code IN ({codes}) {of} ORDER BY code, receiver LIMIT 2000
