"""One short scene of a conversation: a few things with names and destinations of its own, and what is done with them.

Source of what is legal: STOMP 1.2, all client frames; 1.1 and 1.0 where the session speaks them.
"""

from __future__ import annotations

from dataclasses import dataclass

from specs.plan import Ref
from strategies.stomp.writer import Line, Sub, Writer

FIRST, SECOND, COLLECTOR = 0, 1, 9
"""Slots of the two connections that stay, and of those that take what others left."""


@dataclass
class Stage:
    """One scene. Things in it are called `name`, or `other`; `number` keeps its destinations apart, `form` chooses
    among forms of the scene."""

    writer: Writer
    number: int
    name: str
    other: str
    form: int = 0

    @property
    def line(self) -> Line:
        """The connection on which most of it goes on."""
        return self.writer.line(FIRST)

    @property
    def elsewhere(self) -> Line:
        """Another connection."""
        return self.writer.line(SECOND)

    def place(self, kind: str = "topic", key: str = "") -> Ref:
        """A destination of this scene."""
        return Ref(kind, f"n{self.number}{key}")

    def hears(
        self, name: str, *, line: Line | None = None, kind: str = "topic", key: str = "", mode: str = "auto"
    ) -> Sub:
        """A subscription of this name."""
        line = line or self.line
        mode = "client" if line.version == "1.0" and mode == "client-individual" else mode
        return self.writer.subscribe(line, self.place(kind, key), mode, name, receipt=self.writer.receipt())

    def sends(self, *, line: Line | None = None, kind: str = "topic", key: str = "", tx: str = "") -> None:
        """A message, in a transaction or not."""
        headers, asked = ([("transaction", tx)], None) if tx else ([], self.writer.receipt())
        self.writer.send(line or self.line, self.place(kind, key), headers=headers, receipt=asked)

    def tx(self, verb: str, name: str, line: Line | None = None) -> None:
        """BEGIN, COMMIT or ABORT."""
        self.writer.say(line or self.line, verb, [("transaction", name), self.writer.receipt()])

    def holds(self, line: Line, name: str, count: int = 1, key: str = "") -> Sub:
        """A subscription that has deliveries to acknowledge."""
        sub = self.hears(name, line=line, kind="queue", key=key, mode="client-individual")
        for _ in range(count):
            self.sends(line=line, kind="queue", key=key)
        self.writer.wait()
        return sub

    def acks(self, line: Line, sub: Sub, nth: int, tx: str | None = None, *, verb: str = "ACK") -> None:
        """ACK of one delivery, or NACK."""
        self.writer.acknowledge(line, sub, nth, verb=verb, tx=tx, receipt=self.writer.receipt())

    def collects(self, line: Line, key: str = "") -> None:
        """The connection ends without a word, and another one takes what is left."""
        self.writer.wait()
        self.writer.hang(line)
        self.writer.wait()
        collector = self.writer.line(COLLECTOR)
        self.writer.subscribe(collector, self.place("queue", key), receipt=self.writer.receipt())
        self.writer.wait()
