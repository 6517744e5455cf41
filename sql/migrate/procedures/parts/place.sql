-- The slot of the time that is asked for: that time rounded up, or where it is over the next slot that is open.
SET v_now = UTC_TIMESTAMP(6);
SELECT config.resolution_s INTO v_seconds FROM {prefix}slot_config config WHERE config.id = 1;
SET v_slot = GREATEST(
  TIMESTAMP'1970-01-01 00:00:00' + INTERVAL ((TIMESTAMPDIFF(MICROSECOND, TIMESTAMP'1970-01-01 00:00:00', p_due_at) + v_seconds * 1000000 - 1) DIV (v_seconds * 1000000)) * v_seconds SECOND,
  TIMESTAMP'1970-01-01 00:00:00' + INTERVAL (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', v_now) DIV v_seconds + 1) * v_seconds SECOND);
