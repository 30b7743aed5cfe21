"""What the seeded faults of MessagePack are made with: their registration, and short witnesses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from impls.references.msgpack.octets import Broken, Unpacker
from impls.references.msgpack.reference import Server, Session
from impls.references.msgpack.server import Reading
from specs.msgpack.idl.grammar import IDL
from specs.plan import Plan
from specs.protocol import find
from strategies.common import Program
from strategies.msgpack import misuse
from strategies.msgpack.writer import IDS, WIDE, Writer
from tests.mutants.record import Mutant, Witness, prefixed, seeding

MSGPACK = find("msgpack")
RPC, FMT = "MPRPC-", "MP-FMT-"
FACTS: Mapping[str, Mapping[str, Any]] = {
    "server": {"count": "count", "malformed": "close"},
    "idl": {"eol": "free", "forward_refs": True, "id_zero": True, "missing_default": "first"},
    "idl-server": {"bare_name": "declared", "exception_wire": "list"},
}
"""What the references declare beside the defaults, by role."""
PROFILES = {"codec": "core+def"} | dict.fromkeys(("idl", "idl-server", "idl-client"), "core+def+td+ts+meta+if+nosc")
"""What the references claim, where it is more than `core`."""


def _config_of(mutant: Mutant) -> Any:
    facts = {name: fact.default for name, fact in MSGPACK.facts.items()} | dict(mutant.facts)
    return MSGPACK.configure(mutant.role, mutant.profile, facts, {})


MUTANTS: list[Mutant] = []
"""All registered faults, in the order of their modules."""
_PARTS = {Reading: "reading_type"}


def full(text: str) -> tuple[str, ...]:
    """Full requirement ids from short ones separated by blanks."""
    return tuple(FMT + name if name[0].isdigit() else RPC + name for name in text.split())


idl_ids = prefixed(IDL)


def server_of(part: type) -> type[Server]:
    """A server class made of a faulty part."""
    if issubclass(part, Server):
        return part
    if issubclass(part, Session):
        return type("Faulty", (Server,), {"session_type": part})
    for kind, name in _PARTS.items():
        if issubclass(part, kind):
            return type("Faulty", (Server,), {"session_type": type("FaultySession", (Session,), {name: part})})
    return type("Faulty", (Server,), {"session_type": type("FaultySession", (Session,), {"packer_type": part})})


def registering(role: str, peer_of: Callable[[type], Callable[[], Any]], full: Callable[[str], tuple[str, ...]]) -> Any:
    """How faults of a role are registered, in which all claim and declare the same: see `seeding`."""
    fixed = {"protocol": "msgpack", "config_of": _config_of, "dies": role == "server"}
    fixed |= {"profile": PROFILES.get(role, "core"), "facts": FACTS.get(role, {})}

    def mutant(name: str, requirement: str, witness: Witness, accept: str = "", level: str = "MUST") -> Any:
        return seeding(
            MUTANTS, full, role, peer_of, requirement, accept=accept, level=level, name=name, witness=witness, **fixed
        )

    return mutant


def mutant(
    name: str, requirement: str, witness: Witness, *, switches: Mapping[str, Any] | None = None, **more: str
) -> Callable[..., type]:
    """Register a faulty part of a server."""
    return registering("server", lambda part: partial(server_of(part), **(switches or {})), full)(
        name, requirement, witness, **more
    )


def plan(*play: Callable[[Writer], None], hurry: bool = False, wire: int = 0) -> Witness:
    """A witness from functions that write it."""

    def witness(config: Any) -> Plan:
        writer = Writer(config, hurry=hurry, wire=wire)
        for each in play:
            each(writer)
        return writer.plan()

    return witness


def call(
    method: str, *params: Any, slot: int = 0, identity: int = 0, style: int = 0, when: str = ""
) -> Callable[[Writer], None]:
    """A call, `identity` and `style` as `Writer.call` takes them."""
    return lambda w: (w.call(w.line(slot), method, *params, identity=identity, style=style, when=when), None)[1]


def note(method: str, *params: Any, when: str = "") -> Callable[[Writer], None]:
    """A notification."""
    return lambda w: w.notify(w.line(), method, *params, when=when)


def boundary(number: int) -> int:
    """The identity argument that leads to an id at a boundary."""
    return 2 + 4 * IDS.index(number)


ONE = plan(call("echo", 1))
TWO = plan(call("echo", (1,), when="join"), call("echo", (2,), when="now"))
WIDEST = plan(call("echo", 1, style=1), wire=WIDE)


def abused(name: str, a: int = 0, b: int = 0, around: int = 0, **options: Any) -> Any:
    """One misuse with its witnesses. `around`: the last head number, which says what goes on around it."""
    return lambda config: misuse.interpret(Program((0, 0, 0, a, b, around), ()), config, only=(name,), **options)


def without_short_rest(data: bytes) -> bytes:
    """What came in one read, without up to three octets behind its last whole message."""
    reader, end = Unpacker(), 0
    reader.feed(data)
    try:
        for _ in reader.values():
            end = reader._at
    except Broken:
        return data
    return data[:end] if end and len(data) - end <= 3 else data


class Shortened:
    """What a reader keeps that loses the beginning of a message that comes with the end of one that was in pieces."""

    def __init__(self) -> None:
        self.begun = b""

    def __call__(self, data: bytes) -> bytes:
        """What is left of a read."""
        whole, reader, ends = self.begun + data, Unpacker(), [0]
        reader.feed(whole)
        try:
            ends += [reader._at for _ in reader.values()]
        except Broken:
            return data
        lost = bool(self.begun) and len(ends) == 2 and ends[1] < len(whole)
        data = data[: ends[1] - len(self.begun)] if lost else data
        self.begun = b"" if lost else whole[ends[-1] :]
        return data
