-- Say when the forecast was made, and of how much.
-- Index: PRIMARY of forecast_made, one entry. Locks: that.
-- 1: made_at, 2: worker, 3: took_ms, 4: slots_from, 5: slots_before, 6: entries_read, 7: schedules, 8: schedules_all
INSERT INTO {prefix}forecast_made (id, made_at, worker, took_ms, slots_from, slots_before, entries_read, schedules, schedules_all)
VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)
ON DUPLICATE KEY UPDATE made_at = VALUES(made_at), worker = VALUES(worker), took_ms = VALUES(took_ms), slots_from = VALUES(slots_from),
  slots_before = VALUES(slots_before), entries_read = VALUES(entries_read), schedules = VALUES(schedules),
  schedules_all = VALUES(schedules_all)
