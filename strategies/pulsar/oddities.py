"""Brokers that are odd from the first frame on: old, small, silent, slow, or not to be understood."""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref, Say, SendBytes, Wait
from specs.pulsar.frames import NOBODY, Draft
from specs.pulsar.states import Config
from strategies.common import Program, programs
from strategies.pulsar.desk import Desk

CONNECTIONS = 6
"""Connections of a client that makes another one each time, and gets nowhere."""
SENDS = 258
"""Messages after which a count of 8 bits has begun anew."""


def oddities() -> SearchStrategy[Program]:
    """Programs of one oddity."""
    return programs({"odd": 1}, head=5, most=1)


def oddly(  # noqa: PLR0915 - one oddity after the other
    program: Program, config: Config, *, hurry: bool = False
) -> Plan:
    """A broker of another version or size, or one that says what is no frame; the client comes back."""
    head = program.head
    d = Desk(config, head, hurry=hurry)
    which = head[1] % 8
    if which == 0:
        known, d.version = d.version, (0, 1, 3, 4, 5, 6)[head[2] % 6]
        pen = d.producer("t")
        d.send(pen)
        d.receipt()
        d.version = known
        _comes_back(d, pen, 5)
    elif which == 1:
        d.version = (5, 11, 3, 8, 1, 0)[head[2] % 6]
        ear = d.consumer("t")
        d.push(0, check="")
        d.push(0, check="")
        first, second = d.receive(ear), d.receive(ear)
        if head[3] % 2:  # a broker that is too old to know of it is not asked
            d.redeliver(ear)
            d.wait()
        d.ack(ear, first, second)
    elif which == 2 and config.profile == "modern":
        d.fields = {"max_message_size": 1000}
        pen = d.producer("t")
        for n in range(2 + head[2] % 3):
            d.send(pen, b"x" * (100 + 100 * n))
            d.receipt()
        if head[3] % 2:
            d.send(pen, b"x" * 1500)
            d.receipt()
    elif which == 4 and head[3] % 2:
        d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
        seen = Ref("after", (0, "CONNECT"))
        if head[2] % 3 == 2:
            d.steps.append(Say(0, Draft("PING", Ref("connected", 0))))
        elif head[2] % 3 == 1:
            d.say("ERROR", request_id=NOBODY, error=3, message=seen)
        elif config.profile == "modern":
            d.say("AUTH_CHALLENGE", server_version=seen, challenge={"auth_method_name": "x", "auth_data": b"y"})
        else:
            d.say("ERROR", request_id=NOBODY, error=0, message=seen)
        d.wait(100)
        return d.plan()
    elif which == 5 and head[3] % 2 and config.profile == "modern":
        d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
        d.ways()
        d.created(producer_ready=False)
        d.wait(50)
        d.created(**({"last_sequence_id": 7} if head[3] % 4 == 3 else {}))
        d.pens.append(("p", "t"))
        d.send("p")
        d.receipt()
    elif which == 6 or (which == 3 and head[3] % 2):
        _changes(d, head[2], head[3])
    elif which == 3:
        d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
        d.wait(100)
        d.ways()
        d.created()
    else:
        pen = d.producer("t")
        octets = (
            bytes.fromhex("00000000"), (6_000_000).to_bytes(4, "big") + bytes(64), b"\xff\xff\xff\xff" + bytes(64),
            bytes.fromhex("00000009000000ff0812920100"), bytes.fromhex("0000000b00000007ffffffffffffff"),
            bytes.fromhex("0000000600000002080d"),
        )  # fmt: skip
        d.steps.append(SendBytes(d.at, octets[head[2] % len(octets)]))
        d.at = d.home = d.next()
        d.welcome()
        d.again()
        d.send(pen)
        d.receipt()
    d.wait()
    d.do("disconnect", {})
    d.success("CLOSE_PRODUCER")
    d.success("CLOSE_CONSUMER")
    d.wait()
    return d.plan()


def _changes(d: Desk, which: int, how: int) -> None:
    """A broker that is of another version, or takes less, when the client comes back to it."""
    known = d.version
    before, after = ((known, 5), (5, known), (known, 3), (0, known))[which % 4]
    small = d.config.profile == "modern" and how % 3 == 2
    d.version = known if small else before
    pen = d.producer("t")
    d.send(pen)
    d.receipt()
    d.version, d.fields = (known, {"max_message_size": 1000}) if small else (after, {})
    _comes_back(d, pen, *((1500, 5) if small else (5, 6)))


def _comes_back(d: Desk, pen: str, *sizes: int) -> None:
    """The connection is cut; what is sent then, of these sizes, goes to the broker as it is now."""
    d.drop()
    for size in sizes:
        d.send(pen, b"x" * size)
        d.again()
        d.receipt()


def many_sends(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """More messages of one producer than an octet can count."""
    d = Desk(config, program.head, hurry=hurry)
    pen = d.producer("t")
    for n in range(SENDS):
        d.send(pen, b"%d" % n)
        d.receipt()
    d.wait()
    return d.plan()


def large(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A message of nearly 5 MiB, each way."""
    d = Desk(config, program.head, hurry=hurry)
    pen = d.producer("t")
    d.send(pen, b"\x0e\x01" * 2_500_000)
    d.receipt()
    d.wait()
    return d.plan()


def muted(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A broker that falls silent, one that speaks but does not answer PING, or one that waits long for PONG."""
    d = Desk(config, program.head, hurry=hurry)
    d.producer("t")
    if program.head[1] % 8 == 6:
        d.say("PING")
        d.steps.append(Wait(9_900))
    elif config.keepalive_ms and program.head[1] % 2:
        d.wait(config.keepalive_ms + config.latest_ms)
    elif config.keepalive_ms:
        for _ in range(5):
            d.steps.append(Wait(config.keepalive_ms * 6 // 10))  # `Desk.wait` would answer PING
            d.say("SUCCESS", request_id=987654)
    d.wait()
    return d.plan()


def patient(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A broker that answers as often as it is asked, on one connection after the other."""
    d = Desk(config, program.head, hurry=hurry)
    if program.head[1] % 2:
        d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
    else:
        d.do(
            "subscribe",
            {
                "topic": Ref("topic", "t"),
                "subscription": "s",
                "type": "Exclusive",
                "name": "",
                "permits": 5,
                "_key": "c",
            },
        )
    for conn in range(CONNECTIONS):
        d.at = d.home = conn
        d.ways()
        d.created()
        d.success()
    d.wait()
    return d.plan()


def swallowing(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A PRODUCER that is not answered: whoever asks again closes first."""
    d = Desk(config, program.head, hurry=hurry)
    d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
    d.ways()
    d.wait(2500)
    for _ in range(2):
        d.lookup()
        d.success("CLOSE_PRODUCER")
    d.created(2)
    d.wait()
    return d.plan()


def out_of_order(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Two partitions: their lookups and creations are open together and answered in the other order."""
    d = Desk(config, program.head, hurry=hurry)
    d.do("producer", {"topic": Ref("topic", "t"), "_key": "p"})
    d.welcome()
    d.metadata(2 + program.head[1] % 3)
    d.wait()
    d.lookup(5)
    d.created(5, producer_ready=None)
    d.send("p", key="a")
    d.receipt()
    d.wait()
    return d.plan()
