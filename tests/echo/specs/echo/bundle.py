"""What ECHO hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from specs.echo.frames import Line, decoder, encode
from specs.echo.machine import MACHINE
from specs.echo.model import BOOKS, EchoModel
from specs.echo.registry import REQUIREMENTS
from specs.echo.states import Config

from specs.events import Event, Said
from specs.plan import Plan, Ref, Say
from specs.protocol import Fact, Memory, Protocol


class EchoMemory:
    """Names of the PUTs seen on each connection, and fresh names: `fresh` is new each time a plan is driven."""

    def __init__(self, config: Config, fresh: str) -> None:
        self._fresh = fresh
        self._puts: dict[int, list[str]] = {}

    def note(self, event: Event) -> None:
        """Remember every PUT."""
        if isinstance(event, Said) and event.frame.word == "PUT":
            self._puts.setdefault(event.conn, []).append(event.frame.name)

    def resolve(self, ref: Ref) -> str | None:
        """`name`: a fresh one; `put`: the name of a PUT that came, key (connection, n)."""
        if ref.name == "name":
            return f"{self._fresh}{ref.key}"
        conn, nth = ref.key
        seen = self._puts.get(conn, [])
        return seen[nth] if nth < len(seen) else None


def resolve(line: Line, memory: Memory) -> Line | None:
    """`line` with its Ref filled in, or None while it is not known."""
    if not isinstance(line.name, Ref):
        return line
    name = memory.resolve(line.name)
    return None if name is None else replace(line, name=name)


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config."""
    return Config(facts["puts"] if role == "client" else None)


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged."""
    opener = "HELLO" if config.puts is None else "WELCOME"
    return Plan((Say(0, Line(opener)),))


def from_url(url: str) -> tuple[str, int, Mapping[str, Any]]:
    """`echo://host:port`."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or 7007, {}


def to_json(value: Any) -> Any:
    """A line or Ref as JSON data."""
    if isinstance(value, Line):
        return {"word": value.word, "name": to_json(value.name)}
    return {"ref": value.name, "key": value.key} if isinstance(value, Ref) else value


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    if not isinstance(data, dict):
        return data
    if "word" in data:
        return Line(data["word"], from_json(data["name"]))
    return Ref(data["ref"], tuple(data["key"]) if isinstance(data["key"], list) else data["key"])


protocol = Protocol(
    name="echo",
    roles={"server": "client", "client": "server"},
    profiles=("1",),
    facts={"puts": Fact(int, 3, "how many PUTs a client makes when it is started")},
    requirements=REQUIREMENTS,
    model=EchoModel(),
    decoder=decoder,
    encode=encode,
    resolve=resolve,
    memory=EchoMemory,
    configure=configure,
    describe=lambda line: f"{line.word} {line.name}".strip(),
    to_json=to_json,
    from_json=from_json,
    schemes={"echo": from_url},
    smoke=smoke,
    books={role: (book,) for role, book in BOOKS.items()},
    machines={"connection": MACHINE},
)
