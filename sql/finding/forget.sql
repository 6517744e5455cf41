-- Forget what is over, where the message is still the one that said so, or none is to be sent.
-- Index: PRIMARY of finding, one entry. Locks: that.
-- 1: code, 2: receiver, 3: id of the message, NULL for none
DELETE FROM {prefix}finding WHERE code = ? AND receiver = ? AND message <=> ?
