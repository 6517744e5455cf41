-- How many transactions are to be purged, of everybody: the length of InnoDB's history list? It wants the right PROCESS.
-- Index: none, memory. Locks: none.
SELECT metric.COUNT FROM information_schema.INNODB_METRICS metric WHERE metric.NAME = 'trx_rseg_history_len'
