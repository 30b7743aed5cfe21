"""The acceptor of a MessagePack-RPC client: what it sends for what it was asked to do, and what it reports.

Source: MessagePack-RPC specification, Request Message, Notification Message, Response Message. A client does one thing
after the other: a call that blocks holds up what it is told behind it. Calls are known by their method, which no other
call of the plan has. What the tester tells the client stands in the trace as a Fact of the server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from specs.codec import Malformed
from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack import values
from specs.msgpack.calls import fmt, ids
from specs.msgpack.changes import changed
from specs.msgpack.format import decoded
from specs.msgpack.frames import Frame, is_id, is_int, shape
from specs.msgpack.states import RPC, Config

BLOCKING = ("call", "await")


class Call(NamedTuple):
    """A call or notification that the client was told to make. `number` is the id that it chose, once it is known.
    `outcome`: "" while it is open, "result", "error", or "lost" when the connection was spoilt or closed. `again`: the
    results of further responses with its id."""

    op: str
    method: str
    params: Any
    number: int | None = None
    sent: bool = False
    outcome: str = ""
    value: Any = None
    again: tuple[Any, ...] = ()


class ClientState(NamedTuple):
    """`told` are commands that were not answered, oldest first, as (op, method). `stray`: a response that belongs to no
    open call was said. `lost`: what was said or done may end the connection; `over`: it has ended; `left`: the client
    was told to end it."""

    config: Config
    calls: tuple[Call, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    stray: bool = False
    lost: bool = False
    over: bool = False
    left: bool = False
    gone: bool = False


def blame(short: str, why: str, then: ClientState | None = None, level: str | None = None, also: str = "") -> Breach:
    """A breach of the client; judging goes on when the state after it is known."""
    name = short if short.startswith("MP") else RPC + short
    if then is None:
        return Breach("client", name, why, level=level, also=ids(also))
    return Breach("client", name, why, then=then, level=level, also=ids(also))


class ClientModel:
    """See the module."""

    drifts = False

    def initial(self, config: Config) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def drift(self, state: ClientState) -> Iterable[ClientState]:
        """None."""
        return ()

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to send or to report."""
        if role == "client":
            rule, _ = _due(state)
            if rule:
                yield RPC + rule

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            return (_heard(state, event.frame) if event.by == "client" else Allow(_said(state, event.frame.body)),)
        if isinstance(event, Quiet):
            rule, why = _due(state)
            return (blame(rule, why) if event.final and rule else Allow(state),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        if isinstance(event, Noise):
            if event.by == "client":
                return (blame("REQ-01", f"the client sent octets that are no MessagePack: {event.why}"),)
            return (Allow(_lose(state)),)
        return (_fact(state, event),)


def _find(state: ClientState, method: Any) -> int | None:
    return next((at for at, call in enumerate(state.calls) if call.method == method), None)


def _with(state: ClientState, at: int, call: Call) -> ClientState:
    return state._replace(calls=(*state.calls[:at], call, *state.calls[at + 1 :]))


def _lose(state: ClientState) -> ClientState:
    calls = tuple(call if call.outcome else call._replace(outcome="lost") for call in state.calls)
    return state._replace(calls=calls, lost=True)


# -- what the tester says and asks for ---------------------------------------------------------------------------------


def _said(state: ClientState, body: Any) -> ClientState:
    if shape(body) != "response":
        return _lose(state)
    _, number, error, result = body
    for at, call in enumerate(state.calls):
        if call.number == number and is_int(number) and not call.outcome:
            value = ("result", result) if error is None else ("error", error)
            return _with(state, at, call._replace(outcome=value[0], value=value[1]))
    for at, call in enumerate(state.calls):
        if call.number == number and is_int(number):
            state = _with(state, at, call._replace(again=(*call.again, result)))
    return state._replace(stray=True)


def _told(state: ClientState, op: str, value: Any) -> ClientState:
    given = value if isinstance(value, dict) else {}
    method = str(given.get("method", given.get("_method", "")))
    if op == "drop":
        return _lose(state)._replace(over=True)
    if op in ("call", "call_async", "notify"):
        params, _ = decoded(bytes.fromhex(given["params_hex"]))
        call = Call(op, method, params, outcome="lost" if state.lost else "")
        state = state._replace(calls=(*state.calls, call))
    return state._replace(told=(*state.told, (op, method)), left=state.left or op == "disconnect")


# -- what the client sends ---------------------------------------------------------------------------------------------


def _heard(state: ClientState, frame: Frame) -> Outcome:
    body, what = frame.body, shape(frame.body)
    lapses = (blame("MP-FMT-02", f"not written in the smallest form: {', '.join(frame.wide)}"),) if frame.wide else ()
    if state.config.old_raw and set(frame.wide) <= {"str"}:
        lapses = ()
    if what == "response":
        return Allow(state)
    if what == "odd":
        return _odd(state, body)
    method, params = body[-2:]
    at = _find(state, method)
    if at is None and (what == "notification" or state.lost):
        return Allow(state)  # a client may say something of its own; MP-16
    if at is None:
        return blame("REQ-01", f"a message that nobody asked for: {values.describe(body, 200)}")
    call = state.calls[at]
    if (what == "notification") != (call.op == "notify"):
        rule = "NOTE-02" if call.op == "notify" else "REQ-01"
        return blame(rule, f"{call.op} was sent as a {what}")
    if call.sent:
        return blame("NOTE-02" if call.op == "notify" else "REQ-01", f"{call.op} was sent a second time")
    after = _with(state, at, call._replace(sent=True, number=body[1] if what == "request" else None))
    found = changed(call.params, params, state.config)
    if found is not None:
        name, level, why = found
        broken = blame(name, f"params {why}", after, level)
        return Allow(after, (), (*lapses, broken)) if level == "SHOULD" else broken
    if what == "request" and any(other.number == body[1] and not other.outcome for other in state.calls):
        return blame("REQ-02", f"the id {body[1]} is that of an open request", after)
    covers = ids("NOTE-02") if what == "notification" else ids("REQ-01 REQ-02")
    return Allow(after, (*covers, *fmt("01 02 04 06")), lapses)


def _odd(state: ClientState, body: Any) -> Outcome:
    shown = values.describe(body, 200)
    if isinstance(body, tuple) and len(body) == 4 and is_int(body[0]) and body[0] == 0 and not is_id(body[1]):
        return blame("REQ-02", f"an id that is no integer from 0 to 2^32-1: {shown}")
    if isinstance(body, tuple) and body and is_int(body[0]) and body[0] == 2:
        return blame("NOTE-02", f"a notification of another form: {shown}")
    return blame("REQ-01", f"a request of another form: {shown}")


# -- what the client reports -------------------------------------------------------------------------------------------


def _fact(state: ClientState, event: Fact) -> Outcome:
    if event.by == "server":
        return Allow(state if event.name == "octets" else _told(state, event.name, event.value))
    if event.name == "exit":
        return blame("CLI-04", f"the client has ended: {event.value!s:.100}")
    if event.name == "refused":
        return blame("CLI-04", f"the client cannot be started: {event.value!s:.200}")
    if event.name != "answer" or not state.told:
        return Allow(state)
    (op, method), *rest = state.told
    after = state._replace(told=tuple(rest))
    at = _find(state, method)
    told = event.value if isinstance(event.value, dict) else {}
    if op == "notify" and "error" in told and not state.lost:
        return blame("NOTE-02", f"notify failed: {told['error']!s:.200}", after)
    if op not in BLOCKING or at is None:
        if "error" in told and not state.lost and op in ("connect", "call_async"):
            return blame("REQ-01", f"{op} failed: {told['error']!s:.200}", after)
        return Allow(after)
    return _reported(state, after, state.calls[at], told)


def _reported(state: ClientState, after: ClientState, call: Call, told: dict[str, Any]) -> Outcome:
    failed, result = _outcome(told)
    stray = ids("CLI-03") if state.stray else ()
    if isinstance(result, Malformed):
        return blame("CLI-01", f"the result of {call.method} is reported as no value ({result.why})", after)
    if not call.outcome:
        if failed:
            rule = "CLI-03" if state.stray else "CLI-01"
            return blame(rule, f"{call.method} failed before it was answered: {told!s:.200}", after)
        why = f"{call.method} has a result before it was answered: {told!s:.200}"
        return blame("CLI-01", why, after, also="CLI-03" if state.stray else "")
    if call.outcome == "lost":
        if failed:
            return Allow(after, ids("CLI-04"))
        return blame("CLI-04", f"{call.method} has a result although it was not answered: {told!s:.200}", after)
    if call.outcome == "error":
        if failed:
            return Allow(after, (*ids("CLI-02 CLI-01"), *stray))
        why = f"{call.method} was answered with the error {values.describe(call.value, 60)} and has a result"
        return blame("CLI-02", f"{why}: {told!s:.200}", after)
    if failed:
        rule = "CLI-03" if state.stray else "CLI-02" if call.value in (None, False) else "CLI-01"
        return blame(rule, f"{call.method} was answered with a result and failed: {told!s:.200}", after)
    found = changed(call.value, result, state.config)
    if found is None:
        return Allow(after, (*ids("CLI-01 CLI-02"), *fmt("01 04 05 06"), *stray))
    name, level, why = found
    if level == "SHOULD":
        return Allow(after, (), (blame(name, why, level=level),))
    # only a result that names its call tells whose it is: any other may be alike by chance
    others = [other for other in state.calls if other is not call and isinstance(other.value, tuple)]
    if any(other.method in other.value and values.alike(other.value, result) for other in others):
        return blame("CLI-01", f"{call.method} got the result of another call: {values.describe(result, 100)}", after)
    if state.stray:  # that of a response with another id is a fault; that of a second one with its own, not quite
        own = any(values.alike(other, result) for other in call.again)
        return blame("CLI-03" if own else "CLI-01", f"result {why}", after, also="" if own else "CLI-03")
    return blame(name, f"result {why}", after)


def _outcome(told: dict[str, Any]) -> tuple[bool, Any]:
    """Whether a call is reported as failed, and its result, a Malformed when that cannot be read."""
    if "error" in told:
        return True, None
    found = told.get("ok")
    if not isinstance(found, dict):
        return False, None if found is None else Malformed("no result_hex")
    if "error_hex" in found and "result_hex" not in found:
        return True, None
    try:
        text = found.get("result_hex")
        return False, None if text is None else decoded(bytes.fromhex(text))[0]
    except Malformed as malformed:
        return False, malformed
    except (TypeError, ValueError):
        return False, Malformed("no hex")


def _closed(state: ClientState, event: Closed) -> Outcome:
    if event.by == "client" and not state.lost:
        unsent = [call.method for call in state.calls if call.op == "notify" and not call.sent]
        if unsent:
            return blame("NOTE-02", f"the client closed the connection and had not sent: notify {unsent[0]}")
    if event.by == "server" or state.left or state.lost or state.stray:
        return Allow(_lose(state)._replace(over=True, gone=True))
    open_calls = [call for call in state.calls if call.sent and not call.outcome and call.op != "notify"]
    if open_calls:
        return Breach("client", RPC + "CLI-01", f"the client closed the connection with {open_calls[0].method} open",
                      steady=True)  # fmt: skip
    return Allow(_lose(state)._replace(over=True, gone=True))


def _due(state: ClientState) -> tuple[str, str]:
    """What the client has to do next, and what is missing when it does not."""
    if not state.lost:
        # a client may send when it waits for something, and not before
        waits = [at for at, (op, _) in enumerate(state.told) if op in BLOCKING]
        for call in state.calls:
            later = any(method == call.method for _, method in state.told[waits[0] + 1 :]) if waits else True
            if not call.sent and not call.outcome and not later:
                rule = "NOTE-02" if call.op == "notify" else "REQ-01"
                return rule, f"nothing was sent for {call.op} {call.method}"
    if not state.told:
        return "", ""
    op, method = state.told[0]
    at = _find(state, method)
    if op in BLOCKING and at is not None:
        call = state.calls[at]
        if not call.outcome or (call.outcome == "lost" and not state.over):
            return "", ""  # what is no message may be passed over as long as the connection is there; MP-23
        rule = "CLI-04" if call.outcome == "lost" else "CLI-03" if state.stray else "CLI-01"
        if call.outcome == "error" and call.value in (False, 0, "", b"", ()):
            rule = "CLI-02"
        return rule, f"{op} does not end: {method} is settled ({call.outcome})"
    return ("NOTE-02" if op == "notify" else "REQ-01"), f"{op} does not end"
