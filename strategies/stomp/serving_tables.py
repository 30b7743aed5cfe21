"""A stretch of a table of traps, given to a client or sent by it: values and names of headers, and bodies.

Conversations meet a trap now and then, among much else. Here each op says a whole stretch, so that a short run has been
through all of a table, both ways. Nothing else about these conversations is unusual.
Source: STOMP 1.2, Value Encoding, Body, Header content-length.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeVar

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.states import Config
from strategies.common import Op, Program, programs
from strategies.stomp.desk import Serving
from strategies.stomp.parade import MIXED
from strategies.stomp.texts import BODIES, LONG_BODIES, NAMES, VALUES

_LONGEST = 32
"""Entries of one stretch."""
_BODIES = (*BODIES, *MIXED, *LONG_BODIES)
_AT_ONCE = 4
"""Messages that are said, or sent, one behind the other."""
_FITS = (1 << 16) - 100
"""Octets of a body that every client has to take (docs/ambiguities.md, Clients, Sizes)."""
_SAID, _SENT = 1 << 18, 1 << 15
"""Octets of the bodies of one stretch that a client is given, and that it sends: it may write each octet by itself, and
then each is an event."""
EntryT = TypeVar("EntryT")
Message = tuple[bytes, Mapping[str, str]]
"""A body, and user headers."""
Way = Callable[[Serving, Sequence[Message], int], None]
"""What is done with messages of a form."""


def stretches() -> SearchStrategy[Program]:
    """Up to three stretches."""
    heads, bodies = ("values-given", "values-sent"), ("bodies-given", "bodies-sent")
    kinds = dict.fromkeys(heads, 4) | {"names-given": 2, "names-sent": 2} | dict.fromkeys(bodies, 1)
    return programs(kinds, head=0, most=3)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Op: where its stretch ends (two numbers), how many entries stand before that, and whether messages state their
    length also where no NUL asks for it. Each entry has a frame of its own: what is known of one hides nothing of
    another. Nothing is to be acknowledged: how much may be open at once is a client's affair."""
    s = Serving(config, hurry=hurry)
    s.connect()
    s.subscribe()
    for op in program.ops:
        _SHOWS[op.kind](s, op)
    s.end()
    return s.plan()


def _stretch(table: Sequence[EntryT], op: Op) -> list[EntryT]:
    """The number tells its last entry, so that lower numbers lead to any one of its entries alone."""
    last = op.args[0] + 256 * op.args[1]
    return [table[(last - n) % len(table)] for n in range(op.args[2] % _LONGEST, -1, -1)]


def _some(entries: Sequence[EntryT], width: int) -> Iterator[Sequence[EntryT]]:
    for at in range(0, len(entries), width):
        yield entries[at : at + width]


def _values(s: Serving, op: Op) -> Iterator[dict[str, str]]:
    return ({"k": text} for text in _stretch(VALUES[s.version], op) if text or s.version == "1.2")


def _names(s: Serving, op: Op) -> Iterator[dict[str, str]]:
    """What may stand in a value may stand in a name as well, but for 1.0, which has no escapes."""
    more = [text for text in VALUES[s.version] if text] if s.version != "1.0" else []
    return ({name: "v"} for name in _stretch([*NAMES[s.version], *more], op))


def _bodies(op: Op, most: int) -> Iterator[bytes]:
    """Bodies of so many octets altogether."""
    for body in _stretch(_BODIES, op):
        if len(body) <= min(_FITS, most):
            most -= len(body)
            yield body


def _given(s: Serving, frames: Sequence[Message], form: int) -> None:
    """Messages that the client gets, each received before too many others come."""
    ear = s.ear()
    for some in _some(frames, _AT_ONCE):
        for nth, (body, headers) in enumerate(some):
            s.message(ear, body, list(headers.items()), form=form, when="now" if nth else None)
        for _ in some:
            s.receive()


def _sent(s: Serving, frames: Sequence[Message], form: int) -> None:
    """Messages that the client sends; behind some of them it waits for a receipt."""
    for some in _some(frames, _AT_ONCE):
        for nth, (body, headers) in enumerate(some):
            s.send(body, headers, receipt=nth == len(some) - 1, when="now" if nth else None, serve=False)
        s.serve()


def _with_headers(way: Way, table: Callable[[Serving, Op], Iterator[dict[str, str]]]) -> Callable[[Serving, Op], None]:
    return lambda s, op: way(s, [(b"t", headers) for headers in table(s, op)], 0)


def _with_bodies(way: Way, most: int) -> Callable[[Serving, Op], None]:
    return lambda s, op: way(s, [(body, {}) for body in _bodies(op, most)], op.args[3] & 1)


_SHOWS: Mapping[str, Callable[[Serving, Op], None]] = {
    "values-given": _with_headers(_given, _values), "values-sent": _with_headers(_sent, _values),
    "names-given": _with_headers(_given, _names), "names-sent": _with_headers(_sent, _names),
    "bodies-given": _with_bodies(_given, _SAID), "bodies-sent": _with_bodies(_sent, _SENT),
}  # fmt: skip
