"""The shortest ways to show a fault of a host: what it is told, and what its child says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from specs.plan import Wait
from strategies.common import Op
from strategies.storm import timing
from strategies.storm.host_writer import Writer
from strategies.storm.unruly import ROWS

Play = Callable[[Writer], None]


def row(name: str, how: int = 0) -> Play:
    """One misuse by the child."""
    return lambda w: ROWS[name](w, how)


def case(kind: str, *args: int) -> Play:
    """One case that only time can tell."""

    def play(w: Writer) -> None:
        for part in timing.Lane(w.config).case(kind, Op("case", (*args, 0, 0, 0, 0)[:4])):
            w.steps += [*part, Wait(timing.TICK_MS)]

    return play


def give(*values: Any, origin: int = 0) -> Play:
    """A tuple."""
    return lambda w: w.open.append(w.tuple(list(values), origin))  # type: ignore[func-returns-value]


def numbered(value: Any) -> Any:
    """A value in which objects with the members 0, 1 and so on are arrays, as in languages with one type for both."""
    if isinstance(value, list):
        return [numbered(part) for part in value]
    if not isinstance(value, dict):
        return value
    inside = {name: numbered(part) for name, part in value.items()}
    return list(inside.values()) if inside and list(inside) == [str(n) for n in range(len(inside))] else inside


def out(*values: Any, ids: int = 0, **more: Any) -> Play:
    """An emit of a bolt."""

    def play(w: Writer) -> None:
        w.wait()
        w.task_ids(ids)
        w.emit(list(values), **more)

    return play


def done(op: str, number: int) -> Play:
    """ack or fail of a bolt."""
    return lambda w: w.settle(op, number)


def command(*emits: Mapping[str, Any], op: str = "next", **given: Any) -> Play:
    """A command of a spout and its answer."""

    def play(w: Writer) -> None:
        w.wait()
        w.call(op, **given)
        w.wait()
        for more in emits:
            w.emit([1], **more)
        w.sync()

    return play


def logged(text: str, **more: Any) -> Play:
    """A log."""
    return lambda w: w.log(text, **more)


def over(w: Writer) -> None:
    """The component is over, and its child does nothing about it."""
    w.close(polite=False)
