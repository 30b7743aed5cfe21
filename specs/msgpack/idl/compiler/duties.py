"""What a processor still owes. Source: docs/implementations.md."""

from __future__ import annotations

from collections.abc import Iterator

from specs.msgpack.idl.compiler.book import COMPILER
from specs.msgpack.idl.compiler.machine import ANSWERED, At, CompilerState
from specs.rules import Due


@COMPILER.duty(ANSWERED, met_by="answer")
def every_question_is_answered(state: CompilerState) -> Iterator[Due]:
    """An answer to each question, in their order (docs/implementations.md)."""
    if state.phase is At.ASKED:
        for ask in state.asked:
            text = ask.octets[:120].decode("utf-8", "backslashreplace")
            yield Due(f"no answer came: {ask.op} of {text!r}", about=ask)
