"""What the server still has to say or do: its duties, which are views of the state.

Source: 003_30478fd2f19f0da0.txt L107-127 (ERROR and close, MESSAGE after SUBSCRIBE), L250-263 (RECEIPT), STOMP 1.2
sections RECEIPT, ERROR, COMMIT. Where the text leaves deliveries free (prefetch, choice among subscribers, fate of what
a lost subscriber held) nothing is owed; docs/ambiguities.md says which reading was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Due
from specs.stomp import ids
from specs.stomp.machine import CLOSES, MACHINE, Phase
from specs.stomp.server.book import BOOK
from specs.stomp.server.case import Case, gravest
from specs.stomp.server.causes import NO_RECEIPT, NOT_CONNECTED, UNPROVOKED
from specs.stomp.server.causes_missing import MISSING
from specs.stomp.server.changes import alone, put, subscribers
from specs.stomp.server.refusals import MANY_OPEN, REFUSALS, named
from specs.stomp.states import Conn, Free, Message, Pending, Refusal, State, Sub, as_read

_REFUSED = " ".join(dict.fromkeys(name for call in REFUSALS for name in (call.requirement, *call.also)))

_CONNECTING = (Phase.WAIT, Phase.LEAVING)
"""Phases in which CONNECT is not answered yet."""
_SESSION = (Phase.LIVE, Phase.CLOSING)
"""Phases between CONNECTED and what ends the session."""
_READING = (Phase.OPEN, *_SESSION)
"""Phases, beside those of connecting, in which the server still reads frames."""


# -- answers -----------------------------------------------------------------------------------------------------------


@BOOK.duty(ids.CLEN_01, met_by="", also=ids.BODY_02, each=True)
def whole_body(number: int, conn: Conn) -> Due | str:
    """STOMP 1.2, Header content-length: the body has as many octets as it says; what follows tells what is missing."""
    return Due(conn.torn, about=(number, None)) if conn.torn else ""


@BOOK.duty(
    ids.CONNECT_02, met_by="CONNECTED, ERROR, close", when=_CONNECTING, each=True, causes=NOT_CONNECTED,
    shows=UNPROVOKED,
)  # fmt: skip
def answer_to_connect(number: int, conn: Conn) -> Due | str:
    """L43-49: a server that accepts the connection answers with CONNECTED."""
    if conn.connect is None or conn.connect.call is not None:
        return ""
    return Due("no answer to CONNECT", about=(number, conn.connect), level="MUST")


@BOOK.duty(ids.CONNECT_04, met_by="CONNECTED, ERROR, close", when=_CONNECTING, each=True)
def rejected_with_an_error(number: int, conn: Conn) -> Due | str:
    """L54-56: a server may reject the connection, and should say why in an ERROR."""
    if conn.connect is None or not isinstance(conn.connect.call, Free):
        return ""
    return Due("CONNECT was neither accepted nor refused", about=(number, conn.connect))


@BOOK.duty("STOMP-1.2-ERROR-01", met_by="close after ERROR", when=(Phase.FAILED,), each=True)
def close_after_error(number: int, conn: Conn) -> Due | str:
    """L230-232: the server must close the connection just after it has sent the ERROR."""
    if conn.version != "1.2":
        return ""
    return Due("the connection stayed open after ERROR", about=(number, None), forgive=partial(_given_up, number))


def _given_up(number: int, state: State) -> State:
    conn = state.conns[number]
    return put(state, number, conn._replace(phase=MACHINE.move(conn.phase, CLOSES)))


@BOOK.duty(_REFUSED, met_by="ERROR, close", when=(*_CONNECTING, *_READING), each=True)
def refusal_of_a_frame(number: int, conn: Conn) -> Due | str:
    """What a client frame calls for is declared in refusals.py, and calls.py says when."""
    found = _refused(conn)
    if found is None or not isinstance(found.call, Refusal):
        return ""
    call = found.call
    name, *also = named(call, call.ignored, unanswered=True)
    return Due(
        f"neither ERROR nor a close ({call.why or found.frame.command})",
        about=(number, found),
        kind=found.frame.command if found.frame.command.isalpha() else "",
        requirement=name,
        level=call.ignored,
        also=tuple(also),
    )


def _refused(conn: Conn) -> Pending | None:
    """The first frame that had to be refused and was not yet."""
    if conn.phase in _CONNECTING:
        return conn.connect
    if conn.doom is None:
        return None
    return next(p for p in conn.pending if p.call is conn.doom)


@BOOK.duty(ids.INV_16, met_by="ERROR, close", when=_READING, also=ids.CLEN_02, each=True)
def refusal_of_octets(number: int, conn: Conn) -> Due | str:
    """STOMP 1.2, Header content-length: NUL must follow the body. 1.0 says that so many octets should be read."""
    if conn.lost != ids.CLEN_02 or conn.doom is not None:
        return ""
    why = "octets follow the body where NUL must stand, and the connection stayed open"
    return Due(why, about=(number, None), level="SHOULD" if conn.version == "1.0" else None)


@BOOK.duty(ids.INV_39, met_by="RECEIPT, ERROR, close", when=_SESSION, each=True)
def answer_to_too_much(number: int, conn: Conn) -> list[Due]:
    """STOMP 1.2, Size Limits: a frame beyond the limits gets an ERROR and a close, or is taken."""
    return [
        Due(
            f"a {p.frame.command} of enormous size was neither receipted nor refused",
            about=(number, p),
            level="SHOULD",
            forgive=partial(_not_asked, number, p),
        )
        for p in _receipts(conn)
        if _too_much(p)
    ]


@BOOK.duty(ids.RECEIPT_01, met_by="RECEIPT", when=_SESSION, each=True, causes=NO_RECEIPT, shows=UNPROVOKED)
def receipt(number: int, conn: Conn) -> list[Due]:
    """L194-212, L250-254: a frame that asks for a receipt gets it once it was processed."""
    return [
        Due(
            f"no RECEIPT for {p.frame.command} with receipt {p.receipt!r:.60}",
            about=(number, p),
            kind=p.frame.command,
            forgive=partial(_not_asked, number, p),
        )
        for p in _receipts(conn)
        if not _too_much(p)
    ]


def _too_much(pending: Pending) -> bool:
    return isinstance(pending.call, Free) and pending.call.requirement == ids.LIMIT_02


def _receipts(conn: Conn) -> list[Pending]:
    """Frames whose RECEIPT is due, those that may be refused for a limit among them: not those behind a refused frame,
    nor those of an open or aborted transaction."""
    found: list[Pending] = []
    for p in () if conn.lost else conn.pending:
        if isinstance(p.call, Refusal):
            break
        asked = p.call is None or _too_much(p) or p.call in MANY_OPEN.values()
        if asked and p.receipt is not None and p.due and (p.tx is None or p.tx not in conn.txs):
            found.append(p)
    return found


def _not_asked(number: int, pending: Pending, state: State) -> State:
    """The state in which a RECEIPT is no longer waited for: the frame may have been processed all the same."""
    conn = state.conns[number]
    known = tuple(p._replace(due=False) if p is pending else p for p in conn.pending)
    return put(state, number, conn._replace(pending=known))


# -- deliveries --------------------------------------------------------------------------------------------------------


@BOOK.duty(ids.SUB_05, met_by="MESSAGE", causes=MISSING)
def copy_for_each_subscriber(state: State) -> list[Due]:
    """L119-127: messages that come to a subscribed destination are delivered as MESSAGE. With fan-out, to everyone."""
    found: list[Due] = []
    for serial, sub_serial in state.due:
        sub = _sub(state, sub_serial)
        if sub is None or sub.closing or sub.vague or not idle(state, sub):
            continue
        message = state.messages[serial]
        if message.kind is None or message.kind.copies or alone(state, sub):
            found.append(_delivery(message, sub))
    return found


@BOOK.duty(ids.SUB_05, met_by="MESSAGE", causes=MISSING)
def message_for_any_of_them(state: State) -> list[Due]:
    """L119-127: at a queue every subscriber is free to take a message, and one of them must get it."""
    found: list[Due] = []
    for place, queue in state.waiting.items():
        if not queue:
            continue
        takers = subscribers(state, place)
        if not takers or not all(sub.sure and not sub.vague and idle(state, sub) for sub in takers):
            continue
        for serial in queue:
            message = state.messages[serial]
            if message.at_ms < state.haunted.get(as_read(place, state.config), 0):
                continue
            own = message.kind is not None and message.kind.own
            if own or all(sub.conn != message.conn for sub in takers):
                found.append(_delivery(message, takers[0]))
    return found


def _delivery(message: Message, sub: Sub) -> Due:
    why = f"the message {message.frame.body[:40]!r} sent to {message.destination!r:.60} never came to {sub.id!r:.40}"
    return Due(
        why,
        about=(message, sub),
        kind=sub.ack,
        steady=sub.ack == "auto",
        forgive=lambda state: _never_mind(state, message, sub),
    )


def _never_mind(state: State, message: Message, sub: Sub) -> State:
    """The state in which a delivery is no longer waited for."""
    return state._replace(
        due=tuple(pair for pair in state.due if pair != (message.serial, sub.serial)),
        waiting={place: tuple(m for m in queue if m != message.serial) for place, queue in state.waiting.items()},
    )


def _sub(state: State, serial: int) -> Sub | None:
    for conn in state.conns.values():
        if conn.phase is Phase.LIVE and conn.doom is None and not conn.lost:
            for sub in conn.subs.values():
                if sub.serial == serial:
                    return sub
    return None


def idle(state: State, sub: Sub) -> bool:
    """True unless the server may be holding back because of what was not acknowledged, or may not have been: of a
    delivery that was freed nobody knows, and what came again elsewhere may have been there before. Whether each
    subscription has a window of its own or all of a connection share one is the server's choice; but what belonged to
    a subscription that is gone can be acknowledged no more, and takes no room."""
    if sub.ack == "auto":
        return True
    there = {other.serial for other in state.conns[sub.conn].subs.values()}
    return not any(
        d.conn == sub.conn and d.mode != "auto" and d.fate in ("out", "freed") and d.sub in there
        for d in state.deliveries.values()
    )


# -- what becomes of them ----------------------------------------------------------------------------------------------


def refused(case: Case) -> tuple[str, ...]:
    """What an end shows of a frame that had to be refused: `refusal_of_a_frame` is met."""
    call = gravest(case).call
    if not isinstance(call, Refusal):
        return ()
    spared = (call.spares,) if call.spares else ()
    return BOOK.met_one(refusal_of_a_frame, case, call.requirement, *call.also, *spared)


def owed(state: State) -> Iterator[str]:
    """Requirements by which it is still the server's turn."""
    return BOOK.owed(state)


def at_silence(state: State) -> Outcome | None:
    """What a silence breaks in which the server was given all the patience of the run; None when nothing was owed."""
    lapses: tuple[Breach, ...] = ()
    while True:
        duty = next(BOOK.open(state), None)
        if duty is None:
            return Allow(state, lapses=lapses) if lapses else None
        if duty.due.level == "":
            return Allow(ANYTHING, lapses=lapses)
        breach = BOOK.missed(duty, _case(state, duty.due))
        if isinstance(duty.due.about[0], Message):
            breach = replace(breach, about=f"{duty.due.about[0].serial}")
        if breach.level == "" or BOOK.level(breach) != "MUST":
            lapses += (breach,)
            if breach.behind is None:
                return Allow(ANYTHING, lapses=lapses)
            state = breach.behind
            continue
        return breach


def _case(state: State, due: Due) -> Case:
    first, second = due.about
    if isinstance(first, Message):
        number = second.conn
        return Case(state, number, state.conns[number], sent=first, sub=second, text=due.why)
    return Case(state, first, state.conns[first], about=second, text=due.why)
