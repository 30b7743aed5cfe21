"""Which promise a server most likely breaks when it answers a call otherwise than it must.

Source: 004_4ca5b084f7ea0751.txt, message, exception, services, interface, default values. A call is about one promise,
its rule; what was special in how it was made is the likelier reason, the most particular first.
"""

from __future__ import annotations

from collections.abc import Callable

from specs.causes import Causes
from specs.msgpack.idl.compiler.causes import INTERFACES_WRITTEN_OUT, STRING_FORM
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.calls import fits, texts
from specs.msgpack.idl.server.case import Case
from specs.msgpack.idl.wire import LAYOUTS, Unfit, Way

ANSWERED_OTHERWISE = Causes("a call is answered otherwise than it must be")
OMITTED_IS_DEFAULT, OPTIONAL, GAPS = "MPIDL-DEF-04", "MPIDL-ENC-05", "MPIDL-ENC-10"
WIDE_INTEGERS, LONGER = "MPIDL-ENC-08", "MPIDL-ENC-06"
LEFTOVERS = frozenset((Way.LONGER, Way.JUNK, Way.SHORT, Way.NULL, Way.WIDE))
"""What is special in how arguments are written."""


def _written(way: Way) -> Callable[[Case], bool]:
    """The circumstance that a value was asked for, and that something in the arguments was written so."""
    return lambda case: way in case.answered.ways and case.value_wanted is not None


def _wrong(case: Case) -> str:
    return f"a value was wanted: {case.said}"


@ANSWERED_OTHERWISE.cause(
    "MPIDL-FALL-05", could=lambda case: any(want not in case.answered.wanted for want in case.answered.foreign)
)
def another_scope_of_the_service_answers(case: Case) -> str:
    """services: two scopes have nothing to do with each other."""
    return f"so would another scope of the service answer: {case.said}" if case.fits_elsewhere else ""


@ANSWERED_OTHERWISE.cause(
    Promise.OWN_FIRST, could=lambda case: any(want not in case.answered.wanted for want in case.answered.newer)
)
def a_newer_version_answers(case: Case) -> str:
    """server side: what a version implements is not for older ones."""
    return f"so would a newer version answer: {case.said}" if case.fits_newer else ""


@ANSWERED_OTHERWISE.cause(
    STRING_FORM, could=lambda case: any(want[0] == "path" and "." in want[1] for want in case.answered.wanted)
)
def an_exception_is_named_by_a_part_of_its_path(case: Case) -> str:
    """exception: the string form is the bases from the root and itself, joined by dots."""
    path = next(want[1] for want in case.answered.wanted if want[0] == "path")
    known = any(name in text for name in path.split(".") for text in texts((case.error, case.result)))
    return f"{path} was wanted: {case.said}" if case.error is not None and known else ""


@ANSWERED_OTHERWISE.cause(WIDE_INTEGERS, could=_written(Way.WIDE))
def an_integer_is_read_in_one_form_only(case: Case) -> str:
    """MessagePack, formats: an integer may be in any form that holds it."""
    return _wrong(case)


@ANSWERED_OTHERWISE.cause(LONGER, could=_written(Way.LONGER))
def elements_behind_the_known_ones_are_not_skipped(case: Case) -> str:
    """services: what changes in a later version."""
    return _wrong(case)


@ANSWERED_OTHERWISE.cause(GAPS, could=_written(Way.JUNK))
def what_stands_in_the_place_of_no_field_is_not_ignored(case: Case) -> str:
    """message; exception: ids need not be without gaps."""
    return _wrong(case)


def _omitted(way: Way) -> Callable[[Case], bool]:
    """The circumstance that a field was left out, and that its default is of this sort."""
    return lambda case: "def" in case.state.config.extensions and _written(way)(case)


@ANSWERED_OTHERWISE.cause(OMITTED_IS_DEFAULT, could=_omitted(Way.LITERAL))
def what_was_left_out_is_not_its_literal(case: Case) -> str:
    """default values: "= literal"."""
    return _wrong(case) if case.differing is Way.LITERAL else ""


@ANSWERED_OTHERWISE.cause("MPIDL-DEF-06", could=_omitted(Way.NULLABLE))
def what_was_left_out_is_not_null(case: Case) -> str:
    """default values: without a literal, null where the type is nullable."""
    return _wrong(case) if case.differing is Way.NULLABLE else ""


@ANSWERED_OTHERWISE.cause("MPIDL-DEF-07", could=_omitted(Way.ZERO))
def what_was_left_out_is_not_zero_empty_or_false(case: Case) -> str:
    """default values: "0, empty string, false and so on"."""
    return _wrong(case) if case.differing is Way.ZERO else ""


@ANSWERED_OTHERWISE.cause(OPTIONAL, could=_written(Way.SHORT))
def what_is_optional_must_be_there(case: Case) -> str:
    """message: "optional"."""
    return _wrong(case)


@ANSWERED_OTHERWISE.cause(Promise.NIL, could=_written(Way.NULL))
def null_is_refused_for_what_is_nullable(case: Case) -> str:
    """message: "? makes a type nullable"."""
    return _wrong(case) if case.error is not None or isinstance(case.got, Unfit) else ""


@ANSWERED_OTHERWISE.cause(
    INTERFACES_WRITTEN_OUT, could=lambda case: case.answered.inherited and case.value_wanted is not None
)
def a_function_of_an_interface_cannot_be_called(case: Case) -> str:
    """interface: a service has the functions of its interfaces."""
    return _wrong(case) if case.error is not None and not LEFTOVERS & case.answered.ways else ""


@ANSWERED_OTHERWISE.cause("MPIDL-ENC-11", could=lambda case: case.wants("list", "map", "string", "bool"))
def a_list_a_map_a_text_or_a_boolean_is_written_as_something_else(case: Case) -> str:
    """message: built-in types."""
    wrong = case.error is None and isinstance(case.got, Unfit) and case.got.form
    return f"{case.got}: {case.said}" if wrong else ""


@ANSWERED_OTHERWISE.cause("MPIDL-ENC-02", could=lambda case: case.wants_message)
def a_message_is_laid_out_in_another_way_than_others(case: Case) -> str:
    """message: how messages are laid out is not said; ML-14."""
    app = case.state.app
    assert app is not None
    others = [app.types._replace(layout=layout) for layout in LAYOUTS if layout != app.types.layout]
    keyed = case.error is None and isinstance(case.got, Unfit) and case.got.keyed
    fit = keyed or any(fits(case.value_wanted, case.error, case.result, types) for types in others)
    return f"it is laid out otherwise than what was sent: {case.said}" if fit else ""


def _fills_gaps(case: Case) -> bool:
    """True when the message that is wanted has gaps, and nothing in them."""
    if not case.wants_message or case.value_wanted[3:] != (True,):
        return False
    assert case.state.app is not None
    return case.state.app.types.gapped(case.value_wanted[1])


@ANSWERED_OTHERWISE.cause(GAPS, could=_fills_gaps)
def a_gap_is_not_nil(case: Case) -> str:
    """message: what belongs to no field says nothing."""
    return (
        f"there is something in a gap: {case.said}" if case.error is None and case.got == case.value_wanted[2] else ""
    )
