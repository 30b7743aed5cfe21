"""What one answer of a processor must look like. Source: 004_4ca5b084f7ea0751.txt; docs/implementations.md.

The answer to a document is a tree or errors. Whether it must be refused, and by which clause, was found out by the
readers; the rules here say what is broken by whoever does otherwise, and `causes` which clause is the likeliest.
"""

from __future__ import annotations

from typing import Any

from specs.msgpack.idl import canon
from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.compiler.book import COMPILER
from specs.msgpack.idl.compiler.case import Case, equal
from specs.msgpack.idl.compiler.causes import MISREAD, TREE
from specs.msgpack.idl.compiler.machine import ANSWERED, SAME_ANSWER
from specs.rules import Broken

DOCUMENT, HOSTILE = "document", "hostile document"
ERRORS = "MPIDL-ERR-01"


def _given(during: str) -> dict[str, Any]:
    return {"on": "answer", "if_": lambda case: case.during == during, "goes_on": True}


@COMPILER.form(ANSWERED, **_given("no question"))
def an_op_that_does_not_exist_is_not_known(case: Case) -> str:
    """Every question is answered by what it asks for (docs/implementations.md)."""
    assert case.line is not None
    known = not case.said.error and not case.said.bad and case.line.octets.lstrip()[:1] == b"{"
    return "it claims to know an op that does not exist" if known else ""


@COMPILER.form(SAME_ANSWER, **_given(HOSTILE))
def an_answer_has_the_id_of_its_question(case: Case) -> str:
    """What was asked before has no influence (docs/implementations.md)."""
    return f"{case.said.bad}: {case.shown}" if case.said.bad.startswith("the id") else ""


@COMPILER.form(ANSWERED, **_given(HOSTILE))
def whatever_is_asked_the_answer_is_an_object(case: Case) -> str:
    """Any document is answered, whatever it is (docs/implementations.md)."""
    assert case.line is not None
    return f"{case.said.bad}: {case.shown}" if case.said.bad and case.line.octets.lstrip()[:1] != b"{" else ""


@COMPILER.form(ERRORS, on="answer", if_=lambda case: case.during == DOCUMENT and not case.formed, goes_on=True)
def the_answer_is_a_tree_or_errors(case: Case) -> str:
    """A document is answered by a tree, or by errors and no tree (docs/implementations.md)."""
    return f"{case.said.bad or 'the question was not served'}: {case.shown}"


@COMPILER.form(SAME_ANSWER, on="answer", if_=lambda case: case.during == DOCUMENT and bool(case.before), goes_on=True)
def the_same_document_gets_the_same_answer(case: Case) -> str:
    """Whatever was asked in between: a document means what it says (docs/implementations.md)."""
    same = equal(case.tree, case.before[0])
    return "" if same else f"the same document is answered otherwise than before: {case.shown}"


@COMPILER.form(ERRORS, on="answer", if_=lambda case: case.during == DOCUMENT and case.refused, goes_on=True)
def each_error_names_a_line_of_the_document(case: Case) -> str:
    """An error has a line of the document, that of the fault where it is one of meaning; ML-13."""
    exact = case.ask.want == "line" and all(not fault.syntax for fault in case.reading.faults)
    wrong = _lines(case, exact=exact)
    return f"{wrong}: {case.shown}" if wrong else ""


@COMPILER.form(
    " ".join(Clause),
    on="answer",
    if_=lambda case: case.during == DOCUMENT and case.fault is not None,
    which=lambda case: case.fault.rule.value,
    goes_on=True,
)
def a_document_that_breaks_a_clause_is_refused(case: Case) -> Broken | str:
    """The clause that the document breaks is that of `Clause`; where the text itself does so, or the reason is good
    sense alone, taking it is a recommendation missed."""
    assert case.fault is not None
    if case.refused:
        return ""
    how = "a document is accepted that is none: {}" if case.fault.level is None else "{}, and it is accepted"
    return Broken(f"{how.format(case.fault.why)}: {case.shown}", level=case.fault.level)


