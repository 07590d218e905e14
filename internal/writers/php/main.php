<?php
// Drives Symfony's limiters for tests of package inspect: it takes one call per
// line and answers what the library said.
//
//   main.php LIBRARY HOST:PORT '{"rate":10,"burst":20,"limit":10,"window_ms":1000}'
//
// A line in is a key and a cost, apart by a space. A line out is JSON: allowed,
// remaining (after the call), wait_ms (of a refusal), or error.
require '/usr/share/php/Symfony/Component/Cache/autoload.php';
require '/usr/share/php/Symfony/Component/RateLimiter/autoload.php';

use Symfony\Component\Cache\Adapter\RedisAdapter;
use Symfony\Component\RateLimiter\RateLimiterFactory;
use Symfony\Component\RateLimiter\Storage\CacheStorage;

[, $name, $address, $text] = $argv;
$settings = json_decode($text, true);
$interval = intdiv($settings['window_ms'], 1000) . ' seconds';
$policies = [
    'symfony-token' => ['policy' => 'token_bucket', 'limit' => $settings['burst'], 'rate' => ['interval' => $interval, 'amount' => $settings['rate']]],
    'symfony-fixed' => ['policy' => 'fixed_window', 'limit' => $settings['limit'], 'interval' => $interval],
    'symfony-sliding' => ['policy' => 'sliding_window', 'limit' => $settings['limit'], 'interval' => $interval],
];
$pool = new RedisAdapter(RedisAdapter::createConnection('redis://' . $address), 'ns');
$factory = new RateLimiterFactory(['id' => 'login'] + $policies[$name], new CacheStorage($pool));

while (($line = fgets(STDIN)) !== false) {
    [$key, $cost] = explode(' ', trim($line));
    try {
        $r = $factory->create($key)->consume((int) $cost);
        $answer = ['allowed' => $r->isAccepted(), 'remaining' => $r->getRemainingTokens()];
        if (!$r->isAccepted()) {
            $answer['wait_ms'] = ((float) $r->getRetryAfter()->format('U.u') - microtime(true)) * 1000;
        }
    } catch (\Throwable $e) {
        $answer = ['error' => get_class($e) . ': ' . $e->getMessage()];
    }
    echo json_encode($answer), "\n";
}
