<?php
// What the worker calls, with a check and with an event: php -S 127.0.0.1:8000 shop_http.php
http_response_code(500); // until it is done: where PHP shows errors, it would say 200, and it would not be called again
require __DIR__ . '/shop.php';
$secret = getenv('SECRET') ?: throw new Exception('SECRET is empty: anybody could sign'); // of jobs.http and of the route of events

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
