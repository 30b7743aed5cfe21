"""What faulty processors of the interface language are made with, and short documents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker
from impls.references.msgpack.idl_parser import Parser
from impls.references.msgpack.idl_words import Scanner, Word
from specs.plan import Plan
from strategies.msgpack.idl import Script
from tests.mutants.msgpack_kit import Witness, idl_ids, registering


def asks(*texts: str, want: str = "") -> Witness:
    """Questions about some documents."""

    def witness(config: Any) -> Plan:
        script = Script(config, hurry=False)
        for text in texts:
            script.ask(text, want)
        return script.plan()

    return witness


def idl_of(part: type) -> type[Idl]:
    """A processor made of a faulty part."""
    if issubclass(part, Idl):
        return part
    if issubclass(part, Scanner):
        part = type("FaultyParser", (Parser,), {"scanner_type": part})
    kind = "parser_type" if issubclass(part, Parser) else "checker_type"
    return type("Faulty", (Idl,), {kind: part})


def mutant(name: str, requirement: str, *texts: str, accept: str = "", level: str = "MUST") -> Callable[[type], type]:
    """Register the decorated class as a faulty part of a processor. Its docstring is the sentence that explains it."""
    witness = asks(*texts, want="line" if requirement == "ERR-01" else "")
    return registering("idl", idl_of, idl_ids)(name, requirement, witness, accept, level)


def message(*fields: str, name: str = "M") -> str:
    """A message with one field a line."""
    return f"message {name} {{\n" + "".join(f"  {field}\n" for field in fields) + "}\n"


def service(*functions: str, head: str = "S: 0", after: str = "", before: str = "") -> str:
    """A service with one function a line."""
    return before + f"service {head} {{\n" + "".join(f"  {each}\n" for each in functions) + "}\n" + after


def exception(head: str, *fields: str) -> str:
    """An exception with one field a line."""
    return f"exception {head} {{\n" + "".join(f"  {field}\n" for field in fields) + "}\n"


PLAIN = message("1: int x")
SERVED = service("int f()")
BASE = exception("A", "1: int x", "5: int y")


def application(*entries: str) -> str:
    """An application of S:0 and S:2."""
    body = "".join(f"  {entry}\n" for entry in entries)
    return SERVED + service("int f()", head="S: 2") + f"application App {{\n{body}}}\n"


class Lax(Checker):
    """Does not complain of some things."""

    codes: tuple[str, ...] = ()

    def complain(self, code: str, message: str, word: Word) -> None:
        if code not in self.codes:
            super().complain(code, message, word)


def lax(name: str, code: str, requirement: str, text: str, sentence: str, **more: str) -> None:
    """A processor that does not complain of one thing."""
    part = type("LaxPart", (Lax,), {"codes": (code,), "__doc__": sentence, "__module__": __name__})
    mutant(name, requirement, text, **more)(part)
