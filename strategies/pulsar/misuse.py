"""Conversations that end in one misuse, and in a look at whether the broker is still there for others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.pulsar.frames import Draft, draft
from specs.pulsar.states import Config
from strategies.common import Program, programs
from strategies.pulsar.malformed import MALFORMED, Misuse, Numbers, largest, ready
from strategies.pulsar.writer import Pen, Writer


def _first(w: Writer, n: Numbers) -> None:
    """A command before CONNECT."""
    line = w.bare()
    topic = Ref("topic", "t")
    commands = (
        draft("PRODUCER", topic=topic, producer_id=1, request_id=1),
        draft("SUBSCRIBE", topic=topic, subscription="s", subType=0, consumer_id=1, request_id=1),
        draft("FLOW", consumer_id=1, messagePermits=1), draft("CLOSE_PRODUCER", producer_id=1, request_id=1),
        draft("CLOSE_CONSUMER", consumer_id=1, request_id=1), draft("UNSUBSCRIBE", consumer_id=1, request_id=1),
        draft("SUCCESS", request_id=1), draft("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=1),
        draft("ACK", consumer_id=1, ack_type=0, message_id=[{"ledgerId": 1, "entryId": 1}]),
    )  # fmt: skip
    w.say(line, commands[n[0] % len(commands)])


def _first_lookup(w: Writer, n: Numbers) -> None:
    kind = ("LOOKUP", "PARTITIONED_METADATA")[n[0] % 2]
    w.say(w.bare(), draft(kind, topic=Ref("topic", "t"), request_id=1))


def _twice(w: Writer, n: Numbers) -> None:
    line = w.line()
    if n[0] % 2:
        w.pen(line, "t")
    w.settle()
    w.say(line, w.hello(version=n[1] % 22))


def _credentials(w: Writer, n: Numbers) -> None:
    if not w.config.bad_auth:
        w.ping(w.line())
        return
    method = w.config.auth.partition(":")[0]
    line = w.bare()
    hello = w.hello(auth_method_name=method, auth_data=w.config.bad_auth.encode())
    w.say(line, hello)
    w.wait()


def _backwards(w: Writer, n: Numbers) -> None:
    """What only a broker says."""
    line, pen = ready(w, n)
    w.settle()
    said = (
        draft("SUCCESS", request_id=1),
        draft("CONNECTED", server_version="x"),
        draft("PRODUCER_SUCCESS", request_id=0, producer_name="x"),
        draft("ERROR", request_id=0, error=0, message=""),
        draft("SEND_RECEIPT", producer_id=pen.id, sequence_id=0),
        draft("LOOKUP_RESPONSE", request_id=3),
        Draft(
            "MESSAGE",
            {"consumer_id": 0, "message_id": {"ledgerId": 1, "entryId": 1}},
            {"producer_name": "p", "sequence_id": 0, "publish_time": 1},
            b"x",
        ),
    )
    w.say(line, said[n[0] % len(said)])


def _no_producer(w: Writer, n: Numbers) -> None:
    line, _ = ready(w, n)
    w.settle()
    ghost = Pen(line.number, (77, 1 << 33)[n[0] % 2], "t")
    w.send(ghost)
    w.wait()


def _after_close(w: Writer, n: Numbers) -> None:
    _line, pen = ready(w, n)
    w.settle()
    w.close_pen(pen)
    if n[0] % 2:
        w.settle()
    w.send(pen, when="now")
    w.wait()


def _repeated(w: Writer, n: Numbers) -> None:
    """The same sequence id, or a lower one, again."""
    _, pen = ready(w, n)
    w.send(pen)
    w.settle()
    pen.seq = max(pen.seq - 1 - n[0] % 2, 0)
    w.send(pen)
    w.settle()
    w.send(pen)
    w.wait()


def _same_producer(w: Writer, n: Numbers) -> None:
    line, pen = ready(w, n)
    if n[0] % 2:
        w.settle()
    topic = ("t", "t-1")[n[1] % 2]
    w.say(line, draft("PRODUCER", topic=Ref("topic", topic), producer_id=pen.id, request_id=w.request(line)))
    w.wait()


def _same_consumer(w: Writer, n: Numbers) -> None:
    line, _ = ready(w, n)
    ear = line.ears[0]
    w.settle()
    w.say(line, draft("SUBSCRIBE", topic=Ref("topic", "t"), subscription="s2", subType=0, consumer_id=ear.id,
                      request_id=w.request(line)))  # fmt: skip
    w.wait()


def _same_name(w: Writer, n: Numbers) -> None:
    """A producer name that is taken, however often it is asked for, and then free."""
    line = w.line()
    first = w.pen(line, "t", 0, "p")
    other = w.line(1) if n[0] % 2 else line
    for choice in range(1, 2 + n[0] // 2 % 3):
        w.pen(other, "t", choice, "p")
        w.of(other.number).pens.pop()
        w.pongs()
    w.send(first)
    w.settle()
    if n[1] % 8:
        w.close_pen(first)
    else:  # with others that its connection has, each of which is free as well
        w.pen(line, "t2", 1, "q")
        w.ear(line, "t", "s")
        w.ear(line, "t2", "s")
        w.hang(0)
        w.wait(1500)
        line = w.line(0)
        other = w.line(1)
        w.pen(other, "t2", n[2] // 3 % 3, "q")
        w.ear(other, "t", "s")
        w.ear(other, "t2", "s")
    w.settle()
    again = w.pen(other, "t", n[2] % 3, "p")
    w.send(again)
    w.wait()


def _bad_topic(w: Writer, n: Numbers) -> None:
    line = w.line()
    topics = ("", "http://public/default/t", "memory://public/default/t")
    topic, request = topics[n[0] % 3], w.request(line)
    kinds = (
        draft("PRODUCER", topic=topic, producer_id=1, request_id=request),
        draft("LOOKUP", topic=topic, request_id=request),
        draft("SUBSCRIBE", topic=topic, subscription="s", subType=0, consumer_id=1, request_id=request),
        draft("PARTITIONED_METADATA", topic=topic, request_id=request),
    )
    w.say(line, kinds[n[1] % 4])
    w.ping(line)


def _denied(w: Writer, n: Numbers) -> None:
    line = w.line()
    if w.config.denied:
        w.pen(line, "denied:t")
        line.pens.pop()
        w.settle()
    w.send(w.pen(line, "t"))


def _permits(w: Writer, n: Numbers) -> None:
    """FLOW of nothing, or of very much."""
    line, _ = ready(w, n)
    w.settle()
    w.flow(line.ears[0], (0, 1 << 31, (1 << 32) - 1, (1 << 31) - 1)[n[0] % 4])


def _strangers(w: Writer, n: Numbers) -> None:
    """Things about consumers that are not there, twice each, and of one sort on a connection: no harm."""
    line, pen = ready(w, n)
    ghost = 4242
    for at in range(1 + n[1] % 6):
        w.settle()  # whoever is not served any more knows after what
        alone = w.another() if at else line
        for _ in range(2):
            said = (
                draft("FLOW", consumer_id=ghost, messagePermits=10),
                draft("REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=ghost),
                draft("ACK", consumer_id=ghost, ack_type=0, message_id=[{"ledgerId": 1, "entryId": 1}]),
                draft("CLOSE_CONSUMER", consumer_id=ghost, request_id=w.request(alone)),
                draft("CLOSE_PRODUCER", producer_id=ghost, request_id=w.request(alone)),
                draft("UNSUBSCRIBE", consumer_id=ghost, request_id=w.request(alone)),
            )
            w.say(alone, said[(n[0] + at) % len(said)])
    w.send(pen)
    w.wait()


def _odd_cumulative(w: Writer, n: Numbers) -> None:
    line, pen = ready(w, n)
    ear = line.ears[0]
    w.send(pen)
    w.send(pen)
    w.settle()
    if n[0] % 2:
        w.ack(ear, cumulative=True)
    elif ear.kind == 1:
        w.ack(ear, Ref("pushed", (ear.line, ear.id, -1)), cumulative=True)
    w.ping(line)
    w.settle()
    w.redeliver(ear)
    w.wait()


def _reused_request(w: Writer, n: Numbers) -> None:
    line = w.line()
    for topic in ("t", "t-1"):
        w.settle()
        w.say(line, draft("LOOKUP", topic=Ref("topic", topic), request_id=5))
    w.wait()


def _pending(w: Writer, n: Numbers) -> None:
    """PRODUCER twice, the first one not answered yet."""
    line = w.line()
    for _ in range(2):
        given = {"topic": Ref("topic", "t"), "producer_id": 3, "request_id": w.request(line)}
        w.say(line, draft("PRODUCER", **given), "now" if line.requests > 1 else "")
    w.wait()


def _nameless(w: Writer, n: Numbers) -> None:
    """An empty subscription name."""
    line = w.line()
    given = {"topic": Ref("topic", "t"), "subscription": "", "subType": n[0] % 3, "consumer_id": 3}
    w.say(line, draft("SUBSCRIBE", **given, request_id=w.request(line)))
    w.wait()


def _overflow(w: Writer, n: Numbers) -> None:
    """Permits that add up to more than 2^31."""
    line, _ = ready(w, n)
    for _ in range(3):
        w.flow(line.ears[0], (1 << 30) + n[0])
    w.wait()


def _counts(w: Writer, n: Numbers) -> None:
    """num_messages, or highest_sequence_id, that does not fit."""
    _, pen = ready(w, n)
    if n[0] % 2 and w.config.profile == "modern":
        pen.seq = 5
        w.send(pen, fields={"highest_sequence_id": 2})
    else:
        w.send(pen, messages=2, fields={"num_messages": 1 + n[1] % 2 * 8})
    w.send(pen)
    w.wait()


def _others(w: Writer, n: Numbers) -> None:
    """Messages are acknowledged by a consumer that they were not pushed to."""
    line = w.line()
    first = w.ear(line, "t", "s", 1)
    w.flow(first, 100)
    second = w.ear(line, "t", "s", 1, 1)
    pen = w.pen(line, "t")
    w.send(pen)
    w.send(pen)
    w.settle()
    w.ack(second, Ref("pushed", (first.line, first.id, n[0] % 2)))
    w.ping(line)
    w.send(pen)
    w.wait()


def _asking(w: Writer, n: Numbers) -> None:
    """Questions about consumers that are not there, SEEK to nowhere."""
    line, _ = ready(w, n)
    if w.config.profile != "modern":
        w.ping(line)
        return
    w.settle()
    ear = line.ears[0]
    if n[0] % 2:
        w.say(line, draft("CONSUMER_STATS", consumer_id=4242, request_id=w.request(line)))
    else:
        w.say(line, draft("SEEK", consumer_id=ear.id, request_id=w.request(line)))
    w.wait()


def _ended_topic(w: Writer, n: Numbers) -> None:
    """A topic that takes no more messages, and is drained."""
    w.line()
    if w.config.terminated and w.config.profile == "modern":
        for at in range(1 + n[1] % 3):
            # such a topic may be the same one in all conversations: those before it had subscriptions of their own
            mine = Ref("name", f"s{at}")
            w.flow(w.ear(w.line(at), "terminated:t", f"s{at}", n[0] % 3, subscription=mine), 10)
    w.wait()


def _circle(w: Writer, n: Numbers) -> None:
    """A lookup that follows every redirect: at some time it must be told where to go."""
    line = w.line()
    for _ in range(23):
        w.lookup(line, "t", authoritative=True)
    w.wait()


MISUSES: Mapping[str, Misuse] = {
    **MALFORMED,
    "circle": _circle, "pending": _pending, "nameless": _nameless, "overflow": _overflow, "counts": _counts,
    "others": _others, "asking": _asking, "ended": _ended_topic, "first": _first, "first-lookup": _first_lookup,
    "twice": _twice, "credentials": _credentials, "backwards": _backwards, "no-producer": _no_producer,
    "after-close": _after_close, "repeated": _repeated, "same-producer": _same_producer,
    "same-consumer": _same_consumer, "same-name": _same_name, "bad-topic": _bad_topic, "denied": _denied,
    "permits": _permits, "strangers": _strangers, "odd-cumulative": _odd_cumulative, "reused-request": _reused_request,
}  # fmt: skip


def misuses() -> SearchStrategy[Program]:
    """Programs of one misuse."""
    return programs({"misuse": 1}, head=6, most=1)


def big(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """One large message."""
    w = Writer(config, hurry=hurry, slots=8)
    largest(w, (*program.head[1:], 0))
    return w.plan()


def interpreting(*names: str) -> Callable[..., Plan]:
    """The interpretation limited to some misuses."""
    unknown = [name for name in names if name not in MISUSES]
    if unknown:
        raise LookupError(f"no misuse is called {unknown[0]!r}")

    def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
        return play(program, config, names, hurry=hurry)

    return interpret


def play(program: Program, config: Config, names: Iterable[str] = (), *, hurry: bool = False) -> Plan:
    """A bystander, the misuse, and what the bystander and a newcomer then can do."""
    chosen = list(names) or list(MISUSES)
    head = program.head
    w = Writer(config, hurry=hurry, slots=8)
    bystander = w.pen(w.line(7), "bystander") if head[5] % 2 else None
    MISUSES[chosen[head[0] % len(chosen)]](w, (*head[1:], 0))
    w.settle()
    if bystander is not None:
        w.send(bystander)
    newcomer = w.another()
    w.ping(newcomer)
    w.wait()
    return w.plan()
