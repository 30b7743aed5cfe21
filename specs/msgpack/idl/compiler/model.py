"""Dispatches the events of a conversation with a processor of the interface language to its rulebook."""

from __future__ import annotations

from collections.abc import Iterable

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack.idl.compiler import duties, effects, forms  # noqa: F401 - they fill the rulebook
from specs.msgpack.idl.compiler.book import COMPILER
from specs.msgpack.idl.compiler.case import Case
from specs.msgpack.idl.compiler.machine import MACHINE, At, CompilerState
from specs.msgpack.lines import Line
from specs.msgpack.states import Config


class CompilerModel:
    """See the module."""

    def initial(self, config: Config) -> CompilerState:
        """Nothing asked."""
        return CompilerState(config)

    def owed(self, state: CompilerState, role: str) -> Iterable[str]:
        """An answer to each question."""
        return COMPILER.owed(state) if role == "idl" else ()

    def step(self, state: CompilerState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if state.phase is At.GONE:
            return (Allow(state),)
        if isinstance(event, Said):
            if event.by == "idl":
                return (_line(state, event.frame),)
            phase = MACHINE.move(state.phase, "question")
            return (Allow(state._replace(phase=phase, asked=(*state.asked, event.frame))),)
        if isinstance(event, Quiet):
            return (_quiet(state) if event.final else Allow(state),)
        if isinstance(event, Closed):
            if event.by == "idl":
                return (COMPILER.judge(Case(state), "ends"),)
            return (Allow(state._replace(phase=MACHINE.move(state.phase, "leaves"), asked=())),)
        if isinstance(event, Noise):
            return (COMPILER.judge(Case(state), "breaks down"),)
        assert isinstance(event, Fact)
        return (COMPILER.judge(Case(state), "breaks down") if event.name == "refused" else Allow(state),)


def _line(state: CompilerState, line: Line) -> Outcome:
    if not line.octets.strip():
        return COMPILER.judge(Case(state, line), "blank line")
    return COMPILER.judge(Case(state, line), "answer" if state.phase is At.ASKED else "chatter")


def _quiet(state: CompilerState) -> Outcome:
    missed = COMPILER.at_silence(state, Case(state))
    return missed if isinstance(missed, Breach) else Allow(state)


__all__ = ["CompilerModel", "CompilerState"]
