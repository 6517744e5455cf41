-- The app's own tables. Times are UTC. Nothing here is known to prescient.

CREATE TABLE IF NOT EXISTS {prefix}orders (
  id         BIGINT      NOT NULL AUTO_INCREMENT,
  placed_at  DATETIME(6) NOT NULL,
  shipped_at DATETIME(6) NULL COMMENT 'NULL while it is not shipped',
  PRIMARY KEY (id)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'orders that are checked on';

-- The primary key is what makes a second call of a check harmless: one alert of each level for an order.
CREATE TABLE IF NOT EXISTS {prefix}order_alerts (
  order_id  BIGINT      NOT NULL,
  level     ENUM('primary', 'escalated') CHARACTER SET ascii COLLATE ascii_bin NOT NULL,
  raised_at DATETIME(6) NOT NULL,
  slot      DATETIME    NOT NULL COMMENT 'the slot of the check that raised it',
  PRIMARY KEY (order_id, level)
) ENGINE = InnoDB DEFAULT CHARSET = utf8mb4 COLLATE = utf8mb4_bin COMMENT = 'orders that were not shipped in time';
