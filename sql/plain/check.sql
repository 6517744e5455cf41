-- Which check, and when: the other files of this folder go on from these variables of the session. They are for apps in the dialect plain,
-- which has no CALL. An app sends one statement after the other, in its own transaction, whose isolation level is READ COMMITTED or
-- REPEATABLE READ, on a connection in utf8mb4; ? is what the app has read. After error 1213 or 1020 it begins the transaction again. Names
-- of tables come after the table_prefix. The account has the roles app-sql and app-reschedule; a file says where one of them is enough.
-- Tests run these files on MySQL and MariaDB alone.
--
-- names: times are UTC, from 1000-01-01 to 9999-12-30, and the entity is not schedule. Nothing but the app holds that.
SET @entity_name = 'order', @entity_key = '42', @job_exec = 'order-unshipped', @tag = '',
  @due_at = UTC_TIMESTAMP(6) + INTERVAL 3 HOUR, @payload = NULL;

-- keys: the first and the last that a check of the entity can have, and that of the check.
SET @first = CONCAT(SUBSTRING(UNHEX(SHA2(CONCAT(@entity_name, UNHEX('00'), @entity_key), 256)), 1, 12), UNHEX('00000000'));
SET @last = CONCAT(SUBSTRING(@first, 1, 12), UNHEX('FFFFFFFF'));
SET @job_key = CONCAT(SUBSTRING(@first, 1, 12), SUBSTRING(UNHEX(SHA2(CONCAT(@job_exec, UNHEX('00'), @tag), 256)), 1, 4));

-- slot: due_at rounded up to slots of 900 s (resolution_s of slot_config), or where that is over the next one.
SET @slot = GREATEST(
  TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
    (TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', @due_at) + 899999999) DIV 900000000 * 900 SECOND,
  TIMESTAMP'1970-01-01 00:00:00' + INTERVAL
    (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', UTC_TIMESTAMP(6)) DIV 900 + 1) * 900 SECOND);
