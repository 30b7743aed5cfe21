"""What the rules of a server look at: one action on one connection, and which request a response belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple

from specs.msgpack import values
from specs.msgpack.changes import Change, changed, shown_by
from specs.msgpack.frames import is_int
from specs.msgpack.machine import LIMITS, READ, P
from specs.msgpack.states import Asked, Config, Conn, State
from specs.values import quick_replace


@quick_replace
class Place(NamedTuple):
    """One connection within its conversation. `only`: the open requests that are asked about, None for all."""

    phase: P
    conn: Conn
    number: int
    whole: State
    only: tuple[Asked, ...] | None = None

    @property
    def config(self) -> Config:
        """What is known of the server."""
        return self.whole.config

    def others(self) -> list[Conn]:
        """The other connections."""
        return [there for number, there in self.whole.conns.items() if number != self.number]


def place(state: State, number: int) -> Place:
    """The connection called `number`."""
    conn = state.conns.get(number) or Conn()
    return Place(conn.phase, conn, number, state)


class Case:
    """One action. Of a response: `name`, `error` and `result`; `about` is the open request that it answers, or None;
    `meant` the one that it was probably meant for. `said` is text for people about anything else."""

    __slots__ = (
        "_change",
        "_foreign",
        "_shown",
        "about",
        "action",
        "body",
        "error",
        "name",
        "result",
        "said",
        "state",
        "wide",
    )
    profile = ""
    during = ""
    left: tuple[P, ...] = ()

    def __init__(self, state: Place, action: str, body: Any = None, wide: tuple[str, ...] = (), said: str = "") -> None:
        self.state, self.action, self.body, self.wide, self.said = state, action, body, wide, said
        self.about: Asked | None = None
        self._change: Any = self
        self._foreign = ""
        self._shown: frozenset[str] | None = None
        if action == "response":
            _, self.name, self.error, self.result = body
            if is_int(self.name):
                self.about = next((asked for asked in state.conn.asked if asked.id == self.name), None)
            self.state = state._replace(only=() if self.about is None else (self.about,))

    @property
    def phase(self) -> P:
        """Where the connection stands."""
        return self.state.phase

    @property
    def conn(self) -> Conn:
        """The connection before the action."""
        return self.state.conn

    @property
    def answered(self) -> Asked:
        """The request that a response answers; only asked where there is one."""
        assert self.about is not None
        return self.about

    @property
    def is_value(self) -> bool:
        """True for nonsense that can be read, so that what follows can be read too."""
        return self.body is not None

    @property
    def first(self) -> Asked:
        """The oldest open request; only asked where there is one."""
        return self.conn.asked[0]

    @property
    def kind(self) -> str:
        """What the request that is answered calls for, "" when nothing asked for the response."""
        return "" if self.about is None else self.about.want.kind

    @property
    def shown(self) -> frozenset[str]:
        """Requirements of the format that the value which was sent can break."""
        if self._shown is None:
            self._shown = shown_by(self.answered.want.value)
        return self._shown

    @property
    def change(self) -> Change | None:
        """How the result differs from the value that was asked for."""
        if self._change is self:
            want = self.answered.want
            found = changed(want.value, self.result, self.state.config)
            if found is not None and want.odd == LIMITS:
                found = Change(READ, None, found.why)
            self._change = found
        return self._change  # type: ignore[no-any-return]

    @property
    def foreign(self) -> str:
        """ "here" or "elsewhere" when the result is what another request asks for, on this connection or another. Where
        the request's own value may become it, nobody can tell: 1.0 becomes 1 in a language with one number type."""
        if not self._foreign:
            own = self.change is None or self.change.level == "SHOULD"
            self._foreign = "" if own else _whose(self)
        return self._foreign

    @property
    def text(self) -> str:
        """What a response says, for people."""
        return f"error={values.describe(self.error, 100)} result={values.describe(self.result, 100)}"

    @property
    def meant(self) -> Asked | None:
        """The open request for which a response with another id was probably meant."""
        for asked in self.conn.asked:
            if resembles(self.name, asked.id) or cut_down(self.name, asked.id):
                return asked
        elsewhere = any(asked.id == self.name for there in self.state.others() for asked in there.asked)
        if not self.conn.asked or self.conn.midway or elsewhere:
            return None
        if not is_int(self.name) and not self.conn.noted:
            return self.conn.asked[0]
        stale = is_int(self.name) and self.name in self.conn.done
        return self.conn.asked[0] if len(self.conn.asked) == 1 and not stale and not self.conn.noted else None


def resembles(name: Any, number: int) -> bool:
    """True when `name` is an id in another type."""
    if isinstance(name, values.Float):
        return name.number == number
    return isinstance(name, (str, bytes)) and name in (str(number), str(number).encode())


def cut_down(name: Any, number: int) -> bool:
    """True when `name` is an id of more than 32 bits, or below zero, whose last 32 bits are `number`."""
    return number != 0 and is_int(name) and name != number and name % (1 << 32) == number


def _whose(case: Case) -> str:
    """Whose result came. What is small may be alike by chance: only open requests count for it."""
    result = case.result
    distinct = isinstance(result, (tuple, values.Map, str, bytes)) or (is_int(result) and result > 255)
    for number, there in case.state.whole.conns.items():
        for one in (*there.asked, *there.given) if distinct else there.asked:
            wanted = one is not case.about and one.want.kind in ("value", "either")
            if wanted and values.alike(one.want.value, result):
                return "elsewhere" if number != case.state.number else "here"
    return ""
