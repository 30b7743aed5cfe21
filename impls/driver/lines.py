"""Test programs that answer line by line: one process serves all conversations of a run, until it dies or falls silent.

Their stdin and stdout are the wire (see `specs.protocol.Protocol.wires`): what is sent and received are whole lines.
"""

from __future__ import annotations

from impls.driver.link import Link
from impls.driver.pipes import PipeLink, PipeTransport, Pool
from impls.driver.program import Program


class LineLink(PipeLink):
    """One conversation with the program; it stays when every line that was sent was answered."""

    def __init__(self, program: Program, transport: LineTransport) -> None:
        super().__init__(program, transport.pool)
        self._transport = transport
        self._open = 0

    def send(self, data: bytes) -> bool:
        self._open += data.count(b"\n")
        return super().send(data)

    def take(self) -> bytes | None:
        data = super().take()
        if data:
            self._open -= data.count(b"\n")
        return data

    def finish(self) -> bool:
        return False

    def close(self, how: str = "close") -> None:
        if self._open or self._over or self.program.deaf or "code" in self.program.fate():
            self._transport.dismiss()


class LineTransport(PipeTransport):
    """Conversations with the one program, which is started again when it is gone."""

    own = False

    def __init__(self, pool: Pool) -> None:
        super().__init__(pool)
        self._program: Program | None = None

    def open(self) -> Link:
        if self._program is None:
            self._program = self.pool.take()
        return LineLink(self._program, self)

    def dismiss(self) -> None:
        """End the program: what it would still say belongs to no conversation."""
        if self._program is not None:
            self.pool.give_up(self._program)
            self._program = None
