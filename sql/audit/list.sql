-- A page of the audit, the latest entries first. Text comes in hexadecimal and times as text, since this may run on an app's
-- connection, whose settings are its own.
-- Index: PRIMARY of audit_log from the cursor back, or stream. Locks: none.
-- {states}: HEX of what was before and after, or NULL, {index}: which of them, {filter}: conditions, {limit}: how many
SELECT CAST(at AS CHAR), HEX(entry), kind, HEX(id), verb, version, CAST(incarnation AS CHAR), HEX(account), HEX(person),
  HEX(host), HEX(program), HEX(command), HEX(reason), {states}, pruned
FROM {prefix}audit_log FORCE INDEX ({index})
WHERE {filter} ORDER BY at DESC, entry DESC LIMIT {limit}
