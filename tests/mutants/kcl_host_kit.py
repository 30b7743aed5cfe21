"""The shortest ways to show a fault to hosts."""

from __future__ import annotations

from typing import Any

from strategies.kcl.hosting import Writer


def batch(*data: bytes, key: str = "key") -> Any:
    """One batch."""

    def play(w: Writer) -> None:
        w.batch([(octets, key) for octets in data])
        w.status()

    return play


def asking(*errors: str | None, number: int | None = 0, sub: int | None = None) -> Any:
    """A batch with a request for each of these outcomes."""

    def play(w: Writer) -> None:
        w.batch([(b"x", "key")])
        for error in errors:
            w.wait(0)
            w.checkpointer(error)
            w.checkpoint(None if number is None else w.numbers[number], sub=sub)
        w.wait(0)
        w.status()

    return play


def ending(reason: str = "ZOMBIE") -> Any:
    """The final call."""

    def play(w: Writer) -> None:
        w.final(reason)
        w.status()
        w.exit()

    return play


def junk(*lines: bytes, why: str = "no-json") -> Any:
    """Lines that mean nothing, in a batch."""

    def play(w: Writer) -> None:
        w.batch([(b"x", "key")])
        for line in lines:
            w.junk(line, why)
        w.status(now=True)

    return play
