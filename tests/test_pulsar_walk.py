"""The official client on the reference broker over TCP, unchanged, from producing to coming back after a cut.

The client runs in a process of its own: what it does to itself is no business of the test process. Skipped when the
package is not installed. `python tests/test_pulsar_walk.py URL` walks on any broker that is running.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import re
import select
import socket
import subprocess
import sys
import threading
import time
import uuid
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TOPIC = "persistent://public/default/{}-" + uuid.uuid4().hex[:8]
TIMEOUT_S = 60

if __name__ != "__main__" and importlib.util.find_spec("pulsar") is None:
    pytest.skip("pulsar-client is not installed", allow_module_level=True)


# --- the walk: run in a process of its own --------------------------------------------------------------------------


class Proxy:
    """Passes octets on, and can cut all connections."""

    def __init__(self, port: int, target: tuple[str, int]) -> None:
        self.target = target
        self.open: list[socket.socket] = []
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self) -> None:
        while True:
            ours, _ = self.listener.accept()
            theirs = socket.create_connection(self.target)
            self.open += [ours, theirs]
            for pair in ((ours, theirs), (theirs, ours)):
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
        for each in (source, sink):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def cut(self) -> None:
        cut, self.open = self.open, []
        for each in cut:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)


def drained(*consumers, count):
    """Data of `count` messages, each acknowledged."""
    found, deadline = [], time.monotonic() + 10
    while len(found) < count and time.monotonic() < deadline:
        for consumer in consumers:
            with contextlib.suppress(Exception):
                message = consumer.receive(timeout_millis=50)
                consumer.acknowledge(message)
                found.append(message.data())
    return found


def walk(url: str, proxy: Proxy | None, partitioned: bool) -> None:
    import pulsar  # noqa: PLC0415 - only the process of the client needs it

    client = pulsar.Client(
        url, operation_timeout_seconds=10, logger=pulsar.FileLogger(pulsar.LoggerLevel.Error, "/dev/stderr")
    )
    earliest = pulsar.InitialPosition.Earliest

    topic = TOPIC.format("plain")
    consumer = client.subscribe(topic, "s", initial_position=earliest)
    producer = client.create_producer(topic)
    ids = [
        producer.send(b"m%d" % n, properties={"n": str(n), "é": ""}, partition_key="k", event_timestamp=n + 1)
        for n in range(5)
    ]
    assert len({str(each) for each in ids}) == 5
    messages = [consumer.receive(5000) for _ in range(5)]
    assert [each.data() for each in messages] == [b"m0", b"m1", b"m2", b"m3", b"m4"]
    assert messages[1].properties() == {"n": "1", "é": ""}
    assert messages[1].partition_key() == "k"
    assert messages[1].event_timestamp() == 2

    consumer.acknowledge(messages[0])
    consumer.acknowledge_cumulative(messages[2])
    time.sleep(0.3)  # acknowledgements are grouped for 100 ms
    consumer.redeliver_unacknowledged_messages()
    assert [consumer.receive(5000).data() for _ in range(2)] == [b"m3", b"m4"]

    kinds = ("LZ4", "ZLib", "ZSTD", "SNAPPY")
    for kind in kinds:
        batches = client.create_producer(
            topic,
            compression_type=getattr(pulsar.CompressionType, kind),
            batching_enabled=True,
            batching_max_messages=3,
            batching_max_publish_delay_ms=50,
        )
        for n in range(6):
            batches.send_async(kind.encode() * 50 + b"%d" % n, lambda result, _: None, properties={"n": str(n)})
        batches.flush()
        batches.close()
    received = [consumer.receive(5000) for _ in range(24)]
    assert [each.data() for each in received] == [kind.encode() * 50 + b"%d" % n for kind in kinds for n in range(6)]
    for each in received:
        consumer.acknowledge(each)

    reader = client.create_reader(topic, pulsar.MessageId.earliest)
    read = 0
    while reader.has_message_available():
        reader.read_next(5000)
        read += 1
    assert read == 29
    reader.seek(pulsar.MessageId.earliest)
    assert reader.read_next(5000).data() == b"m0"
    reader.close()
    middle = client.create_reader(topic, ids[2])
    assert middle.read_next(5000).data() == b"m3"
    middle.close()

    consumer.seek(pulsar.MessageId.earliest)
    assert consumer.receive(5000).data() == b"m0"
    assert str(consumer.get_last_message_id()).count(",") == 3
    consumer.unsubscribe()
    again = client.subscribe(topic, "s")
    with pytest_raises(pulsar.Timeout):
        again.receive(200)  # a new subscription begins at the end
    again.close()

    for kind in ("Shared", "Failover", "KeyShared"):
        options = {"consumer_type": getattr(pulsar.ConsumerType, kind), "negative_ack_redelivery_delay_ms": 100}
        both = [client.subscribe(topic, f"sub-{kind}", consumer_name=name, **options) for name in ("a", "b")]
        for n in range(10):
            producer.send(b"x%d" % n, partition_key=str(n))
        if kind == "Shared":
            first = both[0].receive(5000)
            both[0].negative_acknowledge(first)
        assert sorted(set(drained(*both, count=10))) == [b"x%d" % n for n in range(10)]
        both[0].close()
        producer.send(b"last")
        seen = drained(both[1], count=1)
        while seen and seen[-1] in {b"x%d" % n for n in range(10)}:  # an ACK that the close overtook may be lost
            seen = drained(both[1], count=1)
        assert seen == [b"last"]
        both[1].close()

    exclusive = client.subscribe(topic, "one")
    with pytest_raises(pulsar.ConsumerBusy):
        client.subscribe(topic, "one")
    exclusive.close()

    if partitioned:
        parts = TOPIC.format("part-3")
        consumer = client.subscribe(parts, "s", consumer_type=pulsar.ConsumerType.Shared)
        mode = pulsar.PartitionsRoutingMode.RoundRobinDistribution
        spread = client.create_producer(parts, message_routing_mode=mode)
        for n in range(9):
            spread.send(b"%d" % n)
        assert sorted(drained(consumer, count=9)) == [b"%d" % n for n in range(9)]
        assert len(client.get_topic_partitions(parts)) == 3

    big = client.subscribe(topic, "big")
    payload = os.urandom(1 << 20) * 4
    producer.send(payload)
    message = big.receive(10000)
    assert message.data() == payload
    big.acknowledge(message)

    if proxy is not None:
        time.sleep(0.3)
        producer.send(b"before")
        proxy.cut()
        producer.send(b"behind")
        assert [each for each in drained(big, count=2) if each != payload][-2:] == [b"before", b"behind"]
    client.close()


@contextlib.contextmanager
def pytest_raises(kind):
    try:
        yield
    except kind:
        return
    raise AssertionError(f"{kind.__name__} was expected")


# --- the tests ------------------------------------------------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def broker(*arguments: str):
    """The reference broker as a program; its port."""
    command = [sys.executable, "-m", "impls.references.pulsar", "broker", "--port", "0", *arguments]
    child = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE)
    try:
        assert select.select([child.stdout], [], [], 20)[0], "the broker did not come up"
        found = re.fullmatch(rb"listening on 127\.0\.0\.1:(\d+)\n", child.stdout.readline())
        assert found
        yield int(found[1])
    finally:
        child.terminate()
        child.wait(10)


def walks(port: int, *arguments: str) -> None:
    command = [sys.executable, str(Path(__file__)), f"pulsar://127.0.0.1:{port}", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert done.stdout.endswith("walked\n")


KEPT = ["--switch", "seek_order=close-first", "--switch", "keeps=all"]
"""What the walk relies on: it reads from the oldest message on once everything was acknowledged."""


@pytest.mark.parametrize(
    "switches",
    [
        [],
        ["--switch", "lookup=redirect", "--second", "0"],
        ["--random", "--seed", "1", *KEPT],
        ["--random", "--seed", "2", *KEPT],
    ],
    ids=["default", "two-ports", "random-1", "random-2"],
)
def test_the_official_client_walks_on_the_reference(switches):
    with broker(*switches) as port:
        walks(port, "partitioned")


def test_the_official_client_comes_back_after_a_cut():
    proxy = free_port()
    with broker("--switch", f"url=pulsar://127.0.0.1:{proxy}") as port:
        walks(port, "partitioned", str(proxy))


if __name__ == "__main__":
    place = sys.argv[1]
    through = None
    if len(sys.argv) > 3:
        host, _, number = place.removeprefix("pulsar://").partition(":")
        through = Proxy(int(sys.argv[3]), (host, int(number)))
        place = f"pulsar://127.0.0.1:{sys.argv[3]}"
    walk(place, through, len(sys.argv) > 2)
    print("walked")
