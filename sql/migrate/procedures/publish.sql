-- CALL {prefix}publish('orders', 'order/42', 'order-42-shipped', '{"a": 1}') puts an event into the outbox, in the caller's transaction: topic, key,
-- the event's id, which is the same for each copy of it, and payload. Events of one key are published in their order. It answers with nothing. The
-- caller needs EXECUTE and no other right.
DROP PROCEDURE IF EXISTS {prefix}publish;
-- +goose StatementBegin
CREATE PROCEDURE {prefix}publish(
  IN p_topic VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_key VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_id VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin,
  IN p_payload LONGBLOB)
  MODIFIES SQL DATA
  SQL SECURITY DEFINER
  COMMENT 'prescient: puts an event into the outbox'
BEGIN
  IF p_topic IS NULL OR p_key IS NULL OR p_id IS NULL THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'publish: topic, key and id are needed';
  END IF;
  INSERT INTO {prefix}event_outbox (shard, id, topic, event_key, generated_at, payload, inserted_at)
  VALUES (CONV(SUBSTRING(SHA2(CAST(p_key AS BINARY), 256), 1, 2), 16, 10) % 64, p_id, p_topic, p_key, UTC_TIMESTAMP(6), p_payload, UTC_TIMESTAMP(6));
END
-- +goose StatementEnd
