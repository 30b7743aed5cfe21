"""Things that are open side by side, crossed by what must leave them alone, and made visible at the end.

On two connections stand transactions, subscriptions, deliveries that are not acknowledged, and messages that wait where
nobody listens. Between them something ends that is none of theirs: another transaction, another subscription, another
connection, perhaps of the same name. All names of a plan are the same few texts, whatever they name, so that a server
shows it which keeps things of two kinds, of two connections or of two letter cases in one table. At the end every open
thing does what it was opened for, and a collector takes what is left.
Source: 003_30478fd2f19f0da0.txt L129-181 (ids, acknowledgement), L182-193 (ABORT); STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE,
ACK, BEGIN, COMMIT, DISCONNECT.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.sessions import version_of
from strategies.stomp.texts import root, twisted
from strategies.stomp.writer import PLACES, Line, Sub, Writer

HEAD = 4
KEPT = Ref("queue", "kept")
"""Where nobody listens until the end."""
_QUEUES = (PLACES[0], PLACES[2])
_HEARD = (PLACES[0], PLACES[1], PLACES[2])
"""Where subscriptions of the plan are: two queues and a topic between them."""
_MODES = ("client-individual", "auto", "client", "client-individual")
_WORKERS = 2
VISITOR, COLLECTOR = 5, 9
"""Slots of connections that come to go again, and of the one that takes what is left."""
_MOST_SUBS, _MOST_TXS, _MOST_HELD = 5, 4, 12


def crossings() -> SearchStrategy[Program]:
    """Up to ten things opened, used and ended beside what stands there from the beginning."""
    kinds = {
        "tx": 3, "sub": 3, "keep": 1, "send": 2, "settle": 3, "end": 4, "leave": 4, "again": 4, "visit": 4,
        "refused": 2,
    }  # fmt: skip
    return programs(kinds, head=HEAD, most=10)


@dataclass
class _Scene:
    """What stands on the connections: the names that everything bears, the transactions that hold SENDs or ACKs, and
    which names have been asked for as receipts."""

    writer: Writer
    names: tuple[str, ...]
    asked: set[tuple[int, str]] = field(default_factory=set)

    def line(self, op: Op) -> Line:
        """One of the two connections on which things stay open."""
        return self.writer.line(op.args[0] % _WORKERS)

    def other(self, line: Line) -> Line:
        """The other one."""
        return self.writer.line(1 if line is self.writer.lines.get(0) else 0)

    def name(self, which: int, taken: Container[str]) -> str:
        """One of the names of the plan that is not `taken`, or else a fresh one."""
        wheel = self.names[which % len(self.names) :] + self.names
        return next((name for name in wheel if name not in taken), f"n{self.writer.fresh()}")

    def ask(self, line: Line, flags: int = 0) -> tuple[str, str]:
        """A receipt of its own, or one with the name of something else."""
        for name in self.names if flags & 64 else ():
            if (line.number, name) not in self.asked:
                self.asked.add((line.number, name))
                return ("receipt", name)
        return self.writer.receipt()


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: version, names, what stands there from the beginning, what is done at the end."""
    version, names, stage, ending = program.head
    writer = Writer(config, version=version_of(version, config), hurry=hurry)
    scene = _Scene(writer, _names(names, writer.version))
    _set(scene, stage)
    for op in program.ops:
        _OPS[op.kind](scene, op)
    _shown(scene, ending)
    _collected(scene, ending)
    return writer.plan()


def _names(number: int, version: str) -> tuple[str, ...]:
    """A name, the same in other letter case, and one that is like them in another way."""
    first = root(number >> 3, version) if number & 1 else ("a", "t", "0", "Ab")[number >> 1 & 3]
    others = twisted(first, 1, version), twisted(first, number >> 3, version)
    return tuple(dict.fromkeys((first, *others)))


# -- what stands side by side ------------------------------------------------------------------------------------------


