"""The reference processor of the IDL: a document in, its tree or what is wrong with it out.

Every freedom that the text leaves is a switch. `python -m impls.references.msgpack idl` answers JSON lines; with FILE
it prints the tree of one document, or its errors with the place marked.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from impls.references.msgpack.codec import Talk
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import CONTAINERS, PLAIN, Kind, Member, Method, Parser, Part
from impls.references.msgpack.idl_words import Word, Wrong
from impls.references.msgpack.switches import switch


@dataclass(frozen=True, slots=True, kw_only=True)
class IdlSwitches:
    """One behaviour out of all legal ones; `recommended` False misses every recommendation."""

    eol: str = switch("free", "free", "newline")
    forward_refs: str = switch("accept", "refuse")
    self_reference: str = switch("accept", "refuse")
    id_zero: str = switch("accept", "refuse")
    long_ids: str = switch("accept", "refuse")  # of more than 15 bits
    reserved: str = switch("accept", "refuse")
    nullable_arguments: str = switch("accept", "refuse")
    exception_types: str = switch("accept", "refuse")
    keys: str = switch("any", "plain")
    changed: str = switch("accept", "refuse")  # functions that another version has with other arguments or results
    argument_modifiers: str = switch("accept", "refuse")
    missing_default: str = switch("first", "reject")
    no_version: str = switch("accept", "refuse")
    unclaimed: str = switch("accept", "refuse")
    max_depth: int = switch(32, 48, 64, 200)
    recommended: bool = switch(True, True, False)
    errors: str = switch("first", "all")
    columns: str = switch("point", "none")
    order: str = switch("source", "sorted")
    sparse: bool = switch(True, False)


IDL_SWITCHES: Mapping[str, tuple[Any, ...]] = {each.name: each.metadata["values"] for each in fields(IdlSwitches)}


class Idl:
    """A processor. Keywords are the fields of `IdlSwitches`."""

    parser_type = Parser
    checker_type = Checker

    def __init__(self, **switches: Any) -> None:
        self.switches = IdlSwitches(**switches)

    @classmethod
    def random(cls, seed: int, **fixed: Any) -> Self:
        """A processor with every switch drawn by `seed`, half of them the default, but for those in `fixed`."""
        chance = random.Random(seed)
        drawn = {name: chance.choice(values) if chance.random() < 0.5 else values[0]
                 for name, values in IDL_SWITCHES.items()}  # fmt: skip
        return cls(**{**drawn, **fixed})

    # As an implementation in memory

    def open(self) -> Talk:
        """One conversation."""
        return Talk(self)

    def advance(self, ms: float) -> None:
        """Nothing happens by itself."""

    # Lines

    def line(self, line: bytes) -> bytes:
        """The answer to one line."""
        try:
            said = json.loads(line)
            answer: dict[str, Any] = {"id": said.get("id")}
        except (ValueError, AttributeError, RecursionError):
            return b'{"error": "no JSON object"}'
        source = said.get("source")
        if said.get("op") != "parse" or not isinstance(source, str):
            return json.dumps(answer | {"error": "unsupported"}).encode()
        return json.dumps(answer | {"ok": self.parse(source, str(said.get("profile") or "core"))}).encode()

    def parse(self, source: str, profile: str = "core") -> dict[str, Any]:
        """`{"ast": …}` or `{"errors": […]}`."""
        try:
            parts = self.read(source, profile)
        except Wrong as wrong:
            return {"errors": [self.report(wrong)]}
        checker = self.checker_type(parts, self.switches)
        if found := checker.run():
            return {"errors": [self.report(wrong) for wrong in (found if self.switches.errors == "all" else found[:1])]}
        try:
            return {"ast": {"definitions": [self.tree(part, checker) for part in parts]}}
        except Wrong as wrong:
            return {"errors": [self.report(wrong)]}

    def read(self, source: str, profile: str) -> list[Part]:
        """The parts of a document. Raises Wrong."""
        parser = self.parser_type(source, self.switches)
        parts = parser.document()
        if self.switches.unclaimed == "refuse" and parser.used - set(profile.split("+")):
            raise Wrong("extension", "this belongs to an extension", parts[0].word, "syntax")
        return parts

    def report(self, wrong: Wrong) -> dict[str, Any]:
        """An error as it is told."""
        column = wrong.word.column if self.switches.columns == "point" else None
        return {
            "kind": wrong.kind,
            "code": wrong.code,
            "line": wrong.word.line,
            "col": column,
            "message": wrong.message,
        }

    # Trees

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        """A definition."""
        name = part.word.text
        if part.what == "message":
            return {"k": "message", "name": name, "fields": self.members(part.members, checker)}
        if part.what == "exception":
            path, at = [name], part
            while at.base is not None and at.base.text in checker.types and len(path) <= len(checker.types):
                at = checker.types[at.base.text]
                path.insert(0, at.word.text)
            base = {} if part.base is None and self.switches.sparse else {"base": part.base and part.base.text}
            return {"k": "exception", "name": name, **base, "path": self.path(path),
                    "fields": self.members(part.members, checker)}  # fmt: skip
        if part.what in ("service", "interface"):
            used = [checker.interfaces.get((word.text, version)) for word, version in part.uses]
            methods = [method for each in used if each is not None for method in each.methods]
            functions = [self.method(method, checker) for method in [*methods, *part.methods]]
            return {"k": part.what, "name": name, "version": part.version, "functions": functions}
        if part.what == "application":
            return {"k": "application", "name": name, "entries": [
                {"service": mount.service.text, "version": mount.version, "scope": mount.scope.text,
                 **({} if self.switches.sparse and not mount.default else {"default": mount.default})}
                for mount in part.mounts]}  # fmt: skip
        if part.what == "typedef":
            assert part.kind is not None
            return {"k": "typedef", "name": name, "type": self.kind(part.kind, checker)}
        field = {"field": part.target} if part.target else {}
        return {"k": "typespec", "for": part.language, "target": name, **field, "foreign": part.foreign}

    def path(self, names: list[str]) -> str:
        """The string form of an exception, root first."""
        return ".".join(names)

    def members(self, members: list[Member], checker: Checker) -> list[dict[str, Any]]:
        """Fields or arguments."""
        chosen = sorted(members, key=lambda m: m.number) if self.switches.order == "sorted" else members
        return [self.member(member, checker) for member in chosen]

    def member(self, member: Member, checker: Checker) -> dict[str, Any]:
        """A field or an argument."""
        made = {"id": member.number, "name": member.word.text, "mod": member.mod or "required",
                "type": self.kind(member.kind, checker)}  # fmt: skip
        if member.value is not None and (member.value[0] != "null" or not self.switches.sparse):
            made["default"] = self.literal(*member.value)
        return made

    def literal(self, what: str, value: Any) -> Any:
        """A literal; integers beyond 2^53 as text."""
        return str(value) if what == "int" and abs(value) > 1 << 53 else value

    def method(self, method: Method, checker: Checker) -> dict[str, Any]:
        """A function."""
        made = {"name": method.word.text, "ret": self.kind(method.result, checker),
                "args": self.members(method.members, checker)}  # fmt: skip
        if method.throws or not self.switches.sparse:
            made["throws"] = [word.text for word in method.throws]
        return made

    def kind(self, kind: Kind, checker: Checker, depth: int = 0) -> dict[str, Any]:
        """A type, its aliases expanded. Raises Wrong where that is too deep."""
        if depth > self.switches.max_depth:
            raise Wrong("depth", "types are nested too deep", kind.word)
        kind = checker.real(kind)
        nullable = kind.nullable
        made: dict[str, Any]
        if kind.name in CONTAINERS:
            made = {"t": kind.name, "of": [self.kind(arg, checker, depth + 1) for arg in kind.args]}
        elif kind.name in PLAIN or kind.name == "void":
            made = {"t": kind.name}
        else:
            made = {"t": "ref", "name": kind.name}
        return made | ({"null": nullable} if nullable or not self.switches.sparse else {})


def marked(source: str, wrong: Mapping[str, Any], name: str) -> str:
    """An error with its line and a caret under the place."""
    lines = source.split("\n")
    line = lines[wrong["line"] - 1].rstrip("\r")[:200] if wrong["line"] <= len(lines) else ""
    caret = " " * ((wrong["col"] or 1) - 1) + "^"
    return f"{name}:{wrong['line']}:{wrong['col'] or 1}: {wrong['kind']} error: {wrong['message']}\n  {line}\n  {caret}"


__all__ = ["IDL_SWITCHES", "Idl", "IdlSwitches", "Word", "marked"]
