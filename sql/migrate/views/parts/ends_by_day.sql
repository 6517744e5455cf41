-- The ends by the days from the first end to the last, 27 years of them at most. The days come first, and each is a range of the primary key:
-- so the server carries a condition on day down to them. They are no view of their own, to which analysts would need a right.
FROM (SELECT DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY AS day
    FROM (SELECT MIN(ended_at) AS first_at, MAX(ended_at) AS last_at FROM {prefix}job_history) ends,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d0,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d1,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d2,
      (SELECT 0 AS n UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) d3
    WHERE DATE(ends.first_at) + INTERVAL d0.n + 10 * d1.n + 100 * d2.n + 1000 * d3.n DAY <= ends.last_at) d
  STRAIGHT_JOIN {prefix}job_history h ON h.ended_at >= TIMESTAMP(d.day) AND h.ended_at < TIMESTAMP(d.day) + INTERVAL 1 DAY
