"""What the state is after a line of a processor, whether or not something was broken."""

from __future__ import annotations

from specs.msgpack.idl.compiler.book import COMPILER
from specs.msgpack.idl.compiler.case import Case
from specs.msgpack.idl.compiler.machine import At, CompilerState


@COMPILER.effect("answer")
def answered(case: Case) -> CompilerState:
    """The oldest question is closed, and what it was answered is remembered."""
    state = case.state
    left = state.asked[1:]
    after = state._replace(asked=left, phase=At.ASKED if left else At.IDLE)
    if case.during != "document" or not case.formed:
        return after
    return after._replace(answered=(*state.answered, (case.ask.type, case.ask.octets, case.tree)))


@COMPILER.effect("blank line", "chatter")
def nothing_changes(case: Case) -> CompilerState:
    """No question is closed."""
    return case.state


@COMPILER.effect("ends", "breaks down")
def over(case: Case) -> CompilerState:
    """No question is open any more."""
    return case.state._replace(asked=())
