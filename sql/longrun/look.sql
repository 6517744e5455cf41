-- The database's clock, and what of some pools may be claimed, or lapses next.
-- Index: those of look_pool. Locks: none.
-- {pools}: UNION ALL (…) for each range of look_pool
SELECT UTC_TIMESTAMP(6), NULL, NULL, NULL, NULL, NULL, NULL, NULL FROM DUAL {pools}
