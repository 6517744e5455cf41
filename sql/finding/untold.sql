-- Receivers that could not be told of findings, by who looked in the last two hours.
-- Index: PRIMARY of finding, the part of the code notify, 100 rows at most. Locks: none.
SELECT receiver, text FROM {prefix}finding FORCE INDEX (PRIMARY)
WHERE code = 'notify' AND gone_since IS NULL AND looked_at BETWEEN UTC_TIMESTAMP(6) - INTERVAL 2 HOUR AND UTC_TIMESTAMP(6) + INTERVAL 2 HOUR
  AND JSON_CONTAINS_PATH(names, 'one', CONCAT('$.', JSON_QUOTE(receiver))) ORDER BY receiver LIMIT 100
