"""The same thing many times over, destinations that resemble each other, and clients that fall silent in mid-frame.

Faults of counting (the eleventh message, the fourth transaction, an id used twice) need a history that single ops build
seldom. Every op here is legal and shows its result; how often comes from a table of sizes at which things fill up.
Source: 003_30478fd2f19f0da0.txt L88-98 (destinations), L129-135 and L182-193 (ids), L142-170 (acknowledgement).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from specs.plan import Ref
from strategies.common import Op
from strategies.stomp.texts import LONG_BODIES, twisted
from strategies.stomp.writer import JOIN, PLACES, Line, Writer

_FEW = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 16, 17, 20)
COUNTS = (*_FEW, *_FEW, *_FEW, 21, 25, 26, 31, 32, 33, 34, 40, 50, 51, 63, 64, 65, 99, 100, 101)
"""How often: at, below and above the sizes of windows, tables and batches."""
MOST_OPEN = 20
"""Subscriptions or transactions that are open at once; connections made one after the other."""
UNHEARD = 16
"""Frames sent without asking for a RECEIPT: a slow server shows in between that it is at work."""
ASIDE = 5
"""Slot of connections that take part in nothing else."""
LISTENER = 6
"""Slot of a connection that only listens."""


def _watch(writer: Writer, place: Ref) -> None:
    """Somebody takes what is sent to `place` without being asked to acknowledge it, by an id that nobody else has: what
    is missing then is not because of that."""
    if not any(sub.place == place and sub.mode == "auto" for line in writer.open_lines() for sub in line.subs):
        listener = writer.line(LISTENER)
        writer.subscribe(listener, place, identity=f"w{len(listener.subs)}", receipt=writer.receipt())


def _ask(writer: Writer, flags: int, nth: int, times: int) -> tuple[str, str] | None:
    """A RECEIPT for each of `times` frames, or for the last and for a few before it alone."""
    return writer.receipt() if nth == times or nth % UNHEARD == 0 or not flags & 8 else None


def burst(writer: Writer, op: Op) -> None:
    """Many SENDs, in one segment where the plan's head allows it, perhaps in a transaction; the "last" words of their
    connection, if the op is called so."""
    slot, where, often, form, flags = op.args
    line, place, times = writer.line(slot % writer.slots), PLACES[where % writer.places], COUNTS[often % len(COUNTS)]
    _watch(writer, place)
    inside = [("transaction", line.txs[form % len(line.txs)])] if form & 1 and line.txs else []
    body = LONG_BODIES[form % 9] if flags & 6 == 6 else b"x"
    ends = op.kind == "last"
    times = min(times, MOST_OPEN) if ends else times
    for n in range(1, times + 1):
        asked = _ask(writer, flags, n, 0 if ends else times)
        writer.send(line, place, body, inside, receipt=asked, style=0 if flags & 3 == 1 else JOIN)
    if ends:
        writer.disconnect(line, receipt=not flags & 64)


def again(writer: Writer, op: Op) -> None:
    """One of `_AGAIN` of this kind of op, many times."""
    slot, where, often, form, flags = op.args
    line, place = writer.line(slot % writer.slots), PLACES[where % writer.places]
    _watch(writer, place)
    forms = _AGAIN[op.kind]
    forms[form % len(forms)](writer, line, place, COUNTS[often % len(COUNTS)], flags)


def _subscriptions(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Subscribed and unsubscribed, with one id or with many, at one destination or at two in turns; the last one stays
    and gets a message, and what is sent to the other destination is not for it."""
    other = PLACES[(PLACES.index(place) + 1) % writer.places] if flags & 64 else place
    for n in range(1, times + 1):
        where = (place, other)[(times - n) % 2]
        identity = "same" if flags & 5 else f"c{writer.fresh()}"
        sub = writer.subscribe(line, where, _mode(flags >> 4), identity, receipt=_ask(writer, flags, n, times))
        if flags & 2 or n == times:
            writer.send(line, where, receipt=writer.receipt())
        if n < times:
            writer.unsubscribe(line, sub, receipt=writer.receipt())
            writer.wait()
    if other != place:
        writer.send(line, other, receipt=writer.receipt())


def _ids(writer: Writer, line: Line, count: int, flags: int, taken: Sequence[str]) -> list[str]:
    """Ids of their own, or such as are easily confused with one another."""
    base = (f"Ab{writer.fresh()}", f"{writer.fresh()}")[flags >> 3 & 1]
    found = [base] if base not in taken else []
    for n in range(count - 1):
        other = f"c{writer.fresh()}" if flags & 6 == 6 else twisted(base, n, line.version)
        found.append(other if other not in (*taken, *found) else f"c{writer.fresh()}")
    return found[: max(0, count)]


