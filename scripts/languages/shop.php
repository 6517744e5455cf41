<?php
// A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, or look 42.

function transaction(callable $work) {
    $db = new PDO('mysql:host=' . getenv('DB_HOST') . ';port=' . getenv('DB_PORT') . ';dbname=' . getenv('DB_NAME') . ';charset=utf8mb4',
        getenv('DB_USER'), getenv('DB_PASSWORD'), [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_ASSOC]);
    for ($left = 9;; $left--) {
        $db->beginTransaction();
        try {
            $answer = $work(function (string $sql, ...$values) use ($db) { // sends a statement; a CALL answers with rows, and then with how it went
                $statement = $db->prepare($sql);
                $statement->execute($values);
                $rows = $statement->columnCount() ? $statement->fetchAll() : [];
                $statement->closeCursor();
                return $rows;
            });
            $db->commit();
            return $answer;
        } catch (PDOException $e) { // a deadlock, or a row newer than the snapshot: from the beginning
            $db->rollBack();
            if (!in_array($e->errorInfo[1] ?? 0, [1213, 1020]) || !$left) throw $e;
        }
    }
}

function place(callable $sql, $order, $amount) { // the check is there if the order is
    $sql("INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
          VALUES ('order', ?, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)", $order);
    $sql('INSERT INTO orders (id, amount) VALUES (?, ?)', $order, $amount);
}

function postpone(callable $sql, $order, $seconds) { // the server counts in UTC, whatever the zone of this process
    $sql("CALL put('order', ?, 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL ? SECOND, NULL, 'replace')", $order, $seconds);
}

function ship(callable $sql, $order) {
    $sql('UPDATE orders SET shipped = TRUE WHERE id = ?', $order);
    $sql("CALL cancel('order', ?, 'order-unshipped')", $order);
    $sql("CALL publish('orders.shipped', ?, ?, ?)", "order/$order", "order-$order-shipped", json_encode(['order' => $order]));
}

function look(callable $sql, $order) {
    foreach ($sql("CALL pending('order', ?)", $order) as $check) echo "pending $check[job_exec] " . substr($check['due_at'], 0, 19) . "\n";
    foreach ($sql("CALL ended('order', ?)", $order) as $check) echo "ended $check[job_exec] $check[outcome]\n";
}

function once(callable $sql, string $consumer, string $id): bool { // what is done after it in the transaction is done once for this id
    try {
        $sql('INSERT INTO event_seen (consumer, id, seen_at) VALUES (?, ?, UTC_TIMESTAMP(6))', $consumer, $id);
        return true;
    } catch (PDOException $e) {
        if ($e->errorInfo[1] != 1062) throw $e;
        return false; // it was done before
    }
}

if (PHP_SAPI === 'cli') {
    [, $command, $order] = $argv;
    if (!in_array($command, ['place', 'postpone', 'ship', 'look'])) exit("there is no command $command\n");
    transaction(fn ($sql) => $command($sql, $order, ...array_slice($argv, 3)));
}
