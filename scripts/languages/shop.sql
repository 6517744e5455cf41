-- What the shop has of its own, beside prescient's tables in the same database.
CREATE TABLE orders (
  id      INT PRIMARY KEY,
  amount  DECIMAL(10, 2) NOT NULL CHECK (amount > 0),
  shipped BOOLEAN NOT NULL DEFAULT FALSE
);
CREATE TABLE mail (order_id INT NOT NULL, text VARCHAR(100) NOT NULL);
