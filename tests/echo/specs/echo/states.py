"""What an ECHO conversation has come to, as values."""

from __future__ import annotations

from typing import NamedTuple

from specs.echo.machine import P


class Config(NamedTuple):
    """`puts`: how many PUTs the client has to make, when it is a client that is judged; else None."""

    puts: int | None = None


class Conn(NamedTuple):
    """One connection: names of PUTs that are not DONE, in order, how many were said, and how many there have to be."""

    phase: P = P.NEW
    open: tuple[str, ...] = ()
    said: int = 0
    puts: int | None = None


class State(NamedTuple):
    """A whole conversation: connections by number."""

    config: Config
    conns: tuple[tuple[int, Conn], ...] = ()

    def conn(self, number: int) -> Conn:
        """The connection called `number`."""
        return dict(self.conns).get(number) or Conn(puts=self.config.puts)

    def put(self, number: int, conn: Conn) -> State:
        """The state with one connection changed."""
        return self._replace(conns=tuple(sorted({**dict(self.conns), number: conn}.items())))


class Case(NamedTuple):
    """One action on one connection: what the rules look at. `name` is that of the line, `shown` what people read."""

    state: Conn
    name: str = ""
    shown: str = ""
    profile: str = "1"
    during: str = ""
    left: tuple[P, ...] = ()
    about: None = None

    @property
    def phase(self) -> P:
        """Where the connection stands."""
        return self.state.phase
