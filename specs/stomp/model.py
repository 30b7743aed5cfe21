"""The STOMP server's acceptor: which answers the text allows to what a client said.

Source: 003_30478fd2f19f0da0.txt L43-56 (CONNECTED), L214-248 (server frames), L250-263 (RECEIPT) and STOMP 1.2
sections CONNECTED Frame, RECEIPT, ERROR, Heart-beating, Connection Lingering.

The state is an envelope: it knows for everything the tester said whether it may, must or must never show. An answer is
judged by what had been said before it arrived, so that the same model is sound in lock-step and with any number of
frames on the wire; nothing is owed before the peer was given its patience (`Quiet(final=True)`). This module brings
each event to the rules of specs/stomp/server.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.machine import Never
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.stomp.frames import SERVER_COMMANDS, Frame, is_beat
from specs.stomp.machine import MACHINE, OTHER, Phase
from specs.stomp.server import duties, forms_answers, forms_endings, forms_frames, forms_messages, presumed
from specs.stomp.server.book import BOOK, outcome
from specs.stomp.server.case import Case
from specs.stomp.server.changes import put
from specs.stomp.server.effects_heard import aged, garbled, heard
from specs.stomp.server.effects_said import said
from specs.stomp.states import NORMAL, Config, Conn, State


class StompModel:
    """See the module."""

    def initial(self, config: Config) -> State:
        """Nothing said on any connection."""
        return State(config)

    def owed(self, state: State, role: str) -> Iterator[str]:
        """Requirements by which the server still has something to say."""
        if role != "server":
            return iter(())
        return chain((breach.requirement for _, breach in state.presumed), duties.owed(state))

    def step(self, state: State, event: Event) -> Iterable[Outcome]:
        """One reading, but for a RECEIPT that may be about several frames, and a MESSAGE that shows that another
        connection may have ended."""
        if state.presumed:
            return map(presumed.known_by_now, _step(state, event))
        return _step(state, event)


def _step(state: State, event: Event) -> Iterable[Outcome]:
    if isinstance(event, Said):
        if event.by == "client":
            return (_said(state, event),)
        return _answer(state, event.conn, event.frame)
    if isinstance(event, Quiet):
        return (_quiet(state, event),)
    if isinstance(event, Closed):
        return (_torn(state, event, rest=False) or forms_endings.closed(state, event),)
    if isinstance(event, Noise):
        return (_torn(state, event, rest=True) or _noise(state, event),)
    return (_fact(state, event),)


def _said(state: State, event: Said) -> Outcome:
    sizes = state.config.sizes
    if sizes != NORMAL and sizes.exceeded(event.frame) and not NORMAL.exceeded(event.frame):
        return Allow(ANYTHING)  # beyond what this server takes: what it makes of it decides all else
    return Allow(said(state, event.conn, event.frame))


def _answer(state: State, number: int, frame: Frame) -> Iterable[Outcome]:
    """What the server says."""
    conn = state.conns.get(number) or Conn()
    if conn.torn:
        return (forms_frames.torn(state, number, conn, rest=forms_frames.is_no_frame_of_a_server(frame)),)
    if conn.silent_ms:
        conn = conn._replace(silent_ms=0)
        state = put(state, number, conn)
    if is_beat(frame):
        return (forms_frames.beat(state, number, conn, frame),) if conn.phase is not Phase.CLOSED else (Allow(state),)
    cell = MACHINE.at(conn.phase, frame.command if frame.command in SERVER_COMMANDS else OTHER)
    if conn.phase is Phase.CLOSED:
        return (Allow(state),)  # the tester hung up; what was under way may still be read
    case = Case(state, number, conn, frame)
    if isinstance(cell, Never):
        return (forms_answers.out_of_phase(case, cell),)
    if not forms_frames.odd(frame):
        return _judged(case, ())
    form = BOOK.ask("frame", case)
    if form.breach is None:
        return [_beside(found, form.lapses) for found in _judged(case, form.covers)]
    after = next(iter(_judged(case, ())))
    return (outcome(form, after.state if isinstance(after, Allow) else after.behind),)


def _beside(found: Outcome, lapses: tuple[Breach, ...]) -> Outcome:
    return Allow(found.state, found.covers, lapses + found.lapses, found.leans) if isinstance(found, Allow) else found


def _judged(case: Case, shown: tuple[str, ...]) -> Iterable[Outcome]:
    command = case.frame.command
    if command == "MESSAGE":
        found = forms_messages.message(case.state, case.number, case.conn, case.frame, shown)
        return presumed.or_it_has_ended(case, found) if isinstance(found, Breach) else (found,)
    if command == "RECEIPT":
        return forms_answers.received(case, shown)
    if command == "CONNECTED":
        return (forms_answers.connected(case, shown),)
    return (forms_endings.error(case, shown),)


def _quiet(state: State, event: Quiet) -> Outcome:
    if event.ms or event.elapsed:
        late = forms_frames.paused(state, event)
        if late is not None:
            return late
        state = aged(state, event.ms, max(event.ms, event.elapsed))
    if not event.final:
        return Allow(state, tuple(forms_endings.idle(state)))
    found = presumed.at_silence(state) or duties.at_silence(state)
    if found is not None:
        return found
    return Allow(state, (*forms_messages.unseen(state), *forms_answers.never_again(state)))


def _noise(state: State, event: Noise) -> Outcome:
    conn = state.conns.get(event.conn) or Conn(version=state.config.version)
    if event.by == "client":
        return Allow(garbled(state, event.conn, conn, event))
    if conn.phase is Phase.CLOSED:
        return Allow(state)
    return forms_frames.octets(state, event.conn, conn, event)


def _fact(state: State, event: Fact) -> Outcome:
    conn = state.conns.get(event.conn) or Conn(version=state.config.version)
    if event.name == "refused":
        return outcome(BOOK.ask("refused", Case(state, event.conn, conn, text=f"{event.value!r:.120}")), state)
    if event.name == "octets":
        return Allow(heard(state, event.conn, conn, event.by, event.value))
    return Allow(state)


def _torn(state: State, event: Closed | Noise, *, rest: bool) -> Outcome | None:
    """What was wrong with the last MESSAGE, which came empty; what follows it tells."""
    conn = state.conns.get(event.conn)
    if conn is None or not conn.torn or event.by == "client":
        return None
    return forms_frames.torn(state, event.conn, conn, rest=rest)
