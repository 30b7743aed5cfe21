"""How a connection to a broker ends, octets that are no frame, and what is seen beside the wire."""

from __future__ import annotations

from dataclasses import replace

from specs.events import Closed, Fact, Noise
from specs.model import Allow, Breach, Outcome
from specs.pulsar.broker import consuming, producing
from specs.pulsar.broker.requests import spoilt
from specs.pulsar.states import (
    CLOSES,
    NEXT,
    SURVIVED,
    Conn,
    Phase,
    State,
    blame,
    ids,
)


def closed(state: State, event: Closed) -> Outcome:
    """One side ended the connection."""
    conn = state.conn(event.conn)
    phase = NEXT[conn.phase][f"{event.by} close"]
    if event.by == "client" and event.how.startswith("eof"):
        state = spoilt(state, event.conn, "INV-BROKER-44", "our side has ended", must=False)
        return Allow(state)
    config = state.config
    if (
        event.by == "broker"
        and not (conn.must_close or conn.may_close)
        and conn.phase not in (Phase.LEFT, Phase.CLOSED)
        and not (conn.place and conn.phase in (Phase.NEW, Phase.ASKED))
    ):
        wrong = _unprovoked(state, event.conn, conn, config.keepalive_ms)
        if wrong is not None:
            # who is too old to be told that the broker closed what it has open loses the connection: always is not that
            old = conn.version < CLOSES and bool(conn.producers or conn.consumers)
            return replace(wrong, steady=wrong.steady or old)
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    if event.by == "broker":
        if conn.must_close:
            covers = ids(conn.must_close)
        elif conn.may_close in SURVIVED:
            lapses = (blame(conn.may_close, f"the broker closed the connection after {conn.why}", state),)
        elif conn.may_close:
            covers = ids(conn.may_close)
        elif conn.pinged:
            covers = ids("KA-04")
        elif conn.phase is Phase.NEW:
            covers = ids("CONN-11")
        elif conn.version < 4:
            covers = ids("BAT-11 CMP-04")
    return Allow(_ended(_doubted(state, conn), event.conn, phase), covers, lapses)


def _doubted(state: State, conn: Conn) -> State:
    """Whether an UNSUBSCRIBE that was not answered was carried out, nobody knows."""
    for waiting in conn.requests.values():
        for request in waiting:
            consumer = conn.consumers.get(request.about) if request.kind == "UNSUBSCRIBE" else None
            sub = None if consumer is None else state.subs.get(consumer.sub)
            if consumer is not None and sub is not None:
                state = state.put_sub(consumer.sub, sub._replace(doubted=True))
    return state


def _unprovoked(state: State, number: int, conn: Conn, keepalive: int) -> Breach | None:
    if number not in state.conns or (conn.phase is Phase.NEW and (not keepalive or conn.up >= keepalive // 2)):
        return None
    if keepalive and conn.pinged and conn.up + 100 >= keepalive:
        return None
    if conn.pinged and not keepalive:
        return None  # nobody knows how long it waits for a sign of life
    if conn.version < 4 and any(entry.batched or "CMP-01" in entry.tags for entry in state.entries):
        return None  # it cannot be told what is there for it
    if conn.version < 1 and keepalive and conn.up + 100 >= keepalive:
        return None  # who must not be asked for a sign of life may be taken for dead
    if conn.midway and (not keepalive or conn.up + 100 >= keepalive):
        return None
    why = "the broker closed a connection on which nothing was wrong"
    if state.tried and not any(conn.requests.values()):
        return blame(min(state.tried), f"{why}: something odd was said", level="MUST")
    for waiting in conn.requests.values():
        return blame(waiting[0].rule, f"{why}: {waiting[0].kind} is open", level="MUST")
    for producer in conn.producers.values():
        for at in producer.sends:
            tag = next((t for t in state.entries[at].tags if t in ("FRM-08", "FRM-12", "CHK-08", "FRM-07")), "")
            if state.entries[at].fate == "sent":
                # it may have crossed a CLOSE_PRODUCER that the end of the connection has swallowed: always is not that
                return replace(blame(tag or "SEND-04", f"{why}: a SEND is open"), steady=not tag)
    rule = "FRM-13" if state.bad else "CONN-02" if conn.phase is Phase.ASKED else "KA-05"
    return blame(rule, why)


def _ended(state: State, number: int, phase: Phase) -> State:
    """A connection is over: everything on it is gone, as far as the broker has noticed."""
    conn = state.conn(number)
    for name in conn.consumers:
        state = consuming.left(state, (number, name), lost=True)
    for name in conn.producers:
        state = producing.gone(state, (number, name), lost=True)
    conn = state.conn(number)
    state = state._replace(stale_ms=0)
    return state.put(number, conn._replace(phase=phase, requests={}, pings=(), acks=(), must_close="", midway=False))


def noise(state: State, event: Noise) -> Outcome:
    """Octets that are no frame."""
    if event.by == "client":
        rule = {"over-limit": "FRM-10"}.get(event.why, "FRM-14" if event.why == "command-size" else "FRM-13")
        if event.why in ("no-command", "no-sub-message"):
            rule = "INV-BROKER-08" if event.why == "no-command" else "INV-BROKER-10"
            if event.why == "no-command" and _unknown_type(event.data):
                return Allow(spoilt(state, event.conn, "INV-BROKER-09", "a command of an unknown type", must=False))
        return Allow(spoilt(state, event.conn, rule, f"octets that are no frame: {event.why}"))
    rule = "FRM-09" if event.why == "over-limit" else "FRM-02" if event.why == "command-size" else "FRM-05"
    return blame(rule, f"the broker sent octets that are no frame: {event.why}")


def _unknown_type(data: bytes) -> bool:
    """True for a command whose only fault is a type that nobody knows."""
    return len(data) > 9 and data[8] == 8 and not (2 <= data[9] <= 40)


def fact(state: State, event: Fact) -> Outcome:
    """What is seen beside the wire."""
    if event.name == "reach":
        return Allow(state.put(event.conn, state.conn(event.conn)._replace(place=str(event.value))))
    if event.name == "octets" and event.by == "client":
        return Allow(state.put(event.conn, state.conn(event.conn)._replace(midway=True)))
    if event.name == "refused":
        rule = "FRM-13" if state.bad else "CONN-02"
        return blame(rule, f"the broker takes no more connections: {event.value!s:.200}")
    return Allow(state)
