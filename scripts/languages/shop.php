<?php
// A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, look 42; it serves by php -S.
$secret = getenv('SECRET') ?: throw new Exception('SECRET is empty: anybody could sign'); // of jobs.http and of the route of events

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

function check(callable $sql, string $_, array $job) { // null settles the matter; otherwise it says when to look again
    $id = "$job[entity_key] $job[inserted_at] $job[due_at] $job[check_count]"; // the header is not signed
    if (!$sql('SELECT 1 FROM orders WHERE id = ? AND NOT shipped', $job['entity_key'])) return null;
    if (once($sql, 'order-unshipped', $id)) $sql("INSERT INTO mail VALUES (?, 'is late')", $job['entity_key']);
    return ['next_in' => '1h'];
}

function event(callable $sql, string $id, array $shipped) {
    if (once($sql, 'mailer', $id)) $sql("INSERT INTO mail VALUES (?, 'is on its way')", $shipped['order']);
}

function signed(string $seconds, string $expected, string $given): bool { // by somebody who has the secret, in the last minutes
    return ctype_digit($seconds) && abs(time() - (int) $seconds) < 300 && hash_equals($expected, $given);
}

if (PHP_SAPI === 'cli') {
    [, $command, $order] = $argv;
    if (!in_array($command, ['place', 'postpone', 'ship', 'look'])) exit("there is no command $command\n");
    transaction(fn ($sql) => $command($sql, $order, ...array_slice($argv, 3)));
    return;
}
http_response_code(500); // until it is done: where PHP shows errors, it would say 200, and it would not be called again
$body = file_get_contents('php://input');
if ($_SERVER['REQUEST_URI'] === '/checks/order-unshipped') {
    parse_str(strtr($_SERVER['HTTP_X_PRESCIENT_SIGNATURE'] ?? '', ',', '&'), $of);
    [$work, $id, $seconds] = ['check', '', $of['t'] ?? ''];
    $good = signed($seconds, hash_hmac('sha256', "$seconds.$body", $secret), $of['v1'] ?? '');
} else {
    [$work, $id, $seconds] = ['event', $_SERVER['HTTP_WEBHOOK_ID'] ?? '', $_SERVER['HTTP_WEBHOOK_TIMESTAMP'] ?? ''];
    $good = signed($seconds, 'v1,' . base64_encode(hash_hmac('sha256', "$id.$seconds.$body", $secret, true)), $_SERVER['HTTP_WEBHOOK_SIGNATURE'] ?? '');
}
$answer = $good ? transaction(fn ($sql) => $work($sql, $id, json_decode($body, true))) : null;
http_response_code($good ? 200 : 401);
echo $good ? json_encode($answer) : '';
