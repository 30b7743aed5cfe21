"""Ways of writing documents that must not matter, and how a plan is written without each of them.

Source: 004_4ca5b084f7ea0751.txt, comments. Only documents whose comments are balanced are written in another way.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from specs.msgpack.frames import Frame
from specs.msgpack.idl.clauses import Clause
from specs.msgpack.idl.compiler.causes import (
    BLOCKS,
    INTERFACES_WRITTEN_OUT,
    LINE_ENDS,
    LINES,
    NESTED,
    TRAPS,
    TREE,
    WHOLE_WORDS,
)
from specs.msgpack.idl.compiler.machine import SAME_ANSWER
from specs.msgpack.idl.server.causes import WIDE_INTEGERS
from specs.msgpack.idl.tokens import RESERVED
from specs.msgpack.lines import Ask
from specs.msgpack.registry import REQUIREMENTS
from specs.plan import Plan, Say, Step
from specs.protocol import Feature

_GAP = re.compile(r"(#|//)([^\r\n]*)|/\*|\*/|\"(?:[^\"\\\r\n]|\\.)*\"")
_EDGE = re.compile(r"/\*|\*/")


def recommented(source: str, line: Callable[[str, str], str], block: Callable[[str], str]) -> str | None:
    """`source` with its comments changed: `line(opener, body)`, `block(body)`; None when they are not balanced."""
    out: list[str] = []
    at = 0
    while part := _GAP.search(source, at):
        out.append(source[at : part.start()])
        at = part.end()
        text = part.group()
        if text == "*/":
            return None
        if text == "/*":
            depth = 1
            begun = at
            while depth:
                edge = _EDGE.search(source, at)
                if edge is None:
                    return None
                depth, at = depth + (1 if edge.group() == "/*" else -1), edge.end()
            out.append(block(source[begun : at - 2]))
        elif part[1]:
            out.append(line(part[1], part[2]))
        else:
            out.append(text)
    return "".join([*out, source[at:]])


def _flat(body: str) -> str:
    return "/*" + body.replace("/*", "  ").replace("*/", "  ") + "*/"


def _tame(body: str) -> str:
    """A comment without what opens or closes one, but for whole comments within it."""
    return "/*" + re.sub(r"//|[#\"']", " ", body) + "*/"


def _calm(opener: str, body: str) -> str:
    return opener + re.sub(r"/\*|\*/|//|[#\"']", " ", body)


def _keep(opener: str, body: str) -> str:
    return opener + body


def _whole(body: str) -> str:
    return f"/*{body}*/"


def _blank(body: str) -> str:
    return " " + "\n" * body.count("\n")


def _each(change: Callable[[str], str | None]) -> Callable[[Plan], Plan]:
    """A change of the text of every document of a plan."""

    def changed(plan: Plan) -> Plan:
        return plan.each(
            lambda step: (
                replace(step, frame=_other(step.frame, change))
                if isinstance(step, Say) and isinstance(step.frame, Ask) and step.frame.op == "parse"
                else step
            )
        )

    return changed


def _other(ask: Ask, change: Callable[[str], str | None]) -> Ask:
    try:
        text = change(ask.octets.decode())
    except UnicodeDecodeError:
        return ask
    return ask if text is None else replace(ask, octets=text.encode())


def _plain_ends(text: str) -> str:
    text = text.replace("\r\n", "\n")
    return text if text.endswith("\n") else text + "\n"


def _last(plan: Plan) -> Plan:
    """What is said last alone."""
    return _one(plan, -1)


def _first(plan: Plan) -> Plan:
    """What is said first alone."""
    return _one(plan, 0)


def _one(plan: Plan, which: int) -> Plan:
    said = [step for step in plan.steps if isinstance(step, Say) and isinstance(step.frame, Ask)]
    if len(said) < 2 or any(step.frame.op != "parse" for step in said):
        return plan
    return replace(plan, steps=(said[which],))


def _alone(plan: Plan) -> tuple[Plan, ...]:
    """Each of several documents alone."""
    said = [step for step in plan.steps if isinstance(step, Say) and isinstance(step.frame, Ask)]
    return tuple(alone for n in range(len(said)) if (alone := _one(plan, n)) != plan)


def _omitting(number: int) -> Callable[[Plan], Plan]:
    """Without one of several documents, counted from the end."""

    def change(plan: Plan) -> Plan:
        said = [step for step in plan.steps if isinstance(step, Say) and isinstance(step.frame, Ask)]
        if not 1 < number + 1 <= len(said) or any(step.frame.op != "parse" for step in said):
            return plan
        return replace(plan, steps=tuple(step for step in plan.steps if step is not said[-1 - number]))

    return change


_STUCK = re.compile(rf"\b(?:{'|'.join(sorted(RESERVED))})[A-Za-z0-9_]+")


def _renamed(text: str) -> str:
    """No name begins with a word of the language."""
    return _STUCK.sub(lambda part: part.group() if part.group() in RESERVED else "q" + part.group(), text)


def _lines_of(octets: bytes) -> list[bytes]:
    return octets.splitlines(keepends=True)


def _definitions_of(octets: bytes) -> list[bytes]:
    return [part for part in _DEFINITION.split(octets) if part]


def _dropping(number: int, parts: Callable[[bytes], list[bytes]]) -> Callable[[Plan], Plan]:
    """The last document without one of its parts, counted from its end."""

    def change(plan: Plan) -> Plan:
        for at in range(len(plan.steps) - 1, -1, -1):
            step = plan.steps[at]
            if isinstance(step, Say) and isinstance(step.frame, Ask) and step.frame.op == "parse":
                lines = parts(step.frame.octets)
                if not 0 <= number < len(lines) < MOST_LINES or step.frame.want:
                    return plan
                del lines[len(lines) - 1 - number]
                shorter = replace(step, frame=replace(step.frame, octets=b"".join(lines)))
                return replace(plan, steps=(*plan.steps[:at], shorter, *plan.steps[at + 1 :]))
        return plan

    return change


_DEFINITION = re.compile(rb"(?m)^(?=(?:message|exception|service|application|interface|typedef|typespec)\b)")
MOST_LINES = 24
"""Longer documents are not made shorter line by line."""
_TYPE = re.compile(r"\b(?:list|map)<[^\r\n(){}]*>")

_MEANT = ("FIELD", "TYPE", "EXC", "SVC", "APP", "INV", "NAME", "TD", "TS")
RULES = frozenset(
    requirement.id
    for requirement in REQUIREMENTS.values()
    if "idl" in requirement.roles and requirement.id.split("-")[1] in _MEANT
) | {Clause.LITERAL.value, INTERFACES_WRITTEN_OUT, TREE, BLOCKS, LINE_ENDS, WHOLE_WORDS}
"""What is blamed where the way of writing may be the cause."""
VALUES = frozenset(
    requirement.id for requirement in REQUIREMENTS.values() if {"idl-server", "idl-client"} & set(requirement.roles)
)
"""What is blamed where the form of integers may be the cause."""

_SIMPLER: tuple[tuple[str, Callable[[str], str | None]], ...] = (
    ("modifiers", lambda s: re.sub(r"\b(optional|required) +(?=[A-Za-z])", "", s)),
    ("defaults", lambda s: re.sub(r" = (- )?[^ \r\n,()]+", "", s)),
    ("nullable", lambda s: s.replace("?", "")),
    ("throws", lambda s: re.sub(r" throws [A-Za-z0-9_, ]+", "", s)),
    ("arguments", lambda s: re.sub(r"\([^()\r\n]*\)", "()", s)),
    ("exceptions", lambda s: re.sub(r"(?m)^exception (\w+) \{", r"message \1 {", s)),
    ("generics", lambda s: _TYPE.sub("int", s)),
)
"""What is only left out, where it does not matter, so that less is suspect."""


def _narrow(plan: Plan) -> Plan:
    """Calls of a server made from a document, and answers to a client made from one, are in the smallest form."""

    def narrow(step: Step) -> Step:
        if isinstance(step, Say) and isinstance(step.frame, Frame) and step.frame.wide:
            return replace(step, style=None, frame=replace(step.frame, wide=()))
        return step

    return plan.each(narrow)


FEATURES = (
    Feature("others", "", "", without=_first),
    *(Feature(f"document {n}", "", "", without=_omitting(n)) for n in range(7, 0, -1)),
    Feature("history", SAME_ANSWER, "an earlier document matters", RULES | {NESTED, TRAPS, LINES}, _last, _alone),
    *(Feature(f"part {n}", "", "", without=_dropping(n, _definitions_of)) for n in range(8)),
    *(Feature(f"line {n}", "", "", without=_dropping(n, _lines_of)) for n in range(MOST_LINES)),
    *(Feature(name, "", "", without=_each(change)) for name, change in _SIMPLER),
    Feature(
        "names",
        WHOLE_WORDS,
        "it matters that a name begins with a word of the language",
        RULES - {WHOLE_WORDS},
        _each(_renamed),
    ),
    Feature("line-ends", LINE_ENDS, "the form of line ends matters", RULES - {LINE_ENDS}, _each(_plain_ends)),
    Feature("nested", NESTED, "it matters that comments nest", RULES, _each(lambda s: recommented(s, _keep, _flat))),
    Feature("traps", TRAPS, "it matters what a comment says", RULES, _each(lambda s: recommented(s, _calm, _tame))),
    Feature("lines", LINES, "line comments matter", RULES, _each(lambda s: recommented(s, lambda *_: "", _whole))),
    Feature("wide calls", WIDE_INTEGERS, "it matters in which form integers are written", VALUES, _narrow),
    Feature("blocks", BLOCKS, "comments matter", RULES, _each(lambda s: recommented(s, _keep, _blank))),
)
"""The ways of writing documents that must not matter, the plainest last."""
