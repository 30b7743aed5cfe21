"""What MessagePack hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from specs.events import Event, Fact, Said
from specs.msgpack import client, codec, frames, server
from specs.msgpack.calls import METHODS
from specs.msgpack.features import FEATURES
from specs.msgpack.format import encoded
from specs.msgpack.frames import Frame, shape
from specs.msgpack.idl import layout
from specs.msgpack.idl.client.book import CLIENT as MADE_CLIENT
from specs.msgpack.idl.client.machine import MACHINE as MADE_CLIENT_MACHINE
from specs.msgpack.idl.compiler.book import COMPILER
from specs.msgpack.idl.compiler.machine import MACHINE as COMPILER_MACHINE
from specs.msgpack.idl.server.book import SERVER as MADE_SERVER
from specs.msgpack.idl.server.machine import MACHINE as MADE_SERVER_MACHINE
from specs.msgpack.lines import UNKNOWN_OP, Ask, Line, answer
from specs.msgpack.machine import CALLER, CODEC, CONNECTION
from specs.msgpack.model import MsgpackModel
from specs.msgpack.registry import REQUIREMENTS
from specs.msgpack.server.book import SURVIVES
from specs.msgpack.states import OPEN_POINTS, Config
from specs.plan import Control, Plan, Ref, Say, Step, Wait
from specs.protocol import Fact as Key
from specs.protocol import Protocol

PORT = 18800
MOST_ID = (1 << 32) - 1
"""An id of a call has 32 bits."""
TAG = b"ZZ9Z"
"""Stands in names of documents for what is new in each conversation: what a processor remembers must not be met."""
SMALLEST = "service S: 0 {\n  string f()\n}\napplication A {\n  S: 0 s default\n}\n"
DECLARED = ("bare_name", "exception_wire", "missing_default")
"""Keys of a manifest that choose where the text leaves a choice; what is declared is judged."""
EXTENSIONS = ("def", "td", "ts", "meta", "if", "nosc")


META, QUESTIONS = "getVersion", 8
"""The function of the meta service, and how often in a row a client may ask for a version that was not told to."""


def versions_told(scopes: Mapping[str, int]) -> Say:
    """The answer to a client of a document that asks which version of a scope is served, as often as it does."""
    table = tuple(sorted(scopes.items()))
    return Say(0, frames.response(Ref("question"), None, Ref("version", table)), upto=QUESTIONS)


class MsgpackMemory:
    """What a running plan has learnt: the values that a codec gave, by the number of the question; the ids that a
    client chose and the handles that it gave, by the name of the call. Calls of a client made from a document are known
    by the number of the call, from 0: its request is the first while it goes on, but for questions for a version that
    it was not told to ask, which are remembered until they are answered."""

    def __init__(self, config: Config, fresh: str) -> None:
        self.tag = "".join(filter(str.isalnum, fresh)) or "t"
        self._asked: list[Ask] = []
        self._given: dict[Any, Any] = {}
        self._told: list[tuple[str, str]] = []
        self._unsent: dict[Any, list[str]] = {}  # names of calls that were told, by method
        self._calls: list[tuple[int, str]] = []
        self._questions: list[tuple[Any, str]] = []
        self._called = 0

    def note(self, event: Event) -> None:
        """Remember every value that was decoded, every id and every handle."""
        if isinstance(event, Fact):
            self._beside(event)
        if not isinstance(event, Said):
            return
        if isinstance(event.frame, Frame):
            request = shape(event.frame.body) == "request"
            if event.by == "client" and request:
                self._sent(*event.frame.body[1:3])
            elif event.by == "idl-client" and request:
                self._requested(*event.frame.body[1:])
            elif event.by == "server" and shape(event.frame.body) == "response":
                self._questions = [each for each in self._questions if each[0] != event.frame.body[1]]
        elif isinstance(event.frame, Ask):
            self._asked.append(event.frame)
        elif isinstance(event.frame, Line) and self._asked:
            ask = self._asked.pop(0)
            said = answer(ask, event.frame)
            if ask.op == "decode" and not said.error and not said.bad:
                self._given[ask.number] = {"x": said.value} if ask.way == "typed" else said.value

    def _sent(self, number: Any, method: Any) -> None:
        names = self._unsent.get(method, []) if isinstance(method, str) else []
        if names:
            self._given["id", names.pop(0)] = number

    def _requested(self, number: Any, method: Any, params: Any) -> None:
        number_of_call, function = self._calls[0] if self._calls else (0, "")
        if isinstance(method, str) and method.startswith(f"{META}:") and function != META:
            scope = next((part for part in params if isinstance(part, str)), "")
            self._questions.append((number, scope))
        elif self._calls:
            self._given.setdefault(("call", number_of_call), number)

    def _beside(self, event: Fact) -> None:
        if event.by == "server" and event.name not in ("drop", "octets"):
            given = event.value if isinstance(event.value, dict) else {}
            method = str(given.get("method", ""))
            name = str(given.get("_method", method))
            self._told.append((event.name, name))
            if event.name in ("call", "call_async"):
                self._unsent.setdefault(method, []).append(name)
            if "fn" in given:
                self._calls.append((self._called, str(given["fn"])))
                self._called += 1
        elif event.name == "answer" and self._told:
            op, name = self._told.pop(0)
            if op == "call" and self._calls:
                self._calls.pop(0)
            if op == "call_async" and isinstance(event.value, dict) and "ok" in event.value:
                self._given["handle", name] = event.value["ok"]

    def known(self, ref: Ref) -> bool:
        """True when the value of `ref` is known, be it null."""
        if ref.name == "alike":
            number = self._given.get(("id", ref.key[0]))
            return isinstance(number, int) and number + ref.key[1] <= MOST_ID
        if ref.name in ("question", "version"):
            return bool(self._questions)
        return _key(ref) in self._given

    def resolve(self, ref: Ref) -> Any:
        """`value`: what the question with the number `key` was answered with. `id` and `handle`: of the call with
        the name `key`; `alike`: the id of a call, and a number that is added to it; `call`: the id of the request that
        the call with the number `key` was made by. `question`: the id of the oldest question for a version; `version`:
        its answer, of the scopes and versions in `key`."""
        if ref.name in ("question", "version"):
            number, scope = self._questions[0] if self._questions else (None, "")
            return number if ref.name == "question" else dict(ref.key).get(scope, 0)
        if ref.name == "alike":
            return self._given["id", ref.key[0]] + ref.key[1] if self.known(ref) else None
        return self._given.get(_key(ref))

    def octets(self, ref: Ref) -> bytes | None:
        """A value, as it stands in a message."""
        return encoded(self.resolve(ref)) if self.known(ref) else None


def _key(ref: Ref) -> Any:
    return ref.key if ref.name == "value" else (ref.name, ref.key)


def resolve(frame: Any, memory: Any) -> Any:
    """`frame`, or what a client is told, with its Ref filled in; None while that is not known."""
    if isinstance(frame, Ask) and frame.op == "parse":
        return replace(frame, octets=frame.octets.replace(TAG, memory.tag.encode()))
    if isinstance(frame, Ask) and isinstance(frame.value, Ref):
        return replace(frame, value=memory.resolve(frame.value)) if memory.known(frame.value) else None
    if isinstance(frame, Frame) and isinstance(frame.body, tuple):
        refs = [part for part in frame.body if isinstance(part, Ref)]
        if not all(memory.known(ref) for ref in refs):
            return None
        if refs:
            body = tuple(memory.resolve(part) if isinstance(part, Ref) else part for part in frame.body)
            return replace(frame, body=body)
    if isinstance(frame, dict):
        if not all(memory.known(part) for part in frame.values() if isinstance(part, Ref)):
            return None
        return {name: memory.resolve(part) if isinstance(part, Ref) else part for name, part in frame.items()}
    return frame


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config; `learnt` as strategies.msgpack.discovery makes it."""
    offered = learnt.get("offered", METHODS)
    methods = tuple((name, facts[name]) for name in METHODS if facts[name] and name in offered)
    return Config(
        role,
        methods,
        malformed=facts["malformed"],
        old_raw=bool(facts["raw_wire"] == "str" or learnt.get("old_raw")),
        one_number=bool(learnt.get("one_number", False)),
        way=str(learnt.get("way", "")),
        serial=bool(learnt.get("serial", False)),
        brief=bool(learnt.get("brief", False)),
        curious=bool(learnt.get("curious", False)),
        profile=profile,
        forward_refs=bool(facts.get("forward_refs")),
        id_zero=bool(facts.get("id_zero")),
        layout=str(facts.get("encoding") or learnt.get("layout", "")),
        raw=facts.get("raw_wire") != "str",
        echo_form=int(learnt.get("echo_form", -1)),
        first=int(learnt.get("first", 1)),
        exceptions=_exceptions(facts, learnt) if role == "idl-client" else "",
        depth=int(facts.get("max_depth", 0)),
        size=int(facts.get("max_message", 0) or learnt.get("size", 0)),
        taken=OPEN_POINTS - frozenset(learnt.get("refused", ())),
        one_line=bool(learnt.get("one_line", facts.get("eol") == "free")),
        declared=tuple((key, str(facts[key])) for key in DECLARED if facts.get(key)),
    )


