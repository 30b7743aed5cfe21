"""The corpus of a campaign as a run plays it: stored programs, and what each has shown, of every protocol and role.

`python -m campaigns corpus` writes the file out of a warehouse; `--corpus FILE` plays it and nothing else: whatever the
search of many machines has come upon is tried again in seconds. Like those of a deck the programs are interpreted with
what is known of the implementation at hand, so the corpus of one implementation is a regression for any other.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from records.text import printable
from strategies.common import Op, Program
from suites.cards import Card

SCHEMA: Final = 1
MAX_OCTETS: Final = 64 << 20
"""Octets of a file."""
MAX_PROGRAMS: Final = 100_000
WHAT: Final = "Programs that a campaign kept, each the shortest that has shown something; played by --corpus."
HELD: Final = "held "
"""How the name of a feature begins that says which requirement was kept (campaigns/novelty.py)."""


class CorpusError(Exception):
    """The file is no corpus, or has nothing for what is to be judged; names the file and says what to do."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A program of the property with this key, and the features of which it is the shortest that is known."""

    key: str
    program: Program
    features: tuple[str, ...] = ()


Spoken = tuple[str, str]
"""A protocol and a role."""


def written(found: Mapping[Spoken, Sequence[Shown]]) -> str:
    """The file: a line for each program."""
    roles = []
    for (protocol, role), programs in sorted(found.items()):
        lines = (
            json.dumps({"key": one.key, "program": _stored(one.program), "shows": one.features}) for one in programs
        )
        about = f'"protocol": {json.dumps(protocol)}, "role": {json.dumps(role)}'
        roles.append(f'{{{about}, "programs": [\n' + ",\n".join(lines) + "\n]}")
    return f'{{"schema": {SCHEMA}, "what": {json.dumps(WHAT)}, "roles": [\n' + ",\n".join(roles) + "\n]}\n"


def load(path: Path, wanted: Iterable[Spoken]) -> dict[Spoken, list[Card]]:
    """The programs in a file for these protocols and roles. Raises CorpusError, also where there are none for any."""
    remedy = "python -m campaigns corpus --warehouse DIR --out FILE writes one"
    try:
        known = dict(_listed(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        why = printable(str(getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"), 200)
        raise CorpusError(f"{path}: this is no corpus ({why}); {remedy}") from None
    found = {spoken: known[spoken] for spoken in wanted if known.get(spoken)}
    if not found:
        has = ", ".join(f"a {role} of {protocol}" for (protocol, role), cards in sorted(known.items()) if cards)
        raise CorpusError(f"{path}: it has no programs for what is to be judged, only for {has or 'nothing at all'}")
    return found


def _listed(path: Path) -> Iterator[tuple[Spoken, list[Card]]]:
    if path.stat().st_size > MAX_OCTETS:
        raise ValueError(f"it is larger than {MAX_OCTETS} octets")
    document = json.loads(path.read_text("utf-8"))
    if not isinstance(document, dict) or "roles" not in document:
        raise ValueError("it has no member `roles`")
    if document["schema"] > SCHEMA:
        raise ValueError(f"schema {document['schema']!r} is of a newer release than this one")
    if sum(len(each["programs"]) for each in document["roles"]) > MAX_PROGRAMS:
        raise ValueError(f"it has more than {MAX_PROGRAMS} programs")
    for each in document["roles"]:
        yield (str(each["protocol"]), str(each["role"])), [_card(one) for one in each["programs"]]


def _card(given: Mapping[str, Any]) -> Card:
    held = (str(name).removeprefix(HELD).partition(" ")[0] for name in given["shows"] if str(name).startswith(HELD))
    return Card(str(given["key"]), program_of(given["program"]), frozenset(held))


def _stored(program: Program) -> list[Any]:
    return [program.head, [[op.kind, *op.args] for op in program.ops]]


def program_of(given: Sequence[Any]) -> Program:
    """A program as JSON has it. Raises TypeError or ValueError when it is none."""
    head, ops = given
    return Program(_numbers(head), tuple(Op(str(kind), _numbers(args)) for kind, *args in ops))


def _numbers(given: Sequence[Any]) -> tuple[int, ...]:
    if not all(type(number) is int and number >= 0 for number in given):
        raise ValueError("what stands for a number is none")
    return tuple(given)
