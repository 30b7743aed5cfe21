"""Changes of the state that several frames and ends share: what is owed to whom, and the fate of deliveries.

Source: 003_30478fd2f19f0da0.txt L77-193, STOMP 1.2 sections SUBSCRIBE and ACK.
"""

from __future__ import annotations

from collections.abc import Iterable

from specs.stomp.machine import Phase
from specs.stomp.states import Conn, Delivery, State, Sub, as_read


def put(state: State, number: int, conn: Conn, serial: int | None = None) -> State:
    """`state` with one connection changed."""
    conns = {**state.conns, number: conn}
    return state._replace(conns=conns) if serial is None else state._replace(conns=conns, serial=serial)


def expect(state: State, serials: Iterable[int]) -> State:
    """Messages that the server must now deliver, where anyone is there for sure to get them."""
    due, waiting = list(state.due), dict(state.waiting)
    for serial in serials:
        message = state.messages[serial]
        if message.kind is None or message.loose or message.behind or message.never:
            continue
        takers = [sub for sub in subscribers(state, message.destination) if sub.sure]
        if message.tx is not None and not message.kind.keeps:
            # it may be given to those who are there when it is sent, or when it is committed
            takers = [sub for sub in takers if sub.since < serial]
        if message.kind.fanout:
            reached = [sub for sub in takers if message.kind.own or sub.conn != message.conn]
            due += [(serial, sub.serial) for sub in reached if message.kind.copies or alone(state, sub)]
        elif message.kind.keeps or takers:
            waiting[message.destination] = (*waiting.get(message.destination, ()), serial)
    return state._replace(due=tuple(due), waiting=waiting)


def subscribers(state: State, destination: str) -> list[Sub]:
    """Subscriptions of `destination` that are open as far as the tester knows."""
    return [
        sub
        for conn in state.conns.values()
        if conn.phase is Phase.LIVE and conn.doom is None
        for sub in conn.subs.values()
        if destination in sub.destinations and not sub.closing
    ]


def alone(state: State, sub: Sub) -> bool:
    """True when no other subscription of its connection may get what `sub` gets: names that are one to the server are
    one destination."""
    mine = {as_read(place, state.config) for place in sub.destinations}
    others = (other for other in state.conns[sub.conn].subs.values() if other.serial != sub.serial)
    return not any(as_read(place, state.config) in mine for other in others for place in other.destinations)


def departed(state: State, subs: Iterable[Sub]) -> State:
    """Subscriptions that end: nothing more is owed to them, and what they held may go anywhere or nowhere."""
    gone = {sub.serial for sub in subs}
    if not gone:
        return state
    places = {as_read(place, state.config) for sub in subs for place in sub.destinations}
    deliveries = {
        serial: d._replace(fate="freed") if d.sub in gone and d.fate in ("out", "acked") else d
        for serial, d in state.deliveries.items()
    }
    return state._replace(
        due=tuple(pair for pair in state.due if pair[1] not in gone),
        waiting={place: queue for place, queue in state.waiting.items() if as_read(place, state.config) not in places},
        deliveries=deliveries,
    )


def covered_by(state: State, delivery: Delivery) -> list[Delivery]:
    """The deliveries that an acknowledgement of `delivery` is about: in client mode all earlier open ones as well."""
    if delivery.mode != "client":
        return [delivery]
    return [
        d
        for d in state.deliveries.values()
        if d.sub == delivery.sub and d.serial <= delivery.serial and d.fate == "out"
    ]


def settle(state: State, delivery: Delivery, fate: str, by: str) -> State:
    """Give a delivery and those that it covers their fate; what another transaction holds becomes free to go anywhere:
    the text does not say which of two acknowledgements of one message counts."""
    changed = {}
    for d in covered_by(state, delivery):
        if d.fate == "settled":
            continue
        if d.tx != delivery.tx or (d is not delivery and state.conns[d.conn].version == "1.0"):
            changed[d.serial] = d._replace(fate="freed")  # 1.0 does not say whether an ACK is cumulative
        else:
            changed[d.serial] = d._replace(fate=fate, by=by if d is delivery else f"{by} cumulative")
    return state._replace(deliveries={**state.deliveries, **changed})