def _exceptions(facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> str:
    """The form in which a client knows exceptions: as it declares, or as it is found out."""
    declared = facts.get("exception_wire")
    return {"list": "list", "code": "code", "text": "code"}.get(str(declared), str(learnt.get("exceptions", "")))


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged: two calls, or the refusal of an op that does not exist."""
    if config.role == "codec":
        return Plan((Say(0, Ask(1, UNKNOWN_OP)),))
    if config.role == "idl":
        plain = Ask(2, "parse", b"message M" + TAG + b" {\n  1: int x\n}\n", "idl", config.profile)
        return Plan((Say(0, Ask(1, UNKNOWN_OP)), Say(0, plain)))
    if config.role == "idl-server":
        served = {"idl": SMALLEST, "application": "A", "behaviour": {"s/0/f": {"do": "tag"}}}
        return Plan((Control(0, "serve", served), Say(0, frames.request(1, "f:s:0"))))
    if config.role == "idl-client":
        called = {"app": "A", "scope": "s", "version": 0, "fn": "f", "args": []}
        versions = versions_told({"s": 0})
        done: list[Step] = [Control(0, "connect", {"idl": SMALLEST, "app": "A"}), versions]
        for number in (0, 1):
            done += [Control(0, "call", called), versions, Say(0, frames.response(Ref("call", number), None, "done"))]
        return Plan((*done, Wait(0), Control(0, "disconnect", {}), Wait(0)))
    if config.role == "client":
        steps: list[Step] = [Control(0, "connect", {})]
        for method in ("first", "second"):
            steps.append(Control(0, "call", {"method": method, "params_hex": "9101"}))
            steps.append(Say(0, frames.response(Ref("id", method), None, 1)))
        return Plan((*steps, Wait(0), Control(0, "disconnect", {}), Wait(0)))
    echo = config.name("echo")
    return Plan(tuple(Say(0, frames.request(number, echo, number)) for number in (1, 2)))


def from_url(url: str) -> tuple[str, int, Mapping[str, Any]]:
    """`msgpack-rpc://host:port`."""
    parts = urlsplit(url)
    return parts.hostname or "127.0.0.1", parts.port or PORT, {}


def valid_profile(profile: str) -> bool:
    """`core`, or `core` and extensions of the interface language, joined by `+`."""
    core, *extensions = profile.split("+")
    return core == "core" and len(set(extensions)) == len(extensions) and set(extensions) <= set(EXTENSIONS)


protocol = Protocol(
    name="msgpack",
    roles={
        "server": "client",
        "client": "server",
        "codec": "user",
        "idl": "user",
        "idl-server": "client",
        "idl-client": "server",
    },
    wires={"client": "caller", "codec": "lines", "idl": "lines", "idl-server": "serving", "idl-client": "caller"},
    profiles=("core",),
    facts={
        "echo": Key(str, "echo", "the method that gives back its one argument"),
        "add": Key(str, "add", "the method that adds two integers"),
        "fail": Key(str, "fail", "the method that fails with the text given"),
        "sleep": Key(str, "sleep", "the method that answers after so many milliseconds, with their number"),
        "count": Key(str, "", "the method that says how many notifications `bump` have arrived; not tested when empty"),
        "bump": Key(str, "bump", "the notification that is counted"),
        "malformed": Key(
            str, "", "the reaction to what is no message: close, error-then-close, error-and-continue or ignore"
        ),
        "raw_wire": Key(str, "", "bin, str or both; str is the format of before 2013"),
        "max_depth": Key(int, 0, "containers around a value that are taken"),
        "max_message": Key(int, 0, "octets of a message that are taken"),
        "roles": Key(list, [], "the roles that it plays"),
        "ext": Key(list, [], "extensions of the interface language: def, td, ts, meta, if, nosc"),
        "eol": Key(str, "", "free, or newline when items of the interface language end with their line"),
        "forward_refs": Key(bool, False, "whether types may be used before they are declared"),
        "id_zero": Key(bool, False, "whether a field may have the id 0"),
        "encoding": Key(str, "", "how messages are laid out: array-1 and others"),
        "bare_name": Key(
            str, "", "a method name without scope or version means the version that is declared or newest, or refuse"
        ),
        "exception_wire": Key(
            str, "", "an exception travels as list (path first), code (the path) or text (that holds the path)"
        ),
        "missing_default": Key(str, "", "an application without a default scope is taken (first or none), or reject"),
    },
    requirements=REQUIREMENTS,
    model=MsgpackModel(),
    decoder=frames.decoder,
    encode=frames.encode,
    resolve=resolve,
    memory=MsgpackMemory,
    configure=configure,
    describe=frames.describe,
    to_json=frames.to_json,
    from_json=frames.from_json,
    features=(*layout.FEATURES, *FEATURES),
    valid_profile=valid_profile,
    schemes={"msgpack-rpc": from_url},
    smoke=smoke,
    crash=SURVIVES,
    hang=SURVIVES,
    books={
        "server": (server.BOOK,),
        "client": (client.BOOK,),
        "codec": (codec.BOOK,),
        "idl": (COMPILER,),
        "idl-server": (MADE_SERVER,),
        "idl-client": (MADE_CLIENT,),
    },
    machines={
        "a connection to a server": CONNECTION,
        "a client": CALLER,
        "a codec": CODEC,
        "a processor of the interface language": COMPILER_MACHINE,
        "a server that is made from a document": MADE_SERVER_MACHINE,
        "a client that is made from a document": MADE_CLIENT_MACHINE,
    },
)

__all__ = ["Frame", "protocol"]