def _set(scene: _Scene, stage: int) -> None:
    """What stands there from the beginning: each bit is one thing. A subscription that holds messages; a transaction
    that acknowledges one of them, and one that sends; a subscription of a like name, at the same place or at the topic;
    messages that wait; the same names on the other connection."""
    writer = scene.writer
    line, place = writer.line(0), _HEARD[stage >> 7]
    if stage & 1:
        _open(scene, line, _QUEUES[0], scene.names[0], stage >> 6, 3)
    if stage & 8:
        _open(scene, line, place, scene.names[1], 1 + (stage >> 6), stage >> 6)
    writer.wait()
    if stage & 2:
        _opened(scene, line, scene.names[0], 0, 3 if stage & 1 else 0, 0)
    if stage & 4:
        _opened(scene, line, scene.names[1], stage >> 6, 1, 0)
    if stage & 16:
        writer.send(line, KEPT, receipt=writer.receipt())
        writer.send(line, KEPT, receipt=writer.receipt())
    if stage & 32:
        other = scene.other(line)
        _open(scene, other, _HEARD[1 + (stage >> 7)], scene.names[0], stage >> 6, 1)
        _opened(scene, other, scene.names[0], stage >> 6, 0, 0)
    writer.wait()


def _subscribe(scene: _Scene, op: Op) -> None:
    """A subscription; where it has to acknowledge, messages that it holds."""
    line, writer = scene.line(op), scene.writer
    if len(line.subs) >= _MOST_SUBS:
        return
    _, where, name, mode, flags = op.args
    _open(scene, line, _HEARD[where % 3], scene.name(name, {sub.id for sub in line.subs}), mode, flags)
    writer.wait()


def _open(scene: _Scene, line: Line, place: Ref, name: str, mode: int, flags: int) -> Sub:
    writer = scene.writer
    how = _MODES[mode % len(_MODES)]
    how = "client" if line.version == "1.0" and how != "auto" else how
    sub = writer.subscribe(line, place, how, name, receipt=scene.ask(line, flags))
    for _ in range(1 + (flags & 1) + (flags >> 1 & 1) if how != "auto" else flags & 1):
        if writer.sent.get(place, 0) < _MOST_HELD:
            writer.send(line if flags & 4 else scene.other(line), place, receipt=writer.receipt())
    return sub


def _begin(scene: _Scene, op: Op) -> None:
    """A transaction that holds SENDs, or the acknowledgement of a delivery."""
    line = scene.line(op)
    if len(line.txs) >= _MOST_TXS:
        return
    _, where, name, what, flags = op.args
    _opened(scene, line, scene.name(name, line.txs), where, what, flags)


def _opened(scene: _Scene, line: Line, tx: str, where: int, what: int, flags: int) -> None:
    writer = scene.writer
    writer.say(line, "BEGIN", [("transaction", tx), scene.ask(line, flags)])
    line.txs.append(tx)
    holding = _holding(line)
    if what & 3 == 3 and holding:
        _acknowledged(scene, line, holding[where % len(holding)], what >> 2, tx, flags)
        return
    for n in range(1 + (what & 1)):
        place = (*_HEARD, KEPT)[(where + n) % 4]
        writer.send(line, place, headers=[("transaction", tx)])


def _holding(line: Line) -> list[Sub]:
    return [sub for sub in line.subs if sub.mode != "auto" and not sub.again]


def _acknowledged(scene: _Scene, line: Line, sub: Sub, which: int, tx: str | None, flags: int) -> None:
    writer = scene.writer
    free = sub.open_ones(writer.sent.get(sub.place, 0))[:3]
    if free:
        verb = "NACK" if flags & 48 == 48 and line.version != "1.0" else "ACK"
        nth = free[which % len(free)]
        writer.acknowledge(line, sub, nth, verb=verb, tx=tx, receipt=scene.ask(line, flags))


def _keep(scene: _Scene, op: Op) -> None:
    """Messages for which nobody is there."""
    line = scene.line(op)
    for _ in range(1 + op.args[1] % 3):
        scene.writer.send(line, KEPT, receipt=scene.ask(line, op.args[4]))


