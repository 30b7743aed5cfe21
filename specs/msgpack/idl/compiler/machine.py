"""The machine of a processor of the interface language: questions and answers. Source: docs/implementations.md."""

from __future__ import annotations

from typing import Any, NamedTuple

from specs.machine import Machine, Phase, never, unreachable
from specs.msgpack.lines import Ask
from specs.msgpack.states import Config
from specs.values import quick_replace

SAME_ANSWER, ANSWERED = "MPIDL-ERR-02", "MPIDL-ERR-03"


class At(Phase):
    """Of one processor."""

    IDLE = "no question is open"
    ASKED = "a question is open"
    GONE = "the processor has ended, or the tester has"


@quick_replace
class CompilerState(NamedTuple):
    """A conversation. `asked` are the questions that are open, the oldest first; `answered` are those that were
    answered, each as (profile, text, tree or None)."""

    config: Config
    phase: At = At.IDLE
    asked: tuple[Ask, ...] = ()
    answered: tuple[tuple[str, bytes, Any], ...] = ()


ACTORS = {
    "question": "user", "leaves": "user", "answer": "idl", "blank line": "idl", "chatter": "idl", "ends": "idl",
    "breaks down": "idl",
}  # fmt: skip


def _hard(case: Any) -> bool:
    """Only what is hard to bear shows that whatever is asked is answered."""
    return bool(case.during == "hostile document")


_down = never(ANSWERED, "the processor broke down", given=_hard)
_no_question = unreachable("a line is an answer only while a question is open")
_answer = unreachable("any line but a blank one that comes while a question is open is its answer")
_over = unreachable("nothing is judged behind the end")

MACHINE = Machine(
    At,
    ACTORS,
    {
        At.IDLE: {
            "question": At.ASKED, "leaves": At.GONE, "answer": _no_question, "blank line": At.IDLE,
            "chatter": never(SAME_ANSWER, "a line that nobody asked for", given=lambda case: False), "ends": At.GONE,
            "breaks down": _down,
        },
        At.ASKED: {
            "question": At.ASKED, "leaves": At.GONE, "answer": (At.IDLE, At.ASKED), "blank line": At.ASKED,
            "chatter": _answer, "ends": never(ANSWERED, "the processor ended", given=_hard), "breaks down": _down,
        },
        At.GONE: dict.fromkeys(ACTORS, _over),
    },
)  # fmt: skip
