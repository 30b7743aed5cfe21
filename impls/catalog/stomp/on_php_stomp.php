<?php
// A program around PHP's stomp extension: told by JSON lines, it calls the library. Debian or Ubuntu: php-stomp.
//
// The extension takes the headers of CONNECT, an id and an ack mode from its user, and waits for the RECEIPT of a frame
// by itself when that frame has a receipt header.

error_reporting(E_ALL & ~E_WARNING & ~E_DEPRECATED);
ini_set('display_errors', 'stderr');
const PATIENCE_S = 5;

final class Unsupported extends Exception {}

final class Testee
{
    /** After so many answers of "no frame" that took no time the connection has ended. */
    private const MISSES = 100;

    private ?Stomp $stomp = null;
    private string $version = '1.2';
    private string $why = 'not connected';
    private array $refs = [];
    private array $subs = [];
    private int $seen = 0;
    private int $receipts = 0;

    public function carryOut(array $given): mixed
    {
        $op = $given['op'];
        $known = ['connect', 'send', 'subscribe', 'unsubscribe', 'ack', 'nack', 'begin', 'commit', 'abort', 'receive',
            'disconnect'];
        if (!in_array($op, $known, true)) {
            throw new Unsupported();
        }
        return $this->$op($given);
    }

    private function connect(array $given): bool
    {
        $this->stomp = null;
        $this->refs = $this->subs = [];
        $this->why = 'not connected';
        $versions = $given['versions'];
        $headers = ['accept-version' => implode(',', $versions), 'host' => $given['host']];
        if (($given['heart_beat'] ?? [0, 0]) != [0, 0]) {
            throw new Unsupported();
        }
        $this->stomp = new Stomp('tcp://' . $given['address'], $given['login'] ?? '', $given['passcode'] ?? '', $headers);
        $this->stomp->setReadTimeout(PATIENCE_S);
        $this->version = end($versions);
        $this->why = '';
        return true;
    }

    private function live(): Stomp
    {
        if ($this->stomp === null || $this->why !== '') {
            throw new Exception($this->why ?: 'not connected');
        }
        return $this->stomp;
    }

    /** The headers of a frame: a transaction, and a receipt, for which the extension then waits. */
    private function headers(array $given, array $more = []): array
    {
        if (($given['transaction'] ?? null) !== null) {
            $more['transaction'] = $given['transaction'];
        }
        $receipt = $given['receipt'] ?? false;
        if ($receipt) {
            $more['receipt'] = is_string($receipt) ? $receipt : 'r-' . ++$this->receipts;
        }
        if (array_filter(array_keys($more), 'is_int')) {
            throw new Unsupported(); // PHP has made a number of the name: it has no way to hand it over as a text
        }
        return $more;
    }

    private function done(bool $done): bool
    {
        if (!$done) {
            throw new Exception($this->stomp->error() ?: 'the library says no');
        }
        return true;
    }

    private function send(array $given): bool
    {
        $body = hex2bin($given['body_hex'] ?? '');
        $headers = $this->headers($given, $given['headers'] ?? []);
        return $this->done($this->live()->send($given['destination'], $body, $headers));
    }

    private function subscribe(array $given): bool
    {
        $this->subs[$given['sub']] = $given['destination'];
        $headers = $this->headers($given, ['id' => $given['sub'], 'ack' => $given['ack'] ?? 'auto']);
        return $this->done($this->live()->subscribe($given['destination'], $headers));
    }

    private function unsubscribe(array $given): bool
    {
        $headers = $this->headers($given, ['id' => $given['sub']]);
        return $this->done($this->live()->unsubscribe($this->subs[$given['sub']], $headers));
    }

    /** The extension names a message by message-id; what 1.1 and 1.2 want beside it is its user's affair. */
    private function settle(array $given, string $verb): bool
    {
        $frame = $this->refs[$given['ref']];
        $more = [];
        if ($this->version === '1.2') {
            $more['id'] = $frame->headers['ack'];
        } elseif ($this->version === '1.1') {
            $more['subscription'] = $frame->headers['subscription'];
        }
        return $this->done($this->live()->$verb($frame, $this->headers($given, $more)));
    }

    private function ack(array $given): bool
    {
        return $this->settle($given, 'ack');
    }

    private function nack(array $given): bool
    {
        if ($this->version === '1.0') {
            throw new Unsupported();
        }
        return $this->settle($given, 'nack');
    }

    private function begin(array $given): bool
    {
        return $this->done($this->live()->begin($given['transaction'], $this->headers(['receipt' => $given['receipt'] ?? false])));
    }

    private function commit(array $given): bool
    {
        return $this->done($this->live()->commit($given['transaction'], $this->headers(['receipt' => $given['receipt'] ?? false])));
    }

    private function abort(array $given): bool
    {
        return $this->done($this->live()->abort($given['transaction'], $this->headers(['receipt' => $given['receipt'] ?? false])));
    }

    private function receive(array $given): ?array
    {
        $stomp = $this->live();
        $until = microtime(true) + (int) $given['timeout_ms'] / 1000;
        try {
            // The extension gives whatever comes, and leaves it to its user to tell frames apart; it gives false when the
            // time is over, when what came was no frame, and when the connection has ended.
            do {
                $left = max(1000, (int) (($until - microtime(true)) * 1000000));
                $stomp->setReadTimeout(intdiv($left, 1000000), $left % 1000000);
                $begun = microtime(true);
                $frame = $stomp->readFrame();
                $misses = $frame === false && microtime(true) - $begun < 0.001 ? ($misses ?? 0) + 1 : 0;
                $over = $misses >= self::MISSES || microtime(true) >= $until;
            } while (!$over && ($frame === false || !in_array($frame->command, ['MESSAGE', 'ERROR'], true)));
        } finally {
            $stomp->setReadTimeout(PATIENCE_S);
        }
        if ($misses >= self::MISSES) {
            $this->why = $stomp->error() ?: 'the connection has ended';
            throw new Exception($this->why);
        }
        if ($frame === false || !in_array($frame->command, ['MESSAGE', 'ERROR'], true)) {
            return null;
        }
        if ($frame->command === 'ERROR') {
            $this->why = 'ERROR: ' . ($frame->headers['message'] ?? '');
            throw new Exception($this->why);
        }
        $ref = (string) ++$this->seen;
        $this->refs[$ref] = $frame;
        $sub = $frame->headers['subscription'] ?? null;
        return ['ref' => $ref, 'headers' => (object) $frame->headers, 'body_hex' => bin2hex($frame->body ?? ''), 'sub' => $sub];
    }

    private function disconnect(array $given): bool
    {
        $this->stomp = null; // its destructor sends DISCONNECT and closes
        $this->why = 'disconnected';
        return true;
    }
}

$testee = new Testee();
while (($line = fgets(STDIN)) !== false) {
    $given = json_decode($line, true);
    $answer = ['id' => $given['id']];
    try {
        $answer['ok'] = $testee->carryOut($given);
    } catch (Unsupported) {
        $answer['error'] = 'unsupported';
    } catch (Throwable $error) {
        $answer['error'] = get_class($error) . ': ' . $error->getMessage();
    }
    fwrite(STDOUT, json_encode($answer, JSON_UNESCAPED_UNICODE | JSON_INVALID_UTF8_SUBSTITUTE) . "\n");
    fflush(STDOUT);
}