# -- what crosses them -------------------------------------------------------------------------------------------------


def _send(scene: _Scene, op: Op) -> None:
    """A message outside of all transactions."""
    line = scene.line(op)
    scene.writer.send(line, (*_HEARD, KEPT)[op.args[1] % 4], receipt=scene.ask(line, op.args[4]))


def _settle(scene: _Scene, op: Op) -> None:
    """One delivery of many is acknowledged."""
    line = scene.line(op)
    holding = _holding(line)
    if holding:
        _acknowledged(scene, line, holding[op.args[1] % len(holding)], op.args[2], None, op.args[4])


def _end(scene: _Scene, op: Op) -> None:
    """One transaction of several ends."""
    line = scene.line(op)
    if line.txs:
        _close(scene, line, line.txs[op.args[1] % len(line.txs)], op.args[3] & 1 == 0, op.args[4])


def _close(scene: _Scene, line: Line, tx: str, aborts: bool, flags: int) -> None:
    line.txs.remove(tx)
    scene.writer.say(line, "ABORT" if aborts else "COMMIT", [("transaction", tx), scene.ask(line, flags)])


def _leave(scene: _Scene, op: Op) -> None:
    """One subscription of several ends."""
    line = scene.line(op)
    if line.subs:
        sub = line.subs[op.args[1] % len(line.subs)]
        scene.writer.unsubscribe(line, sub, receipt=scene.ask(line, op.args[4]))


def _again(scene: _Scene, op: Op) -> None:
    """A name ends and is given again, to something else of its kind."""
    line, writer = scene.line(op), scene.writer
    _, where, name, what, flags = op.args
    if what & 1 and line.subs:
        sub = line.subs[name % len(line.subs)]
        writer.unsubscribe(line, sub, receipt=scene.ask(line, flags))
        writer.wait()
        _open(scene, line, _HEARD[where % 3], sub.id, what >> 1, flags)
        writer.wait()
        return
    tx = line.txs[name % len(line.txs)] if line.txs else scene.name(name, line.txs)
    if tx not in line.txs:
        _opened(scene, line, tx, where, what >> 1, flags)
    _close(scene, line, tx, what & 4 == 4, flags)
    writer.say(line, "BEGIN", [("transaction", tx), scene.ask(line)])
    line.txs.append(tx)
    holding = _holding(line)
    if what & 8 and holding:
        _acknowledged(scene, line, holding[where % len(holding)], what >> 4, tx, flags)


def _visit(scene: _Scene, op: Op) -> None:
    """Another connection opens what bears the same names, and ends: each by itself, or with the connection."""
    line, writer = scene.line(op), scene.writer
    _, where, name, what, flags = op.args
    visitor = writer.connect(VISITOR)
    mine = [sub.id for sub in line.subs][:2] or [scene.name(name, ())]
    if what & 3 != 1:
        for nth, identity in enumerate(mine):
            _visited(scene, visitor, identity, _HEARD[(where + nth) % 3], what >> 2)
    if what & 3 != 2:
        for tx in line.txs[:2] or [scene.name(name, ())]:
            writer.say(visitor, "BEGIN", [("transaction", tx), scene.ask(visitor, flags)])
            if flags & 1:
                writer.send(visitor, (*_HEARD, KEPT)[where % 4], headers=[("transaction", tx)])
            visitor.txs.append(tx)
    if flags & 2:
        for tx in [*visitor.txs]:
            _close(scene, visitor, tx, flags & 4 == 4, 0)
        for sub in [*visitor.subs]:
            writer.unsubscribe(visitor, sub, receipt=writer.receipt())
    writer.wait()
    _goes(scene, visitor, flags >> 3)


