"""The model of a client: each event goes to the rules or effects that know of it.

What the tester tells the client stands in the trace as a Fact of the server. A client does one thing after the other;
while it waits for the server nothing is owed. The state is an envelope, as that of a server is (specs/stomp/model.py):
nothing is owed before a final silence, and a frame is judged by what had been said and told before it arrived.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Finding
from specs.stomp.client.book import BOOK
from specs.stomp.client.case import Case, Reported, begun
from specs.stomp.client.effects_said import garbled, said, silent
from specs.stomp.client.effects_told import told
from specs.stomp.client.machine import BEATS, CONNECTS, ENDS, LEAVES, NONSENSE, SETTLING, WORK, K
from specs.stomp.client.state import ClientState
from specs.stomp.client.written import marks_of
from specs.stomp.frames import is_beat
from specs.stomp.states import Config

_ACTIONS = frozenset((*WORK, *SETTLING, LEAVES))


class ClientModel:
    """See the module."""

    def initial(self, config: Config) -> ClientState:
        """Nothing done."""
        return ClientState(config)

    def owed(self, state: ClientState, role: str) -> Iterator[str]:
        """What the client has still to say or to report."""
        return BOOK.owed(state) if role == "client" else iter(())

    def step(self, state: ClientState, event: Event) -> Iterable[Outcome]:
        """One reading, but for a BEGIN: an id that the client made does not say which transaction it begins."""
        if isinstance(event, Quiet):
            return (_quiet(silent(state, event), final=event.final),)
        if isinstance(event, Fact):
            return (_fact(state, event),)
        if event.by == "client":
            return _begins(state, event) or (_from_client(state, event),)
        if isinstance(event, Said):
            return (Allow(said(state, event.frame)._replace(parted=False)),)
        if isinstance(event, Noise):
            return (Allow(garbled(state, event)),)
        return (Allow(told(state, "drop", None)),)


def _begins(state: ClientState, event: Event) -> tuple[Outcome, ...]:
    """Several readings of a BEGIN, if there are several."""
    if not isinstance(event, Said) or event.frame.command != "BEGIN" or state.lost:
        return ()
    places = begun(state, event.frame)
    state = state._replace(silent_ms=0)
    cases = [Case(state, "BEGIN", event.frame, at=at) for at in places] if len(places) > 1 else []
    return tuple(BOOK.judge(case, "BEGIN", "frame") for case in cases)


def _from_client(state: ClientState, event: Said | Noise | Closed) -> Outcome:
    state = state._replace(silent_ms=0) if state.silent_ms else state
    if isinstance(event, Closed):
        return BOOK.judge(Case(state, ENDS), ENDS) if state.phase is not K.OVER else Allow(state)
    if state.lost:
        return Allow(state)  # what it says when its connection may have ended is not looked at
    if isinstance(event, Noise):
        return BOOK.judge(Case(state, NONSENSE, text=f"{event.why}: {event.data[:60]!r}"), NONSENSE)
    frame = event.frame
    if is_beat(frame):
        return BOOK.judge(Case(state, BEATS, frame), BEATS)
    if frame.command in (CONNECTS, "STOMP"):
        return BOOK.judge(Case(state, CONNECTS, frame), CONNECTS, "frame")
    if frame.command in _ACTIONS:
        return BOOK.judge(Case(state, frame.command, frame), frame.command, "frame")
    return BOOK.judge(Case(state, NONSENSE, frame), NONSENSE, "frame")


def _fact(state: ClientState, event: Fact) -> Outcome:
    if event.by == "server":
        if event.name == "octets":
            return Allow(state._replace(parted=True, mute_ms=0, still_ms=0))  # whoever is writing a frame is not silent
        if event.name == "written":
            return Allow(state._replace(written=marks_of(event.value)))
        return Allow(told(state, event.name, event.value))
    if event.name in ("exit", "refused"):
        return _only(BOOK.ask("ends", Case(state, event.name, text=f"{event.value!s:.200}")))
    if event.name != "answer" or not state.told:
        return Allow(state)
    case = Reported(state, event.value if isinstance(event.value, dict) else {})
    return BOOK.judge(case, "reports")


def _only(found: Finding) -> Breach:
    assert found.breach is not None
    return found.breach


def _quiet(state: ClientState, *, final: bool) -> Outcome:
    """Time has passed. A recommendation that was missed when nothing more will come is not waited for again."""
    found = BOOK.ask("pause", Case(state, "pause"))
    if found.breach is not None:
        return BOOK.broken(found.breach, ANYTHING, state._replace(silent_ms=0))
    lapses: tuple[Breach, ...] = ()
    while final:
        duty = next(BOOK.open(state), None)
        if duty is None:
            break
        case = Case(state, "silence", text=duty.due.why)
        breach = BOOK.missed(duty, case)
        if BOOK.level(breach) == "MUST" or breach.behind is None:
            return breach
        lapses, state = (*lapses, breach), breach.behind
    return Allow(state, (), lapses)
