"""The only place that says what ECHO allows. It does not know which role is watched."""

from __future__ import annotations

from collections.abc import Iterator

from specs.echo.frames import Line
from specs.echo.states import CLIENT_WORDS, NEXT, Config, Conn, Phase, State

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome

_FORBIDDEN = {  # what is broken when the table says never
    "HELLO": "ECHO-HELLO-01", "PUT": "ECHO-HELLO-01", "BYE": "ECHO-HELLO-01", "client": "ECHO-BYE-01",
    "WELCOME": "ECHO-HELLO-02", "DONE": "ECHO-HELLO-02", "server": "ECHO-BYE-02",
}  # fmt: skip
_SHOWN = {  # what is shown when it is done rightly
    "HELLO": ("ECHO-HELLO-01", "ECHO-LINE-01"),
    "PUT": ("ECHO-PUT-03", "ECHO-PUT-04", "ECHO-LINE-01"),
    "BYE": ("ECHO-BYE-01", "ECHO-LINE-01"),
    "WELCOME": ("ECHO-HELLO-02", "ECHO-LINE-01"),
    "DONE": ("ECHO-PUT-01", "ECHO-PUT-02", "ECHO-LINE-01"),
    "server": ("ECHO-BYE-02",),
}


class EchoModel:
    """Turn-based: it takes what the tester said as read. `specs.lag.Lagged` makes it sound for pipelined plans."""

    drifts = False

    def initial(self, config: Config) -> State:
        """A client that is judged speaks first, on connection 0."""
        return State(config, () if config.puts is None else ((0, Conn()),))

    def drift(self, state: State) -> Iterator[State]:
        """None: nothing happens inside a peer that another connection could show."""
        return iter(())

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which `role` still has something to do."""
        for _, conn in state.conns:
            yield from (_server_owes(conn) if role == "server" else _client_owes(conn, state.config.puts))

    def step(self, state: State, event: Event) -> Iterator[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            yield self._silence(state) if event.final else Allow(state)
        elif isinstance(event, Fact):
            yield Allow(state)
        else:
            conn = dict(state.conns).get(event.conn, Conn())
            yield _step(state, conn, event)

    def _silence(self, state: State) -> Outcome:
        for role in ("client", "server"):
            for requirement in self.owed(state, role):
                return Breach(role, requirement, f"the {role} has stopped, and owes {requirement}")
        return Allow(state)


def _step(state: State, conn: Conn, event: Said | Noise | Closed) -> Outcome:
    if isinstance(event, Noise):
        phase = Phase.LOST if event.by == "client" else Phase.WRONG
        why = f"{event.data[:40]!r} is no line"
        return Breach(event.by, "ECHO-LINE-01", why, then=_put(state, event.conn, conn._replace(phase=phase)))
    deed = event.by if isinstance(event, Closed) else event.frame.word
    if isinstance(event, Said) and (deed in CLIENT_WORDS) != (event.by == "client"):
        return Breach(event.by, "ECHO-LINE-01", f"{deed} is not for a {event.by} to say")
    after = NEXT[conn.phase][deed]
    if after is None:
        return _forbidden(conn, event.by, deed)
    if isinstance(event, Said):
        return _said(state, event, conn._replace(phase=after))
    if conn.phase is Phase.ENDING and conn.open:
        why = f"closed although {conn.open} were not answered"
        return Breach("server", "ECHO-BYE-02", why, also=("ECHO-PUT-01",))
    covers = ("ECHO-LINE-02",) if conn.phase in (Phase.LOST, Phase.WRONG) else _SHOWN.get(deed, ())
    return Allow(_put(state, event.conn, conn._replace(phase=after)), covers)


def _forbidden(conn: Conn, by: str, deed: str) -> Outcome:
    if conn.phase is (Phase.LOST if by == "server" else Phase.WRONG):
        return Breach(by, "ECHO-LINE-02", f"{deed} after what is no line")
    if by == "client" and conn.phase in (Phase.LEAVING, Phase.ENDING):
        return Breach(by, "ECHO-BYE-01", f"{deed} after BYE")
    return Breach(by, _FORBIDDEN[deed], f"{deed} when {conn.phase.value}")


def _said(state: State, event: Said, conn: Conn) -> Outcome:
    line: Line = event.frame
    if line.word == "PUT":
        if line.name in conn.open:
            return Breach("client", "ECHO-PUT-03", f"PUT {line.name} while it was open")
        conn = conn._replace(open=(*conn.open, line.name), said=conn.said + 1)
    elif line.word == "DONE":
        if line.name not in conn.open:
            return Breach("server", "ECHO-PUT-02", f"DONE {line.name}, which was not open")
        conn = conn._replace(open=tuple(name for name in conn.open if name != line.name))
    return Allow(_put(state, event.conn, conn), _SHOWN[line.word])


def _server_owes(conn: Conn) -> Iterator[str]:
    if conn.phase in (Phase.ASKED, Phase.LEAVING):
        yield "ECHO-HELLO-02"
    elif conn.phase is Phase.LOST:
        yield "ECHO-LINE-02"
    elif conn.open and conn.phase in (Phase.LIVE, Phase.ENDING):
        yield "ECHO-PUT-01"
    elif conn.phase is Phase.ENDING:
        yield "ECHO-BYE-02"


def _client_owes(conn: Conn, puts: int | None) -> Iterator[str]:
    if conn.phase is Phase.WRONG:
        yield "ECHO-LINE-02"
    elif puts is None:
        return
    elif conn.phase is Phase.NEW:
        yield "ECHO-HELLO-01"
    elif conn.phase is Phase.LIVE and conn.said < puts:
        yield "ECHO-PUT-04"
    elif conn.phase is Phase.LIVE and not conn.open:
        yield "ECHO-BYE-01"


def _put(state: State, number: int, conn: Conn) -> State:
    return state._replace(conns=tuple(sorted({**dict(state.conns), number: conn}.items())))
