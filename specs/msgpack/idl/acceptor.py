"""The acceptor of an IDL processor: which answers a document may get.

Source: 004_4ca5b084f7ea0751.txt; the form of questions and answers is that of docs/implementations.md. Questions are
answered in their order. What a legal document must be read as, and why another must be refused, is `semantics.read`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any, NamedTuple

from specs.events import Closed, Event, Fact, Noise, Quiet, Said
from specs.model import Allow, Breach, Outcome
from specs.msgpack.idl import canon, suspects
from specs.msgpack.idl.grammar import IDL
from specs.msgpack.idl.semantics import Reading, Stance, read
from specs.msgpack.idl.tokens import depth_of_comments
from specs.msgpack.lines import Answer, Ask, Line, answer
from specs.msgpack.states import Config

GREATEST_DEPTH = 40
"""Comments within comments that must be read; what lies deeper is a matter of robustness."""
COMPARED = frozenset((
    "a type is used before it is declared", "a type of itself", "an exception as a type", "a nullable type argument",
    "a key that is no integer, text or raw", "the id 0", "modifiers of arguments", "gaps between arguments",
    "a default of what is required", "an id of more than 15 bits",
    "a function that another version has changed",
    "names that differ in case alone", "no default scope", "two versions of one service as two scopes",
    "a word of the language as a name", "a base is used before it is declared", "an application before its services",
    "an exception is used before it is declared", "one name for things of different kinds",
    "a fraction below zero", "a key by an alias", "two foreign types for one target",
))  # fmt: skip
"""Freedoms to refuse that leave no doubt about the tree of whoever does not."""


LOST = frozenset(("FIELD-05", "EXC-01", "SVC-01", "SVC-04", "SVC-07", "APP-01", "APP-05", "ERR-04", "IF-02", "TYPE-05"))
"""What a tree misses that was read from a text of which something was swallowed, or read that nobody wrote."""


class IdlState(NamedTuple):
    """Questions that are not answered, oldest first, and of those that were: (profile, text, tree or None)."""

    config: Config
    asked: tuple[Ask, ...] = ()
    answered: tuple[tuple[str, bytes, Any], ...] = ()
    gone: bool = False


def extensions_of(profile: str) -> frozenset[str]:
    """What stands behind `core` in a profile."""
    return frozenset(profile.split("+")[1:])


@lru_cache(maxsize=64)
def reading_of(octets: bytes, profile: str, stance: Stance) -> Reading:
    """What a document means; the same one is often asked about more than once."""
    return read(octets.decode("utf-8", "replace"), extensions_of(profile), stance)


def blame(short: str, why: str, then: IdlState | None = None, level: str | None = None) -> Breach:
    """A breach of the processor; judging goes on when the state after it is known."""
    name = short if short.startswith("MP") else IDL + short
    if then is None:
        return Breach("idl", name, why, level=level)
    return Breach("idl", name, why, then=then, level=level)


class IdlModel:
    """See the module."""

    drifts = False

    def initial(self, config: Config) -> IdlState:
        """Nothing asked."""
        return IdlState(config)

    def drift(self, state: IdlState) -> Iterable[IdlState]:
        """None."""
        return ()

    def owed(self, state: IdlState, role: str) -> Iterator[str]:
        """An answer to each question."""
        if role == "idl" and not state.gone:
            yield from (IDL + "ERR-03" for _ in state.asked)

    def step(self, state: IdlState, event: Event) -> Iterable[Outcome]:
        """One reading always."""
        if isinstance(event, Said):
            if event.by != "idl":
                return (Allow(state._replace(asked=(*state.asked, event.frame))),)
            return (_answered(state, event.frame),)
        if isinstance(event, Quiet):
            if event.final and state.asked and not state.gone:
                return (blame("ERR-03", f"no answer came: {_shown(state.asked[0])}"),)
            return (Allow(state),)
        if isinstance(event, Closed):
            if event.by != "idl" or not state.asked:
                return (Allow(state._replace(gone=True, asked=())),)
            return (blame("ERR-03", f"the processor ended: {_shown(state.asked[0])}"),)
        if isinstance(event, Noise):
            return (blame("ERR-03", f"a line without an end: {event.why}"),)
        assert isinstance(event, Fact)
        if event.name == "refused":
            return (blame("ERR-03", f"the processor cannot be started again: {event.value!s:.200}"),)
        return (Allow(state),)


def _shown(ask: Ask) -> str:
    text = ask.octets[:120].decode("utf-8", "backslashreplace")
    return f"{ask.op} of {text!r}{'…' if len(ask.octets) > 120 else ''}"


def _answered(state: IdlState, line: Line) -> Outcome:
    if not state.asked:
        if state.gone or not line.octets.strip():
            return Allow(state)
        return blame("ERR-02", f"a line that nobody asked for: {line.octets[:100]!r}")
    ask, *rest = state.asked
    after = state._replace(asked=tuple(rest))
    said = answer(ask, line)
    if ask.op != "parse":  # nobody knows this op
        known = not said.error and not said.bad and line.octets.lstrip()[:1] == b"{"
        return blame("ERR-03", "it claims to know an op that does not exist", after) if known else Allow(after)
    if ask.want == "free":
        return _robust(ask, said, line, after)
    reading = reading_of(ask.octets, ask.type, Stance(state.config.forward_refs, state.config.id_zero))
    if reading.deep:
        return _robust(ask, said, line, after)
    if said.bad or (said.error and not isinstance(said.value, dict)):
        return blame("ERR-01", f"{said.bad or 'the question was not served'}: {_shown(ask)}", after)
    return _judged(ask, said, reading, after)


def _robust(ask: Ask, said: Answer, line: Line, after: IdlState) -> Outcome:
    """Any answer is right."""
    if said.bad.startswith("the id"):
        return blame("ERR-02", f"{said.bad}: {_shown(ask)}", after)
    if said.bad and line.octets.lstrip()[:1] != b"{":
        return blame("ERR-03", f"{said.bad}: {_shown(ask)}", after)
    return Allow(after, (IDL + "ERR-03",))


def _judged(ask: Ask, said: Answer, reading: Reading, after: IdlState) -> Outcome:
    tree = None if said.error else said.value["ast"]
    covers: list[str] = []
    for profile, octets, other in after.answered:
        if (profile, octets) == (ask.type, ask.octets):
            if (tree is None) != (other is None) or not _equal(tree, other):
                return blame("ERR-02", f"the same document is answered otherwise than before: {_shown(ask)}", after)
            covers.append("ERR-02")
            break
    after = after._replace(answered=(*after.answered, (ask.type, ask.octets, tree)))
    must = [fault for fault in reading.faults if fault.level is None]
    if said.error:
        exact = ask.want == "line" and all(not fault.syntax for fault in reading.faults)
        wrong = _lines(said.value["errors"], reading, exact=exact)
        if wrong:
            return blame("ERR-01", f"{wrong}: {_shown(ask)}", after)
        if reading.faults:
            return Allow(after, (IDL + "ERR-01", *(fault.rule for fault in reading.faults)))
        if reading.freedoms or depth_of_comments(_text(ask)) > GREATEST_DEPTH:
            return Allow(after)
        rule = suspects.first(_text(ask), reading)
        return blame(rule, f"a legal document is refused: {_shown(ask)}: {said.value['errors']!r:.150}", after)
    if must:
        return blame(must[0].rule, f"a document is accepted that is none: {must[0].why}: {_shown(ask)}", after)
    lapses = tuple(
        blame(fault.rule, f"{fault.why}, and it is accepted: {_shown(ask)}", level=fault.level)
        for fault in reading.faults
    )
    if lapses:
        return Allow(after, (), lapses)
    if set(reading.freedoms) - COMPARED:
        return Allow(after)
    mine = canon.to_json(reading)
    found = canon.difference(mine, tree)
    if found is not None:
        rule = next(suspects.lexical(_text(ask)), found[0]) if found[0] in LOST else found[0]
        return blame(rule, f"the tree is wrong: {found[1]}: {_shown(ask)}", after)
    if any(tree == other and octets != ask.octets for _, octets, other in after.answered[:-1]):
        covers.append("ERR-04")
    return Allow(after, tuple(dict.fromkeys(IDL + name for name in (*covers, *suspects.shown(_text(ask), reading)))))


def _text(ask: Ask) -> str:
    return ask.octets.decode("utf-8", "replace")


def _equal(one: Any, other: Any) -> bool:
    return json.dumps(_settled(one), sort_keys=True) == json.dumps(_settled(other), sort_keys=True)


def _settled(tree: Any, key: str = "") -> Any:
    """A tree without what means nothing in it: the order of everything but definitions and type arguments."""
    if isinstance(tree, dict):
        return {name: _settled(part, name) for name, part in tree.items()}
    if not isinstance(tree, list):
        return tree
    parts = [_settled(part) for part in tree]
    return parts if key in ("definitions", "of") else sorted(parts, key=lambda part: json.dumps(part, sort_keys=True))


def _lines(errors: Any, reading: Reading, *, exact: bool) -> str:
    """What is wrong with the places of errors, "" when nothing is."""
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