def _visited(scene: _Scene, visitor: Line, identity: str, place: Ref, mode: int) -> None:
    """A subscription of a visitor: to the topic, or to a queue of its own, since it would take what others wait for."""
    place = place if place.name == "topic" else Ref("queue", f"visited{visitor.number}")
    how = _MODES[mode % 4] if visitor.version != "1.0" else "client"
    sub = scene.writer.subscribe(visitor, place, how, identity, receipt=scene.writer.receipt())
    scene.writer.send(visitor, place, receipt=scene.writer.receipt())
    scene.writer.wait()
    if mode & 4 and how != "auto":
        scene.writer.acknowledge(visitor, sub, 0, receipt=scene.writer.receipt())


def _goes(scene: _Scene, line: Line, how: int) -> None:
    """A connection ends in one of four ways."""
    writer = scene.writer
    if how & 3 == 0:
        writer.disconnect(line)
    elif how & 3 == 1:
        _wrong(scene, line, how >> 2)
    else:
        writer.hang(line, ("close", "reset")[how & 1])
    writer.wait()


_WRONG: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    ("SEND", ()), ("BEGIN", ()), ("COMMIT", (("transaction", "none"),)), ("UNSUBSCRIBE", (("id", "none"),)),
    ("SUBSCRIBE", (("id", "none"),)), ("ABORT", (("transaction", "none"),)), ("SEND", (("nothing", "x"),)),
)  # fmt: skip


def _wrong(scene: _Scene, line: Line, which: int) -> None:
    """Say what must be refused; nobody knows whether this connection lives on."""
    command, headers = _WRONG[which % len(_WRONG)]
    scene.writer.say(line, command, [*headers, scene.writer.receipt()])
    scene.writer.wait()
    scene.writer.hang(line)


def _refused(scene: _Scene, op: Op) -> None:
    """A client that did nothing else is refused."""
    _wrong(scene, scene.writer.connect(VISITOR), op.args[1])


_OPS: Mapping[str, Callable[[_Scene, Op], None]] = {
    "tx": _begin, "sub": _subscribe, "keep": _keep, "send": _send, "settle": _settle, "end": _end, "leave": _leave,
    "again": _again, "visit": _visit, "refused": _refused,
}  # fmt: skip


# -- made visible ------------------------------------------------------------------------------------------------------


def _shown(scene: _Scene, ending: int) -> None:
    """Subscriptions get a message, deliveries are acknowledged, transactions are committed, aborted or left open."""
    writer, workers = scene.writer, [line for line in scene.writer.open_lines() if line.number % 100 < _WORKERS]
    writer.wait()
    for place in _HEARD:
        if any(sub.place == place for line in workers for sub in line.subs):
            writer.send(workers[0], place, b"marker", receipt=writer.receipt())
    for line in workers if ending & 3 != 2 else ():
        for nth, tx in enumerate([*line.txs]):
            _close(scene, line, tx, ending & 3 == 3 and nth % 2 == ending >> 7, 0)
    writer.wait()
    for line in workers if ending & 4 else ():
        for sub in _holding(line):
            _acknowledged(scene, line, sub, ending >> 3, None, 0)
    writer.wait()


def _collected(scene: _Scene, ending: int) -> None:
    """The connections end, mostly without a word, and a collector takes what is left, and what was kept."""
    writer = scene.writer
    for line in [line for line in writer.open_lines() if line.number % 100 < _WORKERS]:
        writer.disconnect(line) if ending & 48 == 48 else writer.hang(line)
    writer.wait()
    collector = writer.connect(COLLECTOR)
    for place in (*_QUEUES, KEPT):
        if writer.sent.get(place):
            mode = "client" if ending & 64 and place == KEPT else "auto"
            sub = writer.subscribe(collector, place, mode, receipt=writer.receipt())
            writer.wait()
            for nth in range(writer.sent[place] if mode == "client" else 0):
                writer.acknowledge(collector, sub, nth, receipt=writer.receipt())
    writer.wait()
    for place in (*_QUEUES, KEPT):
        if writer.sent.get(place):
            writer.send(collector, place, b"marker", receipt=writer.receipt())
