"""What a codec answers to questions about octets must look so.

Source: MessagePack specification, Formats, Serialization, Type system, Limitation.
"""

from __future__ import annotations

from specs.codec import Malformed
from specs.msgpack.changes import CHANGED, SMALLEST, keys_collide
from specs.msgpack.codec.book import ANY_MESSAGE, ANY_VECTOR, BOOK
from specs.msgpack.codec.case import Case
from specs.msgpack.codec.told import whole_as_integer
from specs.msgpack.machine import LIMITS, READ, Q

# -- freedoms ---------------------------------------------------------------------------------------------------------


@BOOK.freedom("MP-13")
def there_was_one_raw_type_before_2013(case: Case) -> bool:
    """Format of before 2013: no bin, and no str of 8 bits of size."""
    return case.state.config.old_raw and set(case.wide) <= {"str"}


@BOOK.freedom("MP-10")
def what_becomes_of_repeated_keys_is_open(case: Case) -> bool:
    """Format, Map: the repetition of keys is not mentioned."""
    return keys_collide(case.value)


@BOOK.freedom("MP-07")
def a_float_that_is_whole_was_told_as_an_integer(case: Case) -> bool:
    """Format, Type system: who is told 1 for 1.0 cannot write it as a float."""
    return case.question.op == "encode" and whole_as_integer(case.value, case.question.value)


# -- answers ----------------------------------------------------------------------------------------------------------


def _claims(case: Case) -> bool:
    return not case.answer.error and not case.answer.bad and case.said == "{"


@BOOK.form(READ, on="answers", during="unknown", if_=_claims, goes_on=True)
def an_op_that_does_not_exist_is_refused(case: Case) -> str:
    """docs/implementations.md: whoever answers to anything cannot be asked about a format."""
    return "it claims to know an op that does not exist"


@BOOK.form(
    ANY_VECTOR, on="answers", during="vector", if_=lambda case: bool(case.answer.bad),
    which=lambda case: case.subject, goes_on=True,
)  # fmt: skip
def an_answer_says_something(case: Case) -> str:
    """docs/implementations.md: a value, octets, or an error."""
    return f"{case.answer.bad}: {case.text}"


@BOOK.form(
    ANY_VECTOR, on="answers", during="vector", if_=lambda case: case.question.want == "error",
    which=lambda case: case.subject, goes_on=True,
)  # fmt: skip
def what_is_no_value_is_refused(case: Case) -> str:
    """Formats: octets that are cut off, or that no format begins with, are no value."""
    fine = case.answer.error or case.question.op == "encode"
    return "" if fine else f"a value was made of {case.text}"


@BOOK.form(
    ANY_VECTOR, on="answers", during="vector", if_=lambda case: case.question.want == "value",
    which=lambda case: case.subject, goes_on=True,
)  # fmt: skip
def a_value_is_not_refused(case: Case) -> str:
    """Formats: each stands for a value."""
    return f"{case.text} was refused" if case.answer.error else ""


def _is_compared(case: Case) -> bool:
    return case.question.want in ("value", "either") and not case.answer.error


def _is_written(case: Case) -> bool:
    return _is_compared(case) and case.answer.octets is not None


@BOOK.form(ANY_VECTOR, on="answers", during="vector", if_=_is_written, which=lambda case: case.subject, goes_on=True)
def what_is_written_is_one_value(case: Case) -> str:
    """Formats: what is written can be read."""
    if not isinstance(case.got, Malformed):
        return ""
    octets = (case.answer.octets or b"")[:60].hex()
    return f"{case.text} was encoded as {octets}, which is no value ({case.got.why})"


@BOOK.form(SMALLEST, on="answers", during="vector", if_=_is_written, freed_by=(there_was_one_raw_type_before_2013,))
def is_written_in_the_smallest_form(case: Case) -> str:
    """Format, Serialization: a value SHOULD be written in the smallest form."""
    octets = (case.answer.octets or b"")[:40].hex()
    return f"not written in the smallest form: {', '.join(case.wide)}: {octets}" if case.wide else ""


@BOOK.form(
    READ, on="answers", during="vector", if_=_is_compared, causes=CHANGED, goes_on=True,
    freed_by=(what_becomes_of_repeated_keys_is_open, a_float_that_is_whole_was_told_as_an_integer),
)  # fmt: skip
def a_value_stays_what_it_is(case: Case) -> str:
    """Formats: each stands for one value."""
    return "" if case.change is None else case.change.why


# -- other lines, and the end -----------------------------------------------------------------------------------------


@BOOK.form(READ, on="talks")
def says_nothing_unasked(case: Case) -> str:
    """docs/implementations.md: one line for each question."""
    return f"a line that nobody asked for: {case.said}"


@BOOK.form(READ, on="breaks down", if_=lambda case: case.action == "noise")
def lines_end(case: Case) -> str:
    """docs/implementations.md: one line for each question."""
    return f"a line without an end: {case.said}"


@BOOK.form(LIMITS, on="breaks down", if_=lambda case: case.action == "refused")
def can_be_started_again(case: Case) -> str:
    """Our own minimum: no input harms a codec."""
    return f"the codec cannot be started again: {case.said}"


@BOOK.form(f"{ANY_VECTOR} {ANY_MESSAGE}", on="codec ends", when=(Q.ASKED,), which=lambda case: case.subject)
def lives_until_all_is_answered(case: Case) -> str:
    """Our own minimum: great depth, lengths that lie and whatever else is no value end in an error."""
    return f"the codec ended at {case.text}"


@BOOK.form(LIMITS, on="codec ends", when=(Q.IDLE,))
def lives_on_when_all_is_answered(case: Case) -> str:
    """Our own minimum: no input harms a codec, which goes on to the next question."""
    return "the codec ended although nobody told it to"
