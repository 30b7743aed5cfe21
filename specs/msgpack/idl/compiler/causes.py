"""Which clause a processor most likely misses when it refuses a legal document or reads it as another.

Source: 004_4ca5b084f7ea0751.txt. Little but the document is known then. Every clause that it makes use of is suspect,
the most particular one first; the hunt makes the document smaller until only what is needed for the fault is left in
it. An error of meaning says itself about which definition it is, and a tree that differs in which part.
"""

from __future__ import annotations

from collections.abc import Callable

from specs.causes import Causes
from specs.msgpack.idl.canon import Part
from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.compiler.case import Case
from specs.msgpack.idl.uses import Use

MISREAD = Causes("a legal document is refused, or read as another", vague=True)
LINE_ENDS, BUILT_IN_TYPES, IDS_IN_ANY_ORDER = "MPIDL-LEX-06", "MPIDL-TYPE-01", "MPIDL-FIELD-05"
GENERICS, STRING_FORM, NO_SCOPE = "MPIDL-TYPE-04", "MPIDL-EXC-07", "MPIDL-NOSC-01"
INTERFACES_WRITTEN_OUT = "MPIDL-IF-02"
NESTED, TRAPS, LINES, BLOCKS = "MPIDL-LEX-02", "MPIDL-LEX-03", "MPIDL-LEX-01", "MPIDL-LEX-05"
WHOLE_WORDS, TREE = "MPIDL-LEX-07", "MPIDL-ERR-04"
LOST = frozenset((
    Part.MESSAGE, Part.EXCEPTION, Part.SERVICE, Part.FUNCTIONS, Part.ARGUMENTS, Part.APPLICATION, Part.SHARED_SERVICE,
    Part.INTERFACE, Part.DECLARED, Part.NO_DEFINITIONS, Part.ORDER, Part.INVENTED,
))  # fmt: skip
"""Parts that differ when some of the text was swallowed, or something was read that nobody wrote."""


def suspect(
    requirement: str, *uses: Use, shows: frozenset[Part] | tuple[Part, ...] = (), refusal: bool = True
) -> Callable[[Callable[[], None]], Callable[[], None]]:
    """Register a clause that is suspect where the document makes use of one of `uses`: when a document that must be
    taken is refused (not where `refusal` is False), and when the tree differs in one of the parts `shows`. The
    decorated name is the sentence."""
    needed, parts = frozenset(uses), frozenset(shows)

    def could(case: Case) -> bool:
        return not needed.isdisjoint(case.uses) and bool(parts or (refusal and case.must_be_taken))

    def registered(sentence: Callable[[], None]) -> Callable[[], None]:
        def evidence(case: Case) -> str:
            if case.refused:
                likely = refusal and not needed.isdisjoint(case.suspected)
                return f"a legal document is refused: {case.shown}: {case.said.value['errors']!r:.150}" * likely
            found = case.difference
            if found is None or found.part not in parts:
                return ""
            return f"the tree is wrong: {found.why}: {case.shown}"

        evidence.__name__ = sentence.__name__
        evidence.__doc__ = sentence.__doc__
        MISREAD.cause(requirement, could=could)(evidence)
        return sentence

    return registered


# -- how a document is laid out ----------------------------------------------------------------------------------------


@suspect(LINE_ENDS, Use.NO_DEFINITIONS)
def an_empty_document_is_one() -> None:
    """comments. Whoever wants a definition refuses what has none, whatever stands there instead."""


@suspect(LINE_ENDS, Use.LAST_COMMENT, shows=LOST)
def a_comment_at_the_end_needs_no_line_end() -> None:
    """comments."""


@suspect(NESTED, Use.NESTED_COMMENTS, shows=LOST)
def comments_nest() -> None:
    """comments: `/* this too /* nested */ is fine */`."""


@suspect(TRAPS, Use.MARKS_IN_COMMENTS, shows=LOST)
def what_opens_a_comment_is_nothing_in_another_kind() -> None:
    """comments; ML-06."""


@suspect(LINES, Use.LINE_COMMENTS, shows=LOST)
def line_comments_end_with_their_line() -> None:
    """comments."""


@suspect(BLOCKS, Use.BLOCK_COMMENTS, shows=LOST)
def a_comment_separates_words() -> None:
    """comments."""


@suspect(LINE_ENDS, Use.LINE_ENDS, shows=LOST)
def line_ends_are_of_any_form() -> None:
    """comments."""


@suspect(WHOLE_WORDS, Use.STUCK_WORDS, shows=(Part.WORD,))
def a_word_of_the_language_is_a_whole_word() -> None:
    """message."""


# -- extensions, and what is seldom seen -------------------------------------------------------------------------------


@suspect(GENERICS, Use.DEEP_TYPES)
def type_arguments_nest_to_any_depth() -> None:
    """message: "generics nest"."""


@suspect(Clause.TARGET_EXISTS, Use.TYPESPEC, shows=(Part.TYPESPEC,))
def a_foreign_type_stands_for_an_alias_a_message_or_a_field() -> None:
    """typespec."""


@suspect(Clause.LITERAL, Use.DEFAULTS, shows=(Part.DEFAULT,))
def a_literal_is_the_default_of_its_field() -> None:
    """default values."""


@suspect(INTERFACES_WRITTEN_OUT, Use.INTERFACES, shows=(Part.INTERFACE,))
def functions_of_interfaces_stand_in_their_order_before_the_services_own() -> None:
    """interface."""


@suspect(Clause.ALIAS, Use.TYPEDEF, shows=(Part.TYPEDEF, Part.ALIASED))
def an_alias_stands_for_its_type() -> None:
    """typedef."""


# -- applications and services -----------------------------------------------------------------------------------------


