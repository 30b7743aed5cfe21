"""Brings each event of a conversation with a codec to its machine and its rulebook."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.msgpack.codec.book import BOOK
from specs.msgpack.codec.case import Case, MessageCase
from specs.msgpack.codec.effects import asks
from specs.msgpack.lines import Ask, Line, answer
from specs.msgpack.machine import CODEC, Q
from specs.msgpack.states import CodecState, Config


class CodecModel:
    """See the module."""

    def initial(self, config: Config) -> CodecState:
        """Nothing asked."""
        return CodecState(config)

    def owed(self, state: CodecState, role: str) -> Iterator[str]:
        """The question that is not answered."""
        return BOOK.owed(state) if role == "codec" and state.phase is not Q.GONE else iter(())

    def step(self, state: CodecState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Quiet):
            return (_silence(state) if event.final else Allow(state),)
        if isinstance(event, Fact):
            broken = Case(state, "refused", said=f"{event.value!s:.200}") if event.name == "refused" else None
            return (Allow(state) if broken is None else _broken(broken),)
        if state.phase is Q.GONE:
            return (Allow(state),)
        if isinstance(event, Said):
            return (_asked(state, event.frame) if event.by == "user" else _line(state, event.frame),)
        if isinstance(event, Closed):
            # nothing is asked of a codec whose input has ended
            return (Allow(ANYTHING) if event.by == "user" else _judged(Case(state, "codec ends")),)
        assert isinstance(event, Noise)
        return (_broken(Case(state, "noise", said=event.why)),)


def _judged(case: Case) -> Outcome:
    return BOOK.judge(case, case.action)


def _broken(case: Case) -> Breach:
    """What ends a conversation without being a move in it."""
    breach = BOOK.ask("breaks down", case).breach
    assert breach is not None
    return breach


def _asked(state: CodecState, ask: Ask) -> Allow:
    """What the tester does is right; only the state changes."""
    return Allow(asks(state, ask)._replace(phase=CODEC.move(state.phase, "asks")))


def _line(state: CodecState, line: Line) -> Outcome:
    ask = state.asked[0] if state.phase is Q.ASKED else None
    if not line.octets.strip() and (ask is None or ask.op != "recode"):
        return Allow(state)  # JSON lines may have blank ones between them; a filter answers line by line
    if ask is None:
        return _judged(Case(state, "talks", said=f"{line.octets[:100]!r}"))
    if ask.way == "idl":
        return _judged(MessageCase(state, "answers about a message", answer(ask, line)))
    return _judged(Case(state, "answers", answer(ask, line), said=line.octets.lstrip()[:1].decode("latin-1")))


def _silence(state: CodecState) -> Outcome:
    """Nothing more will come."""
    found = BOOK.at_silence(state, Case(state, "silence")) if state.phase is Q.ASKED else None
    return found if isinstance(found, Breach) else Allow(state)
