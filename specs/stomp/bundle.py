"""What STOMP hands to the other layers. See `specs.protocol.Protocol`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import unquote, urlsplit

from specs.events import Event, Said
from specs.plan import Plan, Ref, Say, SendBytes, Wait
from specs.protocol import Fact, Memory, Protocol
from specs.stomp import client, frames, ids
from specs.stomp.client.memory import ABSENT, ClientMemory, client_smoke, told_with
from specs.stomp.client.written import how_written
from specs.stomp.features import FEATURES, saying, spared
from specs.stomp.frames import Frame, Style
from specs.stomp.machine import MACHINE
from specs.stomp.registry import REQUIREMENTS
from specs.stomp.roles import BothModel
from specs.stomp.server.book import BOOK
from specs.stomp.states import Config, Kind, Sizes

PORT = 61613


class StompMemory:
    """Acknowledgement values seen, and fresh destinations: `prefix` is new each time a plan is driven."""

    def __init__(self, config: Config, prefix: str) -> None:
        self._templates = {"queue": config.queue.template, "topic": config.topic.template}
        self._prefix, self._apart, self._version = prefix, config.merges, config.version
        self._seen: dict[tuple[int, str], list[Frame]] = {}

    def note(self, event: Event) -> None:
        """Remember every MESSAGE by connection and subscription."""
        if isinstance(event, Said) and event.frame.command == "MESSAGE":
            sub = event.frame.get("subscription")
            self._seen.setdefault((event.conn, sub if sub is not None else ""), []).append(event.frame)

    def resolve(self, ref: Ref) -> str | None:
        """`queue` and `topic`: a fresh name; `odd`: the key with a fresh `{name}`.

        `ack` and `message-id`: of the nth MESSAGE, key (connection, subscription, n).
        """
        template = self._templates.get(ref.name)
        if ref.name == "odd":
            return str(ref.key).replace("{name}", self._prefix)
        if template is not None:
            return template.replace("{name}", f"{self._prefix}{ref.name[0] if self._apart else ''}{ref.key}")
        conn, sub, nth = ref.key
        seen = self._seen.get((conn, sub), ())
        if nth >= len(seen):
            return None
        value: str | None = seen[nth].get(ref.name)
        return value

    def octets(self, ref: Ref) -> str | None:
        """`resolve`, as it is written in a header of a raw frame."""
        value = self.resolve(ref)
        return None if value is None else value.translate(frames.ESCAPES[self._version])


def resolve(frame: Any, memory: Memory) -> Any:
    """`frame`, or what a client is told, with its Refs filled in, or None while one is not known."""
    if type(frame) is not Frame and isinstance(frame, Mapping):
        return told_with(frame, memory)
    for _, value in frame.headers:
        if type(value) is Ref:
            break
    else:
        return frame
    headers = []
    for name, value in frame.headers:
        known = memory.resolve(value) if type(value) is Ref else value
        if known is None:
            return None
        if known is not ABSENT:
            headers.append((name, known))
    return Frame(frame.command, tuple(headers), frame.body, frame.warts)


def memory(config: Config, prefix: str) -> Memory:
    """What a running plan learns, by the role that is judged."""
    return ClientMemory(config, prefix) if config.role == "client" else StompMemory(config, prefix)


def configure(role: str, profile: str, facts: Mapping[str, Any], learnt: Mapping[str, Any]) -> Config:
    """The model's config; `learnt` as strategies.stomp.discovery makes it."""
    if role == "client":
        given = {name: facts[name] for name in ("login", "passcode", "host")}
        return Config(profile, queue=Kind(facts["queue"], fanout=False), role=role, **given)
    traits = {family: dict(learnt.get(family, {})) for family in ("queue", "topic")}
    return Config(
        version=profile,
        supports=frozenset(learnt.get("supports", (profile,))),
        login=facts["login"],
        passcode=facts["passcode"],
        host=facts["host"],
        queue=Kind(facts["queue"], **{"fanout": False, "keeps": False, **traits["queue"]}),
        topic=Kind(facts["topic"], **{"fanout": True, "own": False, **traits["topic"]}),
        sizes=Sizes(*learnt.get("sizes", ())),
        crowded=bool(learnt.get("crowded", False)),
        places=int(learnt.get("places", 0)),
        folds=bool(learnt.get("folds", False)),
        trims=bool(learnt.get("trims", False)),
        merges=bool(learnt.get("merges", False)),
    )


def connect(config: Config, *, version: str | None = None, command: str = "CONNECT", **extra: str) -> Frame:
    """A CONNECT that the implementation must accept."""
    headers = [("accept-version", version or config.version), ("host", config.host)]
    if config.login:
        headers += [("login", config.login), ("passcode", config.passcode)]
    return Frame(command, (*headers, *[(name.replace("_", "-"), value) for name, value in extra.items()]))


def states(frame: Frame, profile: str) -> bool:
    """True for a CONNECT of a client that lists the version `profile`, however it writes the list or the header's name
    (L42, L66-69): a client of 1.0 has no such header."""
    named = rf"(?<![0-9.]){re.escape(profile)}(?![0-9.])"
    return any(name.strip().lower() == "accept-version" and re.search(named, text) for name, text in frame.headers)


