"""The acceptor of a MessagePack-RPC server: which answers the text allows to what a client said.

Source: MessagePack-RPC specification, Messages. Answers may come in any order, so nothing depends on what the server
has read yet: the state holds each request until it is answered, and the same model is sound in lock-step and with any
number of requests on the wire. Nothing is owed before a final silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.calls import called, changed, fmt, ids, oddity
from specs.msgpack.frames import Frame, is_id, is_int, shape
from specs.msgpack.states import ALLOWED, FMT, RPC, Asked, Config, Conn, Phase, State, Want

GIVEN = 8
"""Answered requests of each connection that are remembered, to see whose result another one got."""
RACE = "the server closed the connection before it answered"
HOPELESS = "a value that is no message at all"
NEARLY = "a value that is nearly a message"
UNREADABLE = "octets that are no value"


def blame(short: str, why: str, then: State | None = None, level: str | None = None, also: str = "") -> Breach:
    """A breach of the server; judging goes on when the state after it is known."""
    name = short if short.startswith("MP") else RPC + short
    if then is None:
        return Breach("server", name, why, level=level, also=ids(also))
    return Breach("server", name, why, then=then, level=level, also=ids(also))


class ServerModel:
    """See the module. `drifts` is False: an envelope needs no silent moves."""

    drifts = False

    def initial(self, config: Config) -> State:
        """Nothing said on any connection."""
        return State(config, {})

    def drift(self, state: State) -> Iterable[State]:
        """None; see the class."""
        return ()

    def owed(self, state: State, role: str) -> Iterator[str]:
        """The rules of the requests that are not answered."""
        if role == "server":
            for number, conn in state.conns.items():
                if _in_line(state, number):
                    continue
                if conn.phase is Phase.SPOILT and _declared(state.config, conn) == "close":
                    yield RPC + "BAD-02"
                elif conn.phase is Phase.LIVE:
                    yield from (asked.want.rule for asked in conn.asked)

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always, but where a request id is open twice."""
        if isinstance(event, Said):
            if event.by == "client":
                return (Allow(_said(state, event.conn, event.frame.body)),)
            return _heard(state, event.conn, event.frame)
        if isinstance(event, Quiet):
            return (_at_the_end(state) if event.final else Allow(state),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        if isinstance(event, Noise):
            return (_noise(state, event),)
        return (_fact(state, event),)


def _conn(state: State, number: int) -> Conn:
    return state.conns.get(number) or Conn()


def put(state: State, number: int, conn: Conn) -> State:
    """The state with one connection changed."""
    return state._replace(conns={**state.conns, number: conn})


# -- what the tester says ----------------------------------------------------------------------------------------------


def _said(state: State, number: int, body: Any) -> State:
    conn = _conn(state, number)._replace(midway=False)
    match shape(body):
        case "request":
            return _asked(state, number, conn, body)
        case "notification":
            return _notified(state, number, conn, body)
        case "response":
            return _spoilt(state, number, conn, "a response that nobody asked for")
        case _:
            return _spoilt(state, number, conn, HOPELESS if _hopeless(state.config, body) else NEARLY)


def _asked(state: State, number: int, conn: Conn, body: tuple[Any, ...]) -> State:
    _, name, method, params = body
    config = state.config
    want = called(config, method, params)
    least = None
    if want.kind == "count" and state.counted is not None:
        least = state.counted + state.bumped
    bad = state.bad or any(there.midway for other, there in state.conns.items() if other != number)
    asked = Asked(name, want, bool(conn.asked), bad, least)
    if any(other.id == name for other in conn.asked):
        return _spoilt(state, number, conn, "an id that is still open")  # MP-11
    return put(state, number, conn._replace(asked=(*conn.asked, asked)))


def _notified(state: State, number: int, conn: Conn, body: tuple[Any, ...]) -> State:
    _, method, params = body
    if called(state.config, method, params).closes:
        return _spoilt(state, number, conn, "a notification that may be refused")
    if method and method == state.config.name("bump") and not params and conn.phase is Phase.LIVE:
        state = state._replace(bumped=state.bumped + 1)
    return put(state, number, conn._replace(noted=True, fresh=frozenset()))


def _hopeless(config: Config, body: Any) -> bool:
    """True for what every reader can read and none takes for a message, however lenient it is; MP-05."""
    if oddity(body, config):
        return False
    if not isinstance(body, tuple) or not body:
        return True
    return is_int(body[0]) and body[0] not in (0, 1, 2)  # there are languages in which false, 0.0, "0" or nil equal 0


def _spoilt(state: State, number: int, conn: Conn, bad: str) -> State:
    if any(asked.want.closes for asked in conn.asked):
        bad = "what lies behind a request that may be refused"
    phase = Phase.SPOILT if conn.phase is Phase.LIVE else conn.phase
    return put(state._replace(bad=True), number, conn._replace(phase=phase, bad=conn.bad or bad))


# -- what the server says ----------------------------------------------------------------------------------------------


def _heard(state: State, number: int, frame: Frame) -> Iterable[Outcome]:
    conn = _conn(state, number)
    what = shape(frame.body)
    row = ALLOWED[conn.phase]
    fate = row["response" if what == "response" else "odd" if what == "odd" else "call"]
    if fate == "impossible":
        return ()
    if fate == "allowed":
        return (Allow(state),)
    if fate == "forbidden":
        why = f"the server said what is no message: {values.describe(frame.body, 200)}"
        return (blame("RESP-01", why, put(state, number, conn._replace(asked=conn.asked[1:]))),)
    name = frame.body[1]
    nth = next((i for i, asked in enumerate(conn.asked) if is_int(name) and asked.id == name), None)
    if nth is None:
        return (_unasked(state, number, conn, frame),)
    return (_answered(state, number, conn, nth, frame),)


def _unasked(state: State, number: int, conn: Conn, frame: Frame) -> Outcome:
    """A response whose id is that of no open request."""
    _, name, error, result = frame.body
    if conn.phase is Phase.SPOILT:
        return Allow(state)
    if any(asked.want.closes for asked in conn.asked) and error is not None:
        return Allow(put(state, number, conn._replace(phase=Phase.SPOILT, bad="a request that was refused")))
    shown = f"{values.describe(name, 60)} error={values.describe(error, 80)} result={values.describe(result, 80)}"
    for asked in conn.asked:
        rest = put(state, number, _without(conn, asked))
        if _resembles(name, asked.id):
            return blame("RESP-02", f"the id {asked.id} came back as {values.describe(name, 60)}", rest, also="RESP-01")
        if asked.id != 0 and is_int(name) and name % (1 << 32) == asked.id:
            return blame("RESP-01", f"the id {asked.id} came back as {name}", rest, also="RESP-02")
    for other, there in state.conns.items():
        if other != number and any(asked.id == name for asked in there.asked if is_int(name)):
            return blame("RESP-06", f"response to a request of another connection: {shown}")
    if conn.midway:
        return blame(FMT + "10", f"response before the request was whole: {shown}", also="RESP-01")
    if conn.noted and not (is_id(name) and name in conn.fresh):
        return blame("NOTE-01", f"response that no request asked for: {shown}", also="RESP-01")
    if conn.asked and not is_int(name):
        rest = put(state, number, _without(conn, conn.asked[0]))
        return blame("RESP-02", f"response whose id is no integer: {shown}", rest, also="RESP-01")
    if len(conn.asked) == 1 and not (is_id(name) and name in conn.done):
        rest = put(state, number, _without(conn, conn.asked[0]))
        return blame("RESP-01", f"response with another id than {conn.asked[0].id}: {shown}", rest)
    return blame("RESP-01", f"response that no request asked for: {shown}")


def _resembles(name: Any, number: int) -> bool:
    """True when `name` is an id in another type."""
    if isinstance(name, values.Float):
        return name.number == number
    return isinstance(name, (str, bytes)) and name in (str(number), str(number).encode())


def _without(conn: Conn, asked: Asked) -> Conn:
    left = tuple(other for other in conn.asked if other is not asked)
    given = (*conn.given[1 - GIVEN :], asked)
    return conn._replace(asked=left, done=conn.done | {asked.id}, fresh=conn.fresh | {asked.id}, given=given)


def _answered(state: State, number: int, conn: Conn, nth: int, frame: Frame) -> Outcome:
    _, _, error, result = frame.body
    asked = conn.asked[nth]
    want = asked.want
    after = put(state, number, _without(conn, asked))
    if want.closes and error is not None:
        after = put(after, number, after.conns[number]._replace(phase=Phase.SPOILT, bad="a request that was refused"))
    covers = [*ids("RESP-01 RESP-02"), *fmt("02"), *want.covers]
    lapses: list[Breach] = []
    if frame.wide and not (state.config.old_raw and set(frame.wide) <= {"str"}):
        lapses.append(blame(FMT + "02", f"not written in the smallest form: {', '.join(frame.wide)}"))
    if error is not None:
        covers += ids("RESP-03b")
        if result is not None:
            why = f"a response with an error has a result as well: {values.describe(result, 100)}"
            lapses.append(blame("RESP-03b", why))
    broken = _wrong(state, number, conn, asked, error, result)
    if broken is not None:
        short, level, why = broken
        if conn.phase is Phase.SPOILT:
            return Allow(after)
        if level is None or level == "MUST":
            return blame(short, why, after)
        lapses.append(blame(short, why, level=level))
    if want.kind == "count":
        after = after._replace(counted=result if error is None else None, bumped=0)
        if asked.least is not None:
            covers += ids("NOTE-03")
    covers += ids("RESP-03a") if want.kind in ("value", "error", "count") else ()
    covers += ids("PIPE-01") if asked.behind else ()
    covers += ids("RESP-04") if nth else ()
    covers += ids("NOTE-01") if conn.noted else ()
    covers += ids("BAD-01") if asked.after_bad else ()
    if any(asked.id in there.done or any(a.id == asked.id for a in there.asked)
           for other, there in state.conns.items() if other != number):  # fmt: skip
        covers += ids("RESP-06")
    return Allow(after, tuple(dict.fromkeys(covers)), tuple(lapses))


def _wrong(
    state: State, number: int, conn: Conn, asked: Asked, error: Any, result: Any
) -> tuple[str, str | None, str] | None:
    """The rule that an answer breaks by its contents, the level if it is another, and why."""
    want = asked.want
    if want.kind == "free" or (want.kind == "either" and error is not None):
        return None
    if want.kind == "error":
        if error is None:
            return want.rule, want.level, f"a request that must fail was answered with success: {_shown(error, result)}"
        return None
    if error is not None:
        return "RESP-03a", None, f"a request that must succeed was answered with an error: {_shown(error, result)}"
    if want.kind == "count":
        if not is_int(result):
            return "RESP-01", "ASSUMED", f"a count that is no integer: {_shown(error, result)}"
        if asked.least is not None and result < asked.least:
            return "NOTE-03", "ASSUMED", f"{result} notifications were counted, at least {asked.least} were sent"
        return None
    broken = changed(want.value, result, state.config)
    if broken is None:
        return None
    foreign = _whose(state, number, asked, result)
    if foreign:
        return foreign, None, f"the result of another request: {_shown(error, result)}"
    if want.rule == FMT + "11":
        return FMT + "01", None, broken[2]
    return broken


def _shown(error: Any, result: Any) -> str:
    return f"error={values.describe(error, 100)} result={values.describe(result, 100)}"


def _whose(state: State, number: int, asked: Asked, result: Any) -> str:
    """RESP-06 or RESP-01 when `result` is what a request of another connection, or another one of this, asks for."""
    distinct = isinstance(result, (tuple, values.Map, str, bytes)) or (is_int(result) and result > 255)
    for other, there in state.conns.items():
        for one in (*there.asked, *there.given) if distinct else there.asked:
            if one is not asked and one.want.kind in ("value", "either") and values.alike(one.want.value, result):
                return "RESP-06" if other != number else "RESP-01"
    return ""


# -- closes, octets, silence -------------------------------------------------------------------------------------------


def _closed(state: State, event: Closed) -> Outcome:
    conn = _conn(state, event.conn)
    if event.by == "client":
        covers = fmt("10") if conn.midway and conn.phase is Phase.LIVE else ()
        return Allow(put(state, event.conn, conn._replace(phase=Phase.LEFT, asked=())), covers)
    after = put(state, event.conn, conn._replace(phase=Phase.CLOSED, asked=()))
    if conn.phase is Phase.SPOILT and _declared(state.config, conn) == "open" and conn.bad == HOPELESS:
        return blame("BAD-02", f"the connection was closed, which is declared to stay open: {conn.bad}")
    if conn.phase is Phase.LIVE and not conn.asked and state.bad:
        why = "the server closed a connection on which nothing was wrong: another one was misused"
        return Breach("server", RPC + "BAD-01", why, steady=True)
    if conn.phase is not Phase.LIVE or not conn.asked:
        return Allow(after, _reaction(state, conn))
    if any(asked.want.closes for asked in conn.asked):
        return Allow(after, tuple(c for asked in conn.asked for c in asked.want.covers if asked.want.closes))
    asked = conn.asked[0]
    rule = asked.want.rule if asked.want.rule != RPC + "RESP-05b" else RPC + "RESP-01"
    if asked.after_bad:
        return Breach("server", RPC + "BAD-01", f"{RACE} request {asked.id}", also=ids("RESP-01"), steady=True)
    return Breach("server", rule, f"{RACE} request {asked.id}", steady=True)


def _reaction(state: State, conn: Conn) -> tuple[str, ...]:
    return ids("BAD-02") if _declared(state.config, conn) else ()


def _declared(config: Config, conn: Conn) -> str:
    """What the server declares to do with a spoilt connection: "close", "open", or "" when it may do either."""
    if conn.bad not in (HOPELESS, UNREADABLE) or not config.malformed:
        return ""
    return "close" if config.malformed in ("close", "error-then-close") else "open" if conn.bad == HOPELESS else ""


def _noise(state: State, event: Noise) -> Outcome:
    conn = _conn(state, event.conn)
    if event.by == "client":
        return Allow(
            _spoilt(
                state, event.conn, conn._replace(midway=False), UNREADABLE if event.why == "never-used" else event.why
            )
        )
    fate = ALLOWED[conn.phase]["noise"]
    if fate == "forbidden":
        return blame("RESP-01", f"the server sent octets that are no MessagePack: {event.why}")
    return Allow(state)


def _fact(state: State, event: Fact) -> Outcome:
    if event.name == "octets" and event.by == "client":
        return Allow(put(state, event.conn, _conn(state, event.conn)._replace(midway=True)))
    if event.name == "refused":
        rule = "BAD-01" if state.bad else "RESP-01"
        return blame(rule, f"the server takes no more connections: {event.value!s:.200}")
    return Allow(state)


def _at_the_end(state: State) -> Outcome:
    """Nothing more will come: whatever is open now is not answered."""
    covers: list[str] = []
    conns = dict(state.conns)
    for number, conn in state.conns.items():
        if conn.phase is Phase.SPOILT and not _in_line(state, number):
            if _declared(state.config, conn) == "close":
                return blame("BAD-02", f"the connection stays open, which is declared to be closed: {conn.bad}")
            covers += _reaction(state, conn)
        if conn.phase is not Phase.LIVE or _in_line(state, number):
            continue
        if any(_passed_over(asked.want) for asked in conn.asked):
            # what could not be read was passed over, perhaps with what lay behind it in the same read
            conns[number] = conn._replace(phase=Phase.SPOILT, asked=(), bad="a request that was passed over")
        elif conn.asked:
            return _missing(conn.asked[0])
        covers += ids("NOTE-01") if conn.noted else ()
        covers += fmt("10") if conn.midway else ()
    return Allow(state._replace(conns=conns), tuple(dict.fromkeys(covers)))


def _in_line(state: State, number: int) -> bool:
    """True when a server that serves one connection after the other may not have come to this one yet."""
    if not state.config.serial:
        return False
    over = (Phase.LEFT, Phase.CLOSED)
    return any(there.phase not in over for other, there in state.conns.items() if other != number)


def _passed_over(want: Want) -> bool:
    """True for a request that a server may not be able to read at all."""
    return want.closes and (want.kind == "free" or want.rule in (FMT + "07", FMT + "11"))


def _missing(asked: Asked) -> Breach:
    want, why = asked.want, f"no answer came to a request: id {asked.id}"
    if asked.after_bad:
        return blame("BAD-01", why, also="RESP-01")
    if asked.behind and want.rule == RPC + "RESP-01":
        return blame("PIPE-01", f"{why}, sent while others were open", also="RESP-01")
    also = () if want.rule == RPC + "RESP-01" else ids("RESP-01")
    return Breach("server", want.rule, why, level="MUST", also=also)
