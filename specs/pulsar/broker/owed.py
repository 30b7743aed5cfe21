"""What a broker has still to say, and what its silence means."""

from __future__ import annotations

from collections.abc import Iterator

from specs.events import Quiet
from specs.model import Allow, Breach, Outcome
from specs.pulsar.broker import pushing
from specs.pulsar.states import (
    RECEIPTS,
    Phase,
    State,
    blame,
    deaf,
    ids,
)

SLACK_MS = 1000
"""What is added to a keep-alive interval before anybody is blamed for being late."""
FREE_MS = 1000
"""Silence after which what a lost connection held must be free."""


def due(state: State) -> Iterator[tuple[str, str]]:
    """What the broker has still to say: the rule and why."""
    for number, conn in state.conns.items():
        if conn.must_close and conn.phase is Phase.SPOILT:
            yield conn.must_close, f"the connection {number} stays open: {conn.why}"
        if conn.phase is Phase.ASKED:
            where = f" at {conn.place}, which a lookup named" if conn.place else ""
            yield ("CONN-04" if conn.hello == "refusal" else "CONN-02"), f"CONNECT was not answered{where}"
        if conn.phase is not Phase.LIVE:
            continue
        if deaf(conn):
            continue
        for waiting in conn.requests.values():
            for each in waiting:
                if each.kind in ("PRODUCER", "SUBSCRIBE") and each.want != "success" and _probing(state):
                    continue  # it may ask first whether the one that has the place is still there
                if each.kind != "ACK" or (each.about is not None and conn.spoken >= RECEIPTS):
                    yield each.rule, f"{each.kind} was not answered"
        if conn.pings:
            yield "KA-02", "PING was not answered"
        for producer in conn.producers.values():
            for at in producer.sends:
                entry = state.entries[at]
                if entry.fate == "sent":
                    tag = next((t for t in entry.tags if t in ("FRM-08", "FRM-12", "CHK-08", "FRM-07")), "SEND-04")
                    yield tag, f"the send {entry.seq} was not answered"
                elif entry.rule == "CHK-04":
                    yield "CHK-05", f"the send {entry.seq} with a wrong checksum was not answered"
    yield from pushing.due(state)
    yield from pushing.dead(state)
    yield from pushing.ended(state)


def _probing(state: State) -> bool:
    """True while we have not answered a PING."""
    return any(conn.pinged for conn in state.conns.values())


def quiet(state: State, event: Quiet) -> Outcome:
    """Nothing was said for a while: what is late, and behind the last silence what never came."""
    conns = {
        number: conn._replace(
            low=conn.low + event.ms, up=conn.up + event.elapsed, idle=conn.idle + event.ms, age=conn.age + event.ms
        )
        for number, conn in state.conns.items()
    }
    state = state._replace(conns=conns, stale_ms=state.stale_ms + event.ms)
    if state.stale_ms >= FREE_MS and any(conn.phase in (Phase.LEFT, Phase.CLOSED) for conn in conns.values()):
        subs = {where: sub._replace(stale=False) if sub.stale else sub for where, sub in state.subs.items()}
        state = state._replace(subs=subs, lost={})
    wrong = _late(state)
    if wrong is not None:
        return wrong
    if not event.final:
        return Allow(state)
    lapses: list[Breach] = []
    # the address that a lookup names may be meant for others, and who is there for us another one
    strange = any(conn.place and conn.phase is Phase.ASKED for conn in conns.values())
    for rule, why in due(state):
        if rule == "CHK-05" or (rule == "CONN-02" and strange):
            lapses.append(blame(rule, why, state, level="SHOULD"))
            continue
        return blame(rule, why)
    covers = list(ids("FLOW-04 FLOW-03 E2E-01 SEND-05 REQ-02 ACK-09")) if state.entries else []
    covers += ids("ACK-01 ACK-02 ACK-05 ACK-06") if any(
        place.acked for sub in state.subs.values() for place in sub.places.values()) else ()  # fmt: skip
    covers += ids(" ".join(state.tried | state.done))
    if any(place.skip for sub in state.subs.values() if sub.members for place in sub.places.values()):
        covers += ids("SUB-10")
    if state.config.keepalive_ms and any(
        conn.phase is Phase.LIVE and conn.version and conn.age > 2 * state.config.keepalive_ms
        for conn in state.conns.values()
    ):  # fmt: skip
        covers += ids("KA-05 KA-06 KA-07")
    covers += ids("SEND-13") if len({entry.source for entry in state.entries}) > 1 else ()
    return Allow(state, tuple(covers), tuple(lapses))


def _late(state: State) -> Outcome | None:
    """What keep-alive demands of time."""
    keepalive = state.config.keepalive_ms
    if not keepalive:
        return None
    for number, conn in state.conns.items():
        if conn.phase is Phase.NEW and conn.low > 2 * keepalive + SLACK_MS:
            return blame("CONN-11", f"a connection on which nothing was said is open after {conn.low} ms")
        if conn.phase is not Phase.LIVE or conn.version < 1 or conn.may_close:
            continue
        if conn.low > 2 * keepalive + SLACK_MS and not conn.pinged:
            return blame("KA-03", f"no PING on the connection {number} in {conn.low} ms")
        if conn.low > 2 * keepalive + SLACK_MS and conn.pinged:
            return blame("KA-04", f"the connection {number} is open after {conn.low} ms without a sign of life")
    return None
