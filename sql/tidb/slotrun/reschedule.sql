-- As the common one, without JSON_TABLE: the list is taken apart by its numbers.
-- Index: PRIMARY of future_job, one entry a row. Locks: the rows.
-- 1: JSON [[job_key, revision, next_check_at, due_at, check_count, error_count, put_off_count, total_ms, last_error], …],
-- 2: slot
UPDATE (SELECT UNHEX(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][0]')))) AS job_key,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][1]'))) AS UNSIGNED) AS revision,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][2]'))) AS DATETIME) AS next_check_at,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][3]'))) AS DATETIME(6)) AS due_at,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][4]'))) AS UNSIGNED) AS check_count,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][5]'))) AS UNSIGNED) AS error_count,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][6]'))) AS UNSIGNED) AS put_off_count,
               CAST(JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][7]'))) AS UNSIGNED) AS total_ms,
               IF(JSON_TYPE(JSON_EXTRACT(list, CONCAT('$[', n, '][8]'))) = 'NULL', NULL,
                  JSON_UNQUOTE(JSON_EXTRACT(list, CONCAT('$[', n, '][8]')))) AS last_error
        FROM (SELECT CAST(? AS JSON) AS list) answer JOIN
       (SELECT a.d + 10 * b.d + 100 * c.d + 1000 * e.d AS n
        FROM (SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) a,
             (SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) b,
             (SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) c,
             (SELECT 0 d UNION ALL SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3 UNION ALL SELECT 4 UNION ALL SELECT 5 UNION ALL SELECT 6 UNION ALL SELECT 7 UNION ALL SELECT 8 UNION ALL SELECT 9) e) number ON n < JSON_LENGTH(list)) moved
  JOIN {prefix}future_job job
  ON job.next_check_at = ? AND job.job_key = moved.job_key AND job.revision = moved.revision
SET job.next_check_at = moved.next_check_at, job.due_at = moved.due_at, job.check_count = moved.check_count,
    job.error_count = moved.error_count, job.put_off_count = moved.put_off_count, job.total_ms = moved.total_ms,
    job.last_error = moved.last_error, job.revision = job.revision + 1
