"""What a codec still has to say. Source: MessagePack specification; docs/implementations.md."""

from __future__ import annotations

from specs.msgpack.codec.book import ANY_MESSAGE, ANY_VECTOR, BOOK, shown, subject
from specs.msgpack.states import CodecState
from specs.rules import Due


@BOOK.duty(f"{ANY_VECTOR} {ANY_MESSAGE}", met_by="answers, answers about a message")
def the_oldest_question_is_answered(state: CodecState) -> Due | str:
    """docs/implementations.md: one line for each question, in their order. Great depth and lengths that lie end in a
    value or an error, soon."""
    if not state.asked:
        return ""
    ask = state.asked[0]
    return Due(f"no answer came to {shown(ask)}", ask, f"{ask.op} {ask.want}", requirement=subject(ask))
