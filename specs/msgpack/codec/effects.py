"""What actions do to the state of a conversation with a codec, whether or not something was broken."""

from __future__ import annotations

from specs.msgpack.codec.book import BOOK
from specs.msgpack.codec.case import Case
from specs.msgpack.lines import Ask
from specs.msgpack.machine import Q
from specs.msgpack.states import CodecState


def asks(state: CodecState, ask: Ask) -> CodecState:
    """One question more."""
    return state._replace(asked=(*state.asked, ask))


@BOOK.effect("answers", "answers about a message")
def one_question_fewer(case: Case) -> CodecState:
    """The oldest question is open no more."""
    left = case.state.asked[1:]
    return CodecState(case.state.config, Q.ASKED if left else Q.IDLE, left)


@BOOK.effect("talks")
def nothing_changes(case: Case) -> CodecState:
    """Nothing that is remembered."""
    return case.state


@BOOK.effect("codec ends")
def nothing_is_open_any_more(case: Case) -> CodecState:
    """The codec is gone."""
    return case.state._replace(asked=())
