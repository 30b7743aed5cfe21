"""Which requirement a client most likely breaks whose arguments, or what it makes of results, are not as they must be.

Source: 004_4ca5b084f7ea0751.txt, message, default values, services. The most particular reason comes first.
"""

from __future__ import annotations

from collections.abc import Callable

from specs.causes import Causes
from specs.msgpack.idl.client.calls import gapped
from specs.msgpack.idl.client.case import Case
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.causes import GAPS, LONGER, OMITTED_IS_DEFAULT, OPTIONAL, WIDE_INTEGERS
from specs.msgpack.idl.wire import Unfit, Way

SENT_OTHERWISE = Causes("arguments are not as they must be")
LAYOUT, CONTAINERS, NULL_DEFAULT, ZERO_DEFAULT = "MPIDL-ENC-02", "MPIDL-ENC-11", "MPIDL-DEF-06", "MPIDL-DEF-07"


def _sent(case: Case) -> str:
    return f"other arguments were wanted: {case.request_said}"


def _leaves_out(way: Way) -> Callable[[Case], bool]:
    """The circumstance that something was left out whose default is of this sort."""
    return lambda case: "def" in case.state.config.extensions and way in case.called.left


@SENT_OTHERWISE.cause(GAPS, could=lambda case: gapped(case.types, case.function))
def a_gap_is_filled(case: Case) -> str:
    """message; exception: ids need not be without gaps, and what belongs to no field says nothing."""
    return f"there is something in a gap: {case.request_said}" if case.is_meant and case.fills_gaps else ""


def _keyed(case: Case) -> bool:
    """True where a message is written as a map."""
    return isinstance(case.meant, Unfit) and case.meant.keyed


@SENT_OTHERWISE.cause(LAYOUT, could=lambda case: case.takes_message and (_keyed(case) or not case.called.left))
def messages_are_laid_out_otherwise_than_they_are_read(case: Case) -> str:
    """message: how messages are laid out is not said; ML-14, ML-31."""
    otherwise = _keyed(case) or case.fits_another_layout
    return f"a message is laid out otherwise than it is read: {case.request_said}" if otherwise else ""


@SENT_OTHERWISE.cause(CONTAINERS, could=lambda case: case.takes("list", "map", "string", "bool"))
def another_form_is_written(case: Case) -> str:
    """message: built-in types."""
    wrong = isinstance(case.meant, Unfit) and case.meant.form
    return f"{case.meant}: {case.request_said}" if wrong else ""


@SENT_OTHERWISE.cause(OMITTED_IS_DEFAULT, could=_leaves_out(Way.LITERAL))
def what_is_left_out_is_sent_as_something_else_than_its_literal(case: Case) -> str:
    """default values: "= literal"."""
    return _sent(case) if case.differing_argument is Way.LITERAL else ""


@SENT_OTHERWISE.cause(NULL_DEFAULT, could=_leaves_out(Way.NULLABLE))
def what_is_left_out_is_not_sent_as_null(case: Case) -> str:
    """default values: without a literal, null where the type is nullable."""
    return _sent(case) if case.differing_argument is Way.NULLABLE else ""


@SENT_OTHERWISE.cause(ZERO_DEFAULT, could=_leaves_out(Way.ZERO))
def what_is_left_out_is_not_sent_as_zero_empty_or_false(case: Case) -> str:
    """default values: "0, empty string, false and so on"."""
    return _sent(case) if case.differing_argument is Way.ZERO else ""


@SENT_OTHERWISE.cause(Promise.ARGUMENTS, could=lambda case: len(case.function.args) > 1)
def arguments_do_not_stand_in_their_places(case: Case) -> str:
    """services: arguments have ids."""
    return _sent(case)


REPORTED_OTHERWISE = Causes("what is reported is not the result")


def _way(way: Way) -> Callable[[Case], bool]:
    """The circumstance that something in the result was written so."""
    return lambda case: way in case.called.ways


def _wrong(case: Case) -> str:
    return f"the result is not reported as it was answered: {case.report_said}"


def _unread(case: Case) -> str:
    """Why a result that was written so is not read; a value of its type that is another one has other reasons."""
    return _wrong(case) if case.failed or isinstance(case.value, Unfit) else ""


def _omitted(way: Way) -> Callable[[Case], bool]:
    """The circumstance that a field was left out of the result whose default is of this sort."""
    return lambda case: "def" in case.state.config.extensions and way in case.called.ways


@REPORTED_OTHERWISE.cause(WIDE_INTEGERS, could=_way(Way.WIDE))
def integers_are_read_in_one_form_only(case: Case) -> str:
    """MessagePack, formats: an integer may be in any form that holds it."""
    return _wrong(case)


@REPORTED_OTHERWISE.cause(LONGER, could=_way(Way.LONGER))
def what_stands_behind_the_known_elements_is_not_skipped(case: Case) -> str:
    """services: what changes in a later version."""
    return _unread(case)


@REPORTED_OTHERWISE.cause(GAPS, could=_way(Way.JUNK))
def what_stands_in_a_gap_is_not_ignored(case: Case) -> str:
    """message; exception: ids need not be without gaps."""
    return _unread(case)


@REPORTED_OTHERWISE.cause(OMITTED_IS_DEFAULT, could=_omitted(Way.LITERAL))
def what_was_left_out_is_not_its_literal(case: Case) -> str:
    """default values: "= literal"."""
    return _wrong(case) if not case.failed and case.differing is Way.LITERAL else ""


@REPORTED_OTHERWISE.cause(NULL_DEFAULT, could=_omitted(Way.NULLABLE))
def what_was_left_out_is_not_null(case: Case) -> str:
    """default values: without a literal, null where the type is nullable."""
    return _wrong(case) if not case.failed and case.differing is Way.NULLABLE else ""


@REPORTED_OTHERWISE.cause(ZERO_DEFAULT, could=_omitted(Way.ZERO))
def what_was_left_out_is_not_zero_empty_or_false(case: Case) -> str:
    """default values: "0, empty string, false and so on"."""
    return _wrong(case) if not case.failed and case.differing is Way.ZERO else ""


@REPORTED_OTHERWISE.cause(OPTIONAL, could=_way(Way.SHORT))
def what_is_optional_must_be_there(case: Case) -> str:
    """message: "optional"."""
    return _unread(case)


@REPORTED_OTHERWISE.cause(Promise.NIL, could=_way(Way.NULL))
def null_is_refused_for_what_is_nullable(case: Case) -> str:
    """message: "? makes a type nullable"."""
    return _unread(case)
