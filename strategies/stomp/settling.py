"""Deliveries settled one by one, then what is left made visible.

One connection, one to three subscriptions in equal or different modes, some messages each; acknowledgements in a drawn
order, some in a transaction with a SEND; then the connection ends and a collector takes what comes again, perhaps to
lose it in its turn; or another one takes it that holds what was sent later. General sessions reach this seldom; every
fault in what an ACK settles shows here.
Source: 003_30478fd2f19f0da0.txt L148-181; STOMP 1.2, ACK, NACK.
"""

from __future__ import annotations

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Line, Sub, Writer

HEAD = 5
_QUEUES = (PLACES[0], PLACES[2])
_EACH, _ALL = "client-individual", "client"
_MODES = ((_EACH,), (_ALL,), (_EACH, _ALL), (_ALL, _EACH), (_ALL, _ALL, _EACH), (_EACH, _EACH, _ALL))
_MESSAGES = (1, 2, 3, 4, 5, 6, 8, 11)


def settlements() -> SearchStrategy[Program]:
    """Up to eight acknowledgements."""
    return programs({"ack": 5, "nack": 2}, head=HEAD, most=8)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: modes, messages, subscriptions, ending, transaction. Ops: which subscription, which delivery, and whether
    in the transaction."""
    mode, messages, subscriptions, ending, inside = program.head
    writer = Writer(config, hurry=hurry)
    line, watcher = writer.line(0), writer.line(1) if inside & 1 else None
    if watcher is not None:
        writer.subscribe(watcher, PLACES[1], receipt=writer.receipt())
    each = _MESSAGES[messages % len(_MESSAGES)]
    subs = _opened(writer, line, _MODES[mode % len(_MODES)], 1 + subscriptions % 3, each)
    tx = "t" if inside & 1 else None
    if tx is not None:
        writer.say(line, "BEGIN", [("transaction", tx), writer.receipt()])
    for number, op in enumerate(program.ops):
        sub = subs[op.args[0] % len(subs)]
        free = sub.open_ones(each)
        if not free:
            continue
        verb = "NACK" if op.kind == "nack" and config.version != "1.0" else "ACK"
        within = tx if op.args[2] & 1 else None
        writer.acknowledge(line, sub, free[op.args[1] % len(free)], verb=verb, tx=within, receipt=writer.receipt())
        if watcher is not None and number % 2 == 0:
            writer.send(line, PLACES[1], headers=[("transaction", "t")])
    if tx is not None and ending & 12:
        writer.say(line, "ABORT" if ending & 12 == 12 else "COMMIT", [("transaction", tx), writer.receipt()])
    writer.wait()
    heir = _heir(writer, subs[0].place) if ending & 96 == 96 else None
    _end(writer, line, config, ending)
    if heir is not None:
        _inherits(writer, heir)
    _collected(writer, subs, ending)
    return writer.plan()


def _opened(writer: Writer, line: Line, modes: tuple[str, ...], count: int, each: int) -> list[Sub]:
    """Subscriptions at one queue or two, and `each` messages for every one of them, delivered."""
    names = [modes[n % len(modes)] if line.version != "1.0" else _ALL for n in range(count)]
    subs = [writer.subscribe(line, _QUEUES[n], name, receipt=writer.receipt()) for n, name in enumerate(names[:2])]
    for _ in range(each):
        for sub in subs:
            writer.send(line, sub.place, receipt=writer.receipt())
    if len(names) == 3:  # a fan-out: its deliveries are acknowledged as others are, and never come again
        subs.append(writer.subscribe(line, PLACES[3], names[2], receipt=writer.receipt()))
        for _ in range(each):
            writer.send(line, PLACES[3], receipt=writer.receipt())
    writer.wait()
    return subs


def _end(writer: Writer, line: Line, config: Config, ending: int) -> None:
    """Mostly without a word: a server that delivers again is then held to it."""
    if ending & 3 == 3 or (ending & 1 and not config.queue.redelivers):
        writer.disconnect(line)
    else:
        writer.hang(line, "reset" if ending & 16 else "close")


def _heir(writer: Writer, place: Ref) -> Line:
    """A connection that holds messages which were sent after those that the first one holds."""
    heir = writer.connect(3)
    writer.subscribe(heir, place, _ALL, receipt=writer.receipt())
    for _ in range(2):
        writer.send(heir, place, receipt=writer.receipt())
    writer.wait()
    return heir


def _inherits(writer: Writer, heir: Line) -> None:
    """What was sent earlier comes to it later, and must not be settled with what came before."""
    writer.wait()
    for nth in range(2):
        writer.acknowledge(heir, heir.subs[0], nth, receipt=writer.receipt())
        writer.wait()
    writer.hang(heir)


def _collected(writer: Writer, subs: list[Sub], ending: int) -> None:
    """What is left goes to another connection; perhaps that one takes it in a client mode and is lost as well."""
    places = [sub.place for sub in subs if sub.place in _QUEUES]
    if ending & 32:
        second = writer.connect(2)
        for place in places:
            writer.subscribe(second, place, "client", receipt=writer.receipt())
        writer.wait()
        writer.hang(second)
    collector = writer.connect(1)
    for place in places:
        writer.subscribe(collector, place, receipt=writer.receipt())
    writer.wait()
    for place in places:
        writer.send(collector, place, b"marker", receipt=writer.receipt())
