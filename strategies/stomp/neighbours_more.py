"""More scenes of `neighbours.py`: several of a kind that end together, refusals, and ids that a server may confuse.

Source: 003_30478fd2f19f0da0.txt L111-140, L182-193; STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE, ABORT, ERROR.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from strategies.stomp.stage import COLLECTOR, Stage
from strategies.stomp.writer import Line

ROWS: list[Callable[[Stage], None]] = []
"""The scenes."""


def _scene(row: Callable[[Stage], None]) -> Callable[[Stage], None]:
    ROWS.append(row)
    return row


# -- transactions ------------------------------------------------------------------------------------------------------


def _several_within(s: Stage, count: int) -> Line:
    """Deliveries that are acknowledged in one transaction, all but perhaps the last."""
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, count)
    s.tx("BEGIN", s.name, line)
    for nth in range(count - (s.form >> 1 & 1))[:: -1 if s.form & 4 else 1]:
        s.acks(line, sub, nth, s.name)
    if s.form & 8:
        s.sends(line=line, kind="queue", key="b", tx=s.name)
    return line


@_scene
def _several_acknowledgements_that_are_taken_back(s: Stage) -> None:
    line = _several_within(s, 3 + (s.form & 1))
    s.tx("ABORT", s.name, line)
    s.collects(line)


@_scene
def _several_acknowledgements_that_their_connection_takes_back(s: Stage) -> None:
    s.collects(_several_within(s, 3 + (s.form & 1)))


# -- a subscription that is refused ------------------------------------------------------------------------------------

_NO_MODES = ("sometimes", "AUTO", "none", "Client")


def _refused(s: Stage, kind: str) -> Line:
    """A SUBSCRIBE that cannot be processed; nobody knows whether its connection lives on, so it ends."""
    line, writer = s.writer.connect(2 + s.number), s.writer
    mode: list[tuple[str, str]] = []
    if s.form & 1:
        mode = [("ack", _NO_MODES[s.form >> 2 & 3])]
    else:
        s.hears(s.name, line=line, key="before")
    asked = [("id", s.name), ("destination", s.place(kind)), *mode, writer.receipt()]
    writer.say(line, "SUBSCRIBE", asked)
    writer.wait()
    writer.hang(line)
    writer.wait()
    return line


def _heard_by_others(s: Stage, kind: str) -> None:
    """Messages to the destination of the refused one, for a client that does better: one that comes afterwards."""
    after = s.writer.connect(COLLECTOR + 1 + s.number)
    s.hears(s.name, line=after, kind=kind)
    for _ in range(3):
        s.sends(kind=kind)


@_scene
def _a_subscription_that_is_refused_and_one_that_comes_afterwards(s: Stage) -> None:
    kind = "topic" if s.form & 14 == 14 else "queue"
    _refused(s, kind)
    _heard_by_others(s, kind)


@_scene
def _a_subscription_that_is_refused_beside_one_of_its_place(s: Stage) -> None:
    kind = "topic" if s.form & 14 == 14 else "queue"
    s.hears(s.other, line=s.elsewhere, kind=kind)
    _refused(s, kind)
    for _ in range(3):
        s.sends(kind=kind)


# -- ids that look like the same number, or the same text --------------------------------------------------------------

_ALIKE: Sequence[tuple[str, str, str]] = (
    ("1", "01", "1.0"),
    ("10", "1e1", "1E1"),
    ("0", "00", "-0"),
    ("7", "+7", "7.00"),
    ("16", "0x10", "0X10"),
    ("100", "1e2", "0100"),
    ("9007199254740992", "9007199254740993", "9.007199254740992e15"),
    ("true", "True", "1"),
    ("a", "A", "aa"),
    ("null", "0", "None"),
    ("4294967296", "0", "4294967297"),
    ("1000", "1_000", "1,000"),
)


@_scene
def _ids_that_are_alike_and_one_of_them_ends(s: Stage) -> None:
    """Each is at a destination of its own, so that it shows which one has ended."""
    line = s.writer.connect(2 + s.number)
    ids = _ALIKE[s.form % len(_ALIKE)][:: -1 if s.form // len(_ALIKE) & 1 else 1]
    subs = [s.hears(name, line=line, key=f"k{nth}") for nth, name in enumerate(ids)]
    for sub in (subs[1], subs[2]):
        s.writer.unsubscribe(line, sub, receipt=s.writer.receipt())
        s.writer.wait()
        for nth in range(len(ids)):
            s.sends(line=s.elsewhere, key=f"k{nth}")
        s.writer.wait()


@_scene
def _transactions_that_are_alike_and_one_of_them_ends(s: Stage) -> None:
    """Each sends to a destination of its own."""
    line = s.writer.connect(2 + s.number)
    ids = _ALIKE[s.form % len(_ALIKE)][: 2 + (s.form // len(_ALIKE) & 1)]
    s.hears(s.name, line=line)
    for name in ids:
        s.tx("BEGIN", name, line)
    for name in ids:
        s.sends(line=line, tx=name)
    s.tx("ABORT", ids[1], line)
    for name in ids[:1] + ids[2:]:
        s.tx("COMMIT", name, line)
