-- Delete the books by job_exec of slots whose ledger goes. Under the locks of ledger_lock.sql, without which nobody writes them.
-- Index: PRIMARY of exec_run, a range a slot. Locks: the lines.
-- {slots}: slots as literals
DELETE line FROM ({prefix}exec_run line FORCE INDEX (PRIMARY)) -- only full
DELETE line FROM {prefix}exec_run line FORCE INDEX (PRIMARY) -- only plain
WHERE (line.slot IN ({slots}) OR 1 = 0)
