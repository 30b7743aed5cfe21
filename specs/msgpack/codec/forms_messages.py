"""What a codec makes of values whose types a document declares must look so.

Source: 004_4ca5b084f7ea0751.txt, message, default values. A question names the document and a message of it: decoding
gives tagged JSON data, encoding takes them. See `specs.msgpack.idl.wire` for the layouts that are judged.
"""

from __future__ import annotations

from typing import Any

from specs.codec import Malformed
from specs.msgpack.codec.book import ANY_MESSAGE, BOOK, SAME_VALUE
from specs.msgpack.codec.case import MessageCase
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.causes import GAPS, OMITTED_IS_DEFAULT, OPTIONAL
from specs.msgpack.idl.wire import Unfit, floating

_ZEROS: tuple[Any, ...] = (0, "", b"", (), frozenset(), floating(0.0, "float"), floating(0.0, "double"))
TOPIC = "answers about a message"


def _judged(case: MessageCase) -> bool:
    return case.question.want != "free"


@BOOK.form(
    ANY_MESSAGE, on=TOPIC, if_=lambda case: _judged(case) and bool(case.answer.bad),
    which=lambda case: case.subject, goes_on=True,
)  # fmt: skip
def an_answer_about_a_message_says_something(case: MessageCase) -> str:
    """docs/implementations.md: a value, octets, or an error."""
    return f"{case.answer.bad}: {case.text}"


@BOOK.form(SAME_VALUE, on=TOPIC, during="encode", if_=_judged, goes_on=True)
def a_message_is_encoded_as_it_is_laid_out(case: MessageCase) -> str:
    """message: a field stands in the place of its id."""
    return case.misread


@BOOK.form(GAPS, on=TOPIC, during="encode", if_=_judged, goes_on=True)
def a_gap_is_nil(case: MessageCase) -> str:
    """message: nothing stands where no field has that id."""
    if isinstance(case.got, Malformed) or not case.types.filled(case.got[0], case.kind):
        return ""
    return f"a gap is not nil: {(case.answer.octets or b'')[:60].hex()}: {case.text}"


_UNFIT = " ".join(each.value for each in (Promise.MISSING, Promise.NIL, Promise.WIDTH))


@BOOK.form(
    _UNFIT, on=TOPIC, during="decode", if_=lambda case: _judged(case) and case.breaks is not None,
    which=lambda case: case.breaks.value, goes_on=True,
)  # fmt: skip
def what_is_no_value_of_a_type_is_refused(case: MessageCase) -> str:
    """message: required and optional fields, nullable types, widths of numbers."""
    return "" if case.answer.error else f"a value is accepted that is none: {case.wanted}: {case.text}"


def _fits(case: MessageCase) -> bool:
    return _judged(case) and not isinstance(case.wanted, Unfit)


def _is_short(case: MessageCase) -> bool:
    return _fits(case) and case.subject in (OPTIONAL, OMITTED_IS_DEFAULT)


@BOOK.form(OPTIONAL, on=TOPIC, during="decode", if_=_is_short, goes_on=True)
def what_is_optional_may_be_left_out(case: MessageCase) -> str:
    """message: an optional field may be missing at the end."""
    return f"a value is refused: {case.text}" if case.answer.error else ""


@BOOK.form(ANY_MESSAGE, on=TOPIC, during="decode", if_=_fits, which=lambda case: case.subject, goes_on=True)
def a_message_is_decoded_as_it_was_encoded(case: MessageCase) -> str:
    """message: a field stands in the place of its id; default values: what is left out has its default."""
    if case.answer.error:
        return f"a value is refused: {case.text}"
    if _alike(case.wanted, case.given):
        return ""
    return f"the value is another: {case.answer.value!r:.150}: {case.text}"


def _alike(wanted: Any, got: Any) -> bool:
    """True when two values are the same, or one has null for a field of a message that was left out and is zero: both
    are told in that way."""
    if not isinstance(wanted, tuple) or not isinstance(got, tuple) or len(wanted) != len(got):
        return bool(wanted == got)
    field = len(wanted) == 2 and isinstance(wanted[0], str)
    return all(
        _alike(one, other) or (field and other is None and one in _ZEROS)
        for one, other in zip(wanted, got, strict=True)
    )