@suspect("MPIDL-APP-05", Use.SHARED_SERVICE, shows=(Part.SHARED_SERVICE,))
def one_service_stands_under_several_scopes() -> None:
    """services."""


@suspect(Clause.ENTRY_FORM, Use.APPLICATION, shows=(Part.APPLICATION,))
def an_entry_is_a_service_a_version_and_a_scope() -> None:
    """services."""


@suspect(Clause.ONE_DEFAULT_SCOPE, Use.APPLICATION, shows=(Part.DEFAULT_SCOPE,), refusal=False)
def the_default_scope_is_the_one_that_is_marked() -> None:
    """services."""


@suspect(NO_SCOPE, Use.SERVICE, Use.APPLICATION, shows=(Part.INVENTED_META,), refusal=False)
def what_a_service_implies_does_not_stand_in_the_tree() -> None:
    """use without a scope; meta service."""


@suspect("MPIDL-SVC-08", Use.LISTED_AGAIN)
def a_function_may_be_listed_again() -> None:
    """services; ML-27."""


@suspect(Clause.VERSION_ONCE, Use.VERSIONS)
def the_versions_of_one_name_are_one_service() -> None:
    """services."""


@suspect(Clause.FUNCTION_NAMES_DIFFER, Use.FUNCTION_IN_TWO_SERVICES)
def function_names_are_independent_between_services() -> None:
    """services."""


@suspect(Clause.VERSION_IS_A_NUMBER, Use.VERSION_ABOVE_ZERO)
def versions_are_in_any_order_and_with_any_gaps() -> None:
    """services; ML-05."""


@suspect(Clause.THROWN_IS_AN_EXCEPTION, Use.THROWS, shows=(Part.THROWS,))
def a_function_throws_what_it_names() -> None:
    """services."""


@suspect("MPIDL-SVC-10", Use.ARGUMENTS, shows=(Part.ARGUMENT_MARK,), refusal=False)
def whoever_takes_modifiers_of_arguments_shows_them() -> None:
    """services; ML-08."""


@suspect(Clause.ARGUMENTS, Use.ARGUMENTS, shows=(Part.ARGUMENTS,))
def arguments_have_ids_types_and_names() -> None:
    """services."""


@suspect("MPIDL-SVC-06", Use.RESULT, shows=(Part.RESULT,))
def a_result_is_of_any_type() -> None:
    """services."""


@suspect("MPIDL-SVC-04", Use.SERVICE, shows=(Part.FUNCTIONS,), refusal=False)
def a_version_has_the_functions_that_it_lists() -> None:
    """services."""


@suspect(Clause.SERVICE_FORM, Use.SERVICE, shows=(Part.SERVICE,))
def a_service_has_a_name_a_version_and_functions() -> None:
    """services."""


# -- messages and exceptions -------------------------------------------------------------------------------------------


@suspect(Clause.IDS_ABOVE_THE_BASE, Use.BASES)
def ids_above_those_of_the_base_are_free() -> None:
    """exception; ML-09."""


@suspect(STRING_FORM, Use.EXCEPTION, shows=(Part.PATH,), refusal=False)
def the_string_form_is_the_bases_from_the_root() -> None:
    """exception."""


@suspect("MPIDL-EXC-01", Use.EXCEPTION, shows=(Part.EXCEPTION,))
def an_exception_is_declared_like_a_message() -> None:
    """exception."""


@suspect(GENERICS, Use.TYPE_ARGUMENTS, shows=(Part.GENERIC,))
def type_arguments_have_type_arguments() -> None:
    """message."""


@suspect("MPIDL-TYPE-05", Use.DECLARED_TYPES, shows=(Part.DECLARED,))
def declared_messages_are_types() -> None:
    """services."""


@suspect(Clause.NULLABLE_ONCE, Use.NULLABLE)
def a_type_may_be_nullable() -> None:
    """message: "? makes a type nullable"."""


@suspect(Clause.NULLABLE_ONCE, Use.FIELDS, Use.ARGUMENTS, Use.RESULT, shows=(Part.NULL,), refusal=False)
def a_type_is_nullable_where_it_is_said() -> None:
    """message: "? makes a type nullable"."""


@suspect(Clause.ONE_MODIFIER, Use.MODIFIERS)
def a_field_may_have_a_modifier() -> None:
    """message."""


@suspect(Clause.ONE_MODIFIER, Use.FIELDS, shows=(Part.MODIFIER,), refusal=False)
def a_field_without_a_modifier_is_required() -> None:
    """message: "required non-nullable"."""


@suspect(IDS_IN_ANY_ORDER, Use.IDS_OUT_OF_ORDER)
def ids_need_neither_order_nor_all_numbers() -> None:
    """message."""


@suspect(BUILT_IN_TYPES, Use.BUILT_IN_TYPES)
def thirteen_types_are_built_in() -> None:
    """message: built-in types."""


@suspect(BUILT_IN_TYPES, Use.FIELDS, Use.ARGUMENTS, Use.RESULT, shows=(Part.BUILT_IN, Part.ALIASED), refusal=False)
def a_built_in_type_is_shown_as_itself() -> None:
    """message: built-in types."""


@suspect(Clause.FIELD_BEGINS_WITH_ID, Use.FIELDS)
def a_field_begins_with_its_id() -> None:
    """message."""


@suspect(IDS_IN_ANY_ORDER, Use.EMPTY_MESSAGE)
def a_message_may_be_empty() -> None:
    """message."""


@suspect(IDS_IN_ANY_ORDER, Use.MESSAGE, shows=(Part.MESSAGE,), refusal=False)
def a_message_has_the_fields_that_are_written() -> None:
    """message."""
