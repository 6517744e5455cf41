-- Lock a token of which the last use is to be noted. Where somebody has it, the error comes at once.
-- Index: PRIMARY of api_token, one entry. Locks: the row.
-- 1: its number
SELECT number FROM {prefix}api_token WHERE number = ? FOR UPDATE NOWAIT
