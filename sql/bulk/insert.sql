-- Keep a preview. Its deed may be begun within 15 minutes.
-- Index: PRIMARY of bulk_run, one entry. Locks: the row.
-- 1: deed; 2: filter; 3: due_at; 4: cutoff; 5: person; 6: reason; 7: host; 8: matched; 9: is_exact; 10: hash of the token
INSERT INTO {prefix}bulk_run (deed, filter, due_at, cutoff, person, reason, host, matched, is_exact, token, token_until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, UTC_TIMESTAMP(6) + INTERVAL 15 MINUTE)