@COMPILER.freedom("ML-08")
def an_open_point(case: Case) -> bool:
    """Points of which no text says whether they are legal."""
    return bool(case.reading.freedoms)


@COMPILER.freedom("ML-06")
def comments_of_great_depth(case: Case) -> bool:
    """comments: only that they nest is said, not how deep."""
    return not case.reading.freedoms and not case.must_be_taken


@COMPILER.form(
    "MPIDL-APP-08",
    on="answer",
    if_=lambda case: case.during == DOCUMENT and case.lacks_a_default and bool(case.declares_of_defaults),
    goes_on=True,
)
def an_application_without_a_default_scope_is_treated_as_declared(case: Case) -> str:
    """services: the text says nothing of it; the manifest's `missing_default` does."""
    wanted = case.declares_of_defaults
    return "" if case.refused is (wanted == "reject") else f"{wanted} is declared: {case.shown}"


@COMPILER.form(
    TREE,
    on="answer",
    if_=lambda case: case.during == DOCUMENT and case.refused and not case.reading.faults,
    causes=MISREAD,
    freed_by=(an_open_point, comments_of_great_depth),
    goes_on=True,
)
def a_legal_document_is_taken(case: Case) -> str:
    """What keeps to every clause is a document (all sections). A document that is taken is credited by its tree."""
    return f"a legal document is refused: {case.shown}: {case.said.value['errors']!r:.150}"


@COMPILER.form(
    TREE, on="answer", if_=lambda case: case.during == DOCUMENT and case.comparable, causes=MISREAD, goes_on=True
)
def the_tree_is_that_of_the_document(case: Case) -> str:
    """The definitions in their order, with all that is written in them, however they are written (all sections)."""
    found = case.difference
    return "" if found is None else f"the tree is wrong: {found.why}: {case.shown}"


def _lines(case: Case, *, exact: bool) -> str:
    """What is wrong with the places of errors, "" when nothing is."""
    errors, reading = case.said.value["errors"], case.reading
    if not isinstance(errors, list) or any(not isinstance(each, dict) for each in errors):
        return "errors is no list of objects"
    found = []
    for each in errors:
        line = canon.integer(each.get("line"))
        if line is None:
            return f"an error has no line but {each.get('line')!r:.40}"
        if not 1 <= line <= reading.length:
            return f"the line {line} is none of the document's {reading.length}"
        found.append(line)
    if exact and reading.lines and not any(first <= line <= last for line in found for first, last in reading.lines):
        return f"the fault is in line {' or '.join(f'{a}-{b}' for a, b in reading.lines)}, said is {found!r:.60}"
    return ""


# -- what the text permits, and was made use of ------------------------------------------------------------------------


def permission(requirement: str, *points: str) -> None:
    """Register a permission: it is made use of where a document with one of `points` is taken, and read rightly."""
    used = frozenset(points)

    @COMPILER.tried(requirement, on="answer", if_=lambda case: case.during == DOCUMENT and case.comparable)
    def a_permission_is_made_use_of(case: Case) -> bool:
        """ML-08: whoever takes such a document reads it as what it says."""
        return not used.isdisjoint(case.reading.freedoms) and case.difference is None


permission(
    "MPIDL-TYPE-06", "a type is used before it is declared", "a type of itself",
    "a base is used before it is declared", "an exception is used before it is declared",
)  # fmt: skip
permission(
    "MPIDL-TYPE-09", "a nullable type argument", "a key that is no integer, text or raw", "a key by an alias"
)  # fmt: skip
permission("MPIDL-APP-06", "no default scope", "an application before its services")
permission("MPIDL-APP-07", "two versions of one service as two scopes")
permission("MPIDL-NAME-02", "one name for things of different kinds")
permission("MPIDL-DEF-05", "a default of what is required")