def _transactions(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Begun and ended, with one id or with many; committed, aborted, or each in turn; the last one committed."""
    if "same" in line.txs:
        return
    for n in range(1, times + 1):
        tx = "same" if flags & 5 else f"c{writer.fresh()}"
        turn = ("COMMIT", "ABORT")[n % 2]
        verb = ("COMMIT", "ABORT", turn, turn)[flags >> 4 & 3] if n < times else "COMMIT"
        writer.say(line, "BEGIN", [("transaction", tx)])
        if flags & 10 or n == times:
            writer.send(line, place, headers=[("transaction", tx)])
        asked = _ask(writer, flags, 4 * n, 4 * times)
        writer.say(line, verb, [("transaction", tx), *([asked] if asked else [])])


def _connections(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Clients that come and go, with the same ids each time; the last one gets a message."""
    times = min(times, MOST_OPEN)
    for n in range(1, times + 1):
        other = writer.connect(ASIDE)
        if flags & 1 or n == times:
            writer.subscribe(other, place, _mode(flags >> 4), "same", receipt=writer.receipt())
        if flags & 2 or n == times:
            writer.say(other, "BEGIN", [("transaction", "same")])
            writer.send(other, place, headers=[("transaction", "same")])
        if n == times:
            writer.say(other, "COMMIT", [("transaction", "same"), writer.receipt()])
        elif flags & 4:
            writer.hang(other, "reset" if flags & 64 else "close")
        else:
            writer.disconnect(other)


def _open_at_once(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Many subscriptions side by side, and messages for them."""
    taken = [sub.id for sub in line.subs]
    for n, identity in enumerate(_ids(writer, line, min(times, MOST_OPEN) - len(taken), flags, taken)):
        where = PLACES[n % writer.places] if flags & 1 else place
        writer.subscribe(line, where, _mode(flags >> 4), identity, receipt=writer.receipt())
    for where in PLACES[: writer.places] if flags & 1 else (place,):
        writer.send(line, where, receipt=writer.receipt())


def _one_transaction(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Much work in one transaction, for one destination or for several."""
    tx = f"c{writer.fresh()}"
    writer.say(line, "BEGIN", [("transaction", tx)])
    for n in range(min(times, 2 * UNHEARD + 2)):
        where = PLACES[n % writer.places] if flags & 1 else place
        writer.send(line, where, headers=[("transaction", tx)])
    writer.say(line, "ABORT" if flags & 48 == 48 else "COMMIT", [("transaction", tx), writer.receipt()])


def _side_by_side(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Transactions open at the same time, ended in the order of their BEGINs or the other way round."""
    opened = _ids(writer, line, min(times, MOST_OPEN), flags, line.txs)
    for tx in opened:
        writer.say(line, "BEGIN", [("transaction", tx), writer.receipt()])
    for tx in opened:
        writer.send(line, place, headers=[("transaction", tx)])
    for n, tx in enumerate(opened[::-1] if flags & 1 else opened):
        writer.say(line, "ABORT" if flags >> n % 4 & 16 else "COMMIT", [("transaction", tx), writer.receipt()])


def _mirrored(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """The same ids on two connections: a subscription or a transaction that ends on one goes on on the other."""
    other = writer.connect(ASIDE)
    if flags & 1:
        where = PLACES[(PLACES.index(place) + 1) % writer.places] if flags & 2 else place
        identity = writer.identity("", flags >> 3, {sub.id for sub in line.subs})
        writer.subscribe(line, place, _mode(flags >> 4), identity, receipt=writer.receipt())
        twin = writer.subscribe(other, where, "auto", identity, receipt=writer.receipt())
        writer.send(line, where, receipt=writer.receipt())
        writer.unsubscribe(other, twin, receipt=writer.receipt())
        writer.send(line, place, receipt=writer.receipt())
        return
    tx = writer.identity("t", flags >> 3, line.txs)
    for each in (line, other):
        writer.say(each, "BEGIN", [("transaction", tx), writer.receipt()])
        for _ in range(1 + times % 3):
            writer.send(each, place, headers=[("transaction", tx)])
    how = flags >> 1 & 3
    if how == 3:
        writer.hang(other)
    else:
        writer.say(other, ("ABORT", "COMMIT", "ABORT")[how], [("transaction", tx), writer.receipt()])
    writer.say(line, "ABORT" if how == 1 and flags & 8 else "COMMIT", [("transaction", tx), writer.receipt()])


def _acknowledgements(writer: Writer, line: Line, place: Ref, times: int, flags: int) -> None:
    """Deliveries on a connection of their own, all or some acknowledged before it ends; another one collects."""
    place = PLACES[0] if place.name == "topic" else place
    other = writer.connect(ASIDE)
    mode = "client-individual" if flags & 1 and other.version != "1.0" else "client"
    sub = writer.subscribe(other, place, mode, receipt=writer.receipt())
    for n in range(1, times + 1):
        writer.send(line, place, receipt=_ask(writer, flags, n, times))
    writer.wait()
    step = 1 + (flags >> 4 & 3)
    for nth in range(0, times, step):
        writer.acknowledge(other, sub, nth, receipt=_ask(writer, flags, nth // step + 1, -(-times // step)))
    writer.wait()
    writer.disconnect(other) if flags & 2 else writer.hang(other)
    collector = writer.connect(ASIDE)
    writer.subscribe(collector, place, receipt=writer.receipt())


_Again = Callable[[Writer, Line, Ref, int, int], None]
_TXS: Sequence[_Again] = (_transactions, _one_transaction, _side_by_side, _mirrored)
_SUBS: Sequence[_Again] = (_subscriptions, _open_at_once, _mirrored, _connections)
_AGAIN: Mapping[str, Sequence[_Again]] = {
    "again": (*_TXS[:3], _acknowledgements, *_SUBS), "txs": _TXS, "subs": _SUBS,
}  # fmt: skip


def _mode(number: int) -> str:
    return ("auto", "auto", "client", "auto")[number % 4]


# -- destinations ------------------------------------------------------------------------------------------------------

_KEYS = ("A", "ab", "aa", "a1", "a01", "AB", "Ab", "aA", "b")
_ODD = ("{}x", "{}X", "{} b", "{}é", "{}/", "{} ", "{}:b", "{}\\b", " {}", "{}//")


def alike(writer: Writer, op: Op) -> None:
    """Destinations that are easily taken for one: each message goes to the subscriber of its own alone.

    Names in the declared families are plain ones; those with other characters stand outside, where a server is free to
    refuse them, and each has a connection of its own to be refused on.
    """
    slot, which, form, many, flags = op.args
    many = 1 + many % 3
    if form & 1:
        _odd_alike(writer, which, form >> 1, many)
        return
    line, family = writer.line(slot % writer.slots), ("queue", "topic")[flags & 1]
    if form & 2:
        length = (8, 15, 16, 31, 32, 63, 64, 100)[which % 8]
        keys = ["l" * length + end for end in "1234"[: 1 + many]]
    else:
        keys = ["a", *(_KEYS[(which + n) % len(_KEYS)] for n in range(many))]
    places = [Ref(family, key) for key in keys]
    for place in places:
        if len(line.subs) < MOST_OPEN:
            writer.subscribe(line, place, receipt=writer.receipt())
    for place in places[:: -1 if flags & 2 else 1]:
        writer.send(line, place, receipt=writer.receipt())


def _odd_alike(writer: Writer, which: int, form: int, many: int) -> None:
    """One subscriber; senders to names like its own, and one to its own."""
    stem = ("{name}", "/x/{name}", "x.{name}")[form % 3]
    twists = _ODD[:4] if writer.version == "1.0" else _ODD
    others = [twists[(which + n) % len(twists)].format(stem) for n in range(many)]
    own, *others = (others[0], stem) if form & 4 else (stem, *others)
    taker = writer.connect(ASIDE)
    writer.subscribe(taker, Ref("odd", own), receipt=writer.receipt())
    for name in (*others, own):
        sender = writer.connect(ASIDE + 2)
        writer.send(sender, Ref("odd", name), receipt=writer.receipt())
        writer.wait()
        sender.ended = True
    taker.ended = True


# -- clients that are cut off ------------------------------------------------------------------------------------------


def cut(writer: Writer, op: Op) -> None:
    """A client whose connection ends in the middle of a frame: nothing of that frame takes effect."""
    _, where, keep, form, flags = op.args
    place = PLACES[where % writer.places]
    line = writer.connect(ASIDE)
    if form % 3 == 2:
        writer.say(line, "BEGIN", [("transaction", "cut"), writer.receipt()])
        writer.send(line, place, headers=[("transaction", "cut")])
        rest = b"COMMIT\ntransaction:cut\nreceipt:cut\n\n"
        writer.wait()
        writer.blurt(line, rest[: len(rest) - keep % 24])
    else:
        rest = (b"\n\nhello there", b"\ncontent-length:11\n\nhello there")[form % 3]
        rest = rest[: len(rest) - keep % len(rest)]
        writer.blurt(line, b"SEND\nk:%d\ndestination:" % writer.fresh(), place, rest)
    if flags & 1:
        writer.wait(20)
    writer.hang(line, "reset" if flags & 2 else "close")


def halved(writer: Writer, op: Op) -> None:
    """A frame that comes in two pieces, while another client works: the pieces belong together, and to nobody else."""
    slot, where, keep, form, flags = op.args
    line, place = writer.line(slot % writer.slots), PLACES[where % writer.places]
    body = (b"hello", b"", b"a\nb", b"x" * 99)[form % 4]
    asked = writer.receipt()[1].encode()
    frame = b"\nk:%d\ncontent-length:%d\nreceipt:%b\n\n%b\0" % (writer.fresh(), len(body), asked, body)
    at = keep % len(frame)
    writer.features.add("pieces")
    writer.blurt(line, b"SEND\ndestination:", place, frame[:at])
    other = writer.line((slot + 1) % 3) if flags & 1 else writer.connect(ASIDE)
    if other is not line:
        if flags & 2:
            writer.subscribe(other, PLACES[1], receipt=writer.receipt())
        writer.send(other, PLACES[1], receipt=writer.receipt())
    writer.wait(5 if flags & 4 else 0)
    writer.blurt(line, frame[at:], when="now")