def smoke(config: Config) -> Plan:
    """The least that must work before anything is judged: a session, and one message to oneself through a queue; with a
    client, one that it sends and one that it gets."""
    if config.role == "client":
        return client_smoke(config)
    place = Ref("queue", "smoke")
    style = Style(config.version)
    return Plan(
        (
            Say(0, connect(config), style=style),
            Say(0, Frame("SUBSCRIBE", (("id", "0"), ("destination", place), ("receipt", "s"))), style=style),
            Say(0, Frame("SEND", (("destination", place), ("receipt", "m")), b"smoke"), style=style),
            Wait(0),
            Say(0, Frame("DISCONNECT", (("receipt", "d"),)), style=style),
        )
    )


def from_url(url: str) -> tuple[str, int, Mapping[str, Any]]:
    """`stomp://login:passcode@host:port/vhost`; the virtual host keeps what follows the first slash, or is "/"."""
    parts = urlsplit(url)
    facts: dict[str, Any] = {}
    if parts.username:
        facts |= {"login": unquote(parts.username), "passcode": unquote(parts.password or "")}
    if parts.path not in ("", "/"):
        facts["host"] = unquote(parts.path[1:])
    return parts.hostname or "127.0.0.1", parts.port or PORT, facts


def replayed(sent: bytes, received: bytes) -> list[bytes | tuple[str, int]]:
    """What was sent, with the id of an ACK or NACK to be found in the answers of a replay."""
    if sent.startswith((b"ACK\n", b"NACK\n")):
        for own, theirs in ((b"\nid:", b"ack"), (b"\nmessage-id:", b"message-id")):
            at = sent.find(own)
            if at < 0:
                continue
            start, end = at + len(own), sent.find(b"\n", at + len(own))
            values = [line.partition(b":")[2] for line in received.split(b"\n") if line.startswith(theirs + b":")]
            if sent[start:end] in values:
                match = f"\\n{theirs.decode()}:([^\\r\\n]*)"
                return [sent[:start], (match, values.index(sent[start:end])), sent[end:]]
    return [sent]


def to_json(value: Any) -> Any:
    """A frame, style or Ref as JSON data."""
    if isinstance(value, Frame):
        headers = [[name, to_json(text)] for name, text in value.headers]
        warts = {"warts": list(value.warts)} if value.warts else {}
        return {"command": value.command, "headers": headers, "body": value.body.hex(), **warts}
    if isinstance(value, Style):
        return {
            "version": value.version,
            "eol": value.eol.hex(),
            "before": value.before.hex(),
            "after": value.after.hex(),
            **({"mixed": value.mixed} if value.mixed else {}),
        }
    if isinstance(value, Ref):
        return {"ref": value.name, "key": value.key}
    if isinstance(value, Mapping):
        return {"told": [[name, to_json(part)] for name, part in value.items()]}
    return value


def from_json(data: Any) -> Any:
    """The inverse of `to_json`."""
    if not isinstance(data, dict):
        return data
    if "told" in data:
        return {name: from_json(part) for name, part in data["told"]}
    if "command" in data:
        headers = tuple((name, from_json(text)) for name, text in data["headers"])
        return Frame(data["command"], headers, bytes.fromhex(data["body"]), tuple(data.get("warts", ())))
    if "ref" in data:
        key = data["key"]
        return Ref(data["ref"], tuple(key) if isinstance(key, list) else key)
    eol, before, after = (bytes.fromhex(data[name]) for name in ("eol", "before", "after"))
    return Style(data["version"], eol, before, after, data.get("mixed", 0))


def written(role: str, step: Say | SendBytes, data: bytes) -> tuple[str, ...]:
    """How a step is written, where a client reads it."""
    return how_written(step, data) if role == "client" else ()


protocol = Protocol(
    name="stomp",
    roles={"server": "client", "client": "server"},
    profiles=("1.2", "1.1", "1.0"),
    facts={
        "login": Fact(str, "", "login sent in CONNECT; none when empty"),
        "passcode": Fact(str, "", "passcode sent in CONNECT"),
        "host": Fact(str, "/", "virtual host named in CONNECT"),
        "queue": Fact(str, "/queue/{name}", "a destination that gives each message to one subscriber"),
        "topic": Fact(str, "/topic/{name}", "a destination that gives each message to every subscriber"),
    },
    requirements=REQUIREMENTS,
    model=BothModel(),
    decoder=frames.decoder,
    encode=frames.encode,
    resolve=resolve,
    memory=memory,
    configure=configure,
    describe=frames.describe,
    to_json=to_json,
    from_json=from_json,
    features=FEATURES,
    schemes={"stomp": from_url},
    smoke=smoke,
    refuses=lambda frame: bool(frame.command == "ERROR"),
    beat=frames.is_beat,
    states=states,
    crash=ids.ROB_01,
    hang=ids.ROB_01,
    replayed=replayed,
    spared=spared,
    saying=saying,
    wires={"client": "caller"},
    books={"server": (BOOK,), "client": (client.BOOK,)},
    machines={"connection": MACHINE, "a client": client.MACHINE},
    written=written,
)
