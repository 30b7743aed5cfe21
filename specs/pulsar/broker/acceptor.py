"""The acceptor of a broker: what the text allows it to answer to what a client said.

Source: 001_c0ea8805bb7ed422.txt, "Interactions". An envelope: whatever was asked stays open until it is answered, and
nothing depends on when the broker read it, so one reading is sound in lock-step and with any number of frames on their
way, on any number of connections.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.pulsar.broker import duties, effects_heard, forms_answers, forms_connection, forms_deliveries, forms_sends
from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import At, Case, Owing, action_of
from specs.pulsar.broker.effects_heard import over
from specs.pulsar.broker.effects_said import misused, said
from specs.pulsar.calls import Misuse
from specs.pulsar.machine import BROKER, OVER
from specs.pulsar.states import State

FREE_MS = 1000
"""Silence after which what a lost connection held must be free."""
RULES = (duties, effects_heard, forms_answers, forms_connection, forms_deliveries, forms_sends)
"""Where the rules are."""
AT_REST = ("rest", "answers at rest", "sends at rest", "messages at rest")
"""Topics that are asked when nothing is owed any more."""


class BrokerModel:
    """See the module."""

    def initial(self, config: Any) -> State:
        """Nothing said on any connection."""
        return State(config)

    def owed(self, state: State, role: str) -> Iterator[str]:
        """The rules of what the broker has still to say."""
        return BOOK.owed(Owing(state)) if role == "broker" else iter(())

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        state = state._replace(clock=state.clock + 1)
        if isinstance(event, Said):
            if event.by == "client":
                return (Allow(said(state, event.conn, event.frame)),)
            return (_heard(state, event),)
        if isinstance(event, Quiet):
            return (_quiet(state, event),)
        if isinstance(event, Closed):
            return (_closed(state, event),)
        if isinstance(event, Noise):
            return (_noise(state, event),)
        return (_fact(state, event),)


def _judged(case: Case, action: str, first: str = "") -> Outcome:
    """What the rulebook says of an action, with the phase put where it belongs."""
    found = BOOK.judge(case, action, first)
    if isinstance(found, Allow):
        return Allow(_state(case.number, found.state), found.covers, found.lapses, found.leans)
    return BOOK.broken(found, _state(case.number, found.then), _state(case.number, found.behind))


def _state(number: int, at: At | Any) -> Any:
    if not isinstance(at, At):
        return at
    conn = at.state.conn(number)
    return at.state if conn.phase is at.phase else at.state.put(number, conn._replace(phase=at.phase))


def _heard(state: State, event: Said) -> Outcome:
    """What the broker said."""
    case = Case(state, event.conn, event.frame)
    if case.phase in OVER:
        return Allow(state)
    action = action_of(case)
    if action == "answers":
        case.during = case.request.asked.name
    return _judged(case, action, "frame")


def _noise(state: State, event: Noise) -> Outcome:
    """Octets that are no frame."""
    if event.by != "client":
        case = Case(state, event.conn, event=event)
        return Allow(state) if case.phase in OVER else _judged(case, "garbles")
    why = f"octets that are no frame: {event.why}"
    if event.why == "no-command" and _unknown_type(event.data):
        return Allow(misused(state, event.conn, Misuse.UNKNOWN_TYPE, "a command of an unknown type"))
    return Allow(misused(state, event.conn, _NOISES.get(event.why, Misuse.NO_FRAME), why, "misuses"))


_NOISES = {
    "over-limit": Misuse.OVER_LIMIT, "command-size": Misuse.SIZES, "no-command": Misuse.NO_COMMAND,
    "no-sub-message": Misuse.NO_SUB_MESSAGE,
}  # fmt: skip
"""What octets of the tester that are no frame are."""


def _unknown_type(data: bytes) -> bool:
    """True for a command whose only fault is a type that nobody knows."""
    return len(data) > 9 and data[8] == 8 and not (2 <= data[9] <= 40)


def _closed(state: State, event: Closed) -> Outcome:
    """One side ended the connection."""
    number = event.conn
    if event.by == "client" and event.how.startswith("eof"):
        return Allow(misused(state, number, Misuse.HALF_CLOSED, "our side has ended"))
    conn = state.conn(number)
    if conn.phase in OVER:
        return Allow(over(state, number))
    if event.by == "client":
        phase = BROKER.move(conn.phase, "leaves")
        state = over(state, number)
        return Allow(state.put(number, state.conn(number)._replace(phase=phase)))
    return _judged(Case(state, number, event=event), "ends")


def _fact(state: State, event: Fact) -> Outcome:
    """What is seen beside the wire."""
    if event.name == "reach":
        return Allow(state.put(event.conn, state.conn(event.conn)._replace(place=str(event.value))))
    if event.name == "octets" and event.by == "client":
        return Allow(state.put(event.conn, state.conn(event.conn)._replace(midway=True)))
    if event.name == "refused":
        found = BOOK.ask("taken", Case(state, event.conn, event=event))
        return found.breach or Allow(state, found.covers, found.lapses)
    return Allow(state)


def _quiet(state: State, event: Quiet) -> Outcome:
    """Nothing was said for a while: what is late, and behind the last silence what never came."""
    conns = {
        number: conn._replace(
            low=conn.low + event.ms, up=conn.up + event.elapsed, idle=conn.idle + event.ms, age=conn.age + event.ms,
            waited=conn.waited + event.ms if conn.pings else 0, since=conn.since + event.elapsed,
        )
        for number, conn in state.conns.items()
    }  # fmt: skip
    state = state._replace(conns=conns, stale_ms=state.stale_ms + event.ms)
    if state.stale_ms >= FREE_MS and any(conn.phase in OVER for conn in conns.values()):
        subs = {where: sub._replace(stale=False) if sub.stale else sub for where, sub in state.subs.items()}
        state = state._replace(subs=subs, lost={})
    late = _late(state)
    if isinstance(late, Breach) or not event.final:
        return late
    return _at_rest(state, late.covers, late.lapses)


def _late(state: State) -> Allow | Breach:
    """What is asked of time."""
    covers: tuple[str, ...] = ()
    lapses: tuple[Breach, ...] = ()
    for number in state.conns if state.config.keepalive_ms else ():
        found = BOOK.ask("time", Case(state, number))
        covers, lapses = covers + found.covers, lapses + found.lapses
        if found.breach is not None:
            return found.breach
    return Allow(state, covers, lapses)


def _at_rest(state: State, covers: tuple[str, ...], lapses: tuple[Breach, ...]) -> Outcome:
    """Nothing comes any more: whatever is owed is missing."""
    case = Case(state, -1)
    for duty in BOOK.open(Owing(state)):
        about = duty.due.about
        seen = case if about is None else duties.missing(state, about)
        found = BOOK.missed(duty, seen)
        if BOOK.level(found) == "MUST":
            return found
        lapses += (found,)
    for topic in AT_REST if state.conns else ():
        rest = BOOK.ask(topic, case)
        covers, lapses = covers + rest.covers, lapses + rest.lapses
        if rest.breach is not None:
            return rest.breach
    return Allow(state, covers, lapses)


__all__ = ["ANYTHING", "BrokerModel"]
