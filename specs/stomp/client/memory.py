"""What a running plan learns of a client, and the plan that must work before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.events import Event
from specs.model import ANYTHING, Allow
from specs.plan import Control, Plan, Ref, Say, SendBytes, Step, Wait
from specs.protocol import Memory
from specs.stomp.client.machine import K
from specs.stomp.client.model import ClientModel
from specs.stomp.client.state import ClientState
from specs.stomp.frames import ESCAPES, Frame, Style
from specs.stomp.states import Config

ABSENT = "\0absent"
"""The value of a header that is left out: a subscription of 1.0 need not have an id."""
SESSION = "session:s0\n"
"""A header that is always there in 1.0 (STOMP 1.0, CONNECT)."""
_MODEL = ClientModel()


class ClientMemory:
    """The conversation as the model has it, whatever was broken in it."""

    def __init__(self, config: Config, prefix: str) -> None:
        self._state: ClientState = _MODEL.initial(config)

    def note(self, event: Event) -> None:
        """Remember what was told, said, and sent."""
        for outcome in _MODEL.step(self._state, event):
            after = outcome.state if isinstance(outcome, Allow) else outcome.behind
            if after is not None and after is not ANYTHING:
                self._state = after

    def resolve(self, ref: Ref) -> Any:
        """`greeting`: the header lines that name a version in CONNECTED: the key, if the client offers that, else what
        it claims or the highest that it offers; a key that begins with "!" is meant as it is. Known as long as
        CONNECTED has to be said; `parting`: "" while it is said in parts. `ref`: what the client calls the nth message.

        The others are known in a session of the version that stands behind their key, since they are for frames which
        are written in its way. `sub`: the id of a subscription, by its name. `receipt`: the nth that is asked for and
        not said. `here`: "".
        """
        state = self._state
        if ref.name == "greeting":
            return self._greeting(str(ref.key)) if state.phase is K.ASKED else None
        if ref.name == "parting":
            return "" if state.parted and state.phase is K.ASKED else None
        if ref.name == "ref":
            return state.pushes[ref.key].ref if ref.key < len(state.pushes) else None
        key, version = ref.key
        if state.version != version or state.phase not in (K.LIVE, K.LEAVING, K.LOST):
            return None
        if ref.name == "receipt":
            return state.receipts[key][0] if key < len(state.receipts) else None
        if ref.name == "here":
            return ""
        sub = next((each for each in reversed(state.subs) if each.name == key and each.seen), None)
        return None if sub is None else ABSENT if sub.wire is None else sub.wire

    def octets(self, ref: Ref) -> Any:
        """`resolve`, as it is written in a header of a raw frame."""
        value = self.resolve(ref)
        return value.translate(ESCAPES[ref.key[1]]) if ref.name in ("sub", "receipt") and value else value

    def _greeting(self, wish: str) -> str:
        state = self._state
        if wish.startswith("!"):
            return f"version:{wish[1:]}\n"
        if wish == "" and "1.0" in state.offered:
            return SESSION
        ours = state.config.version
        chosen = wish if wish in state.offered else ours if ours in state.offered else max(state.offered)
        return f"version:{chosen}\n{SESSION if chosen == '1.0' else ''}"


def told_with(given: Mapping[str, Any], memory: Memory) -> dict[str, Any] | None:
    """What a client is told, with its Refs filled in; None while one is not known."""
    found = {name: memory.resolve(part) if isinstance(part, Ref) else part for name, part in given.items()}
    return None if any(part is None for part in found.values()) else found


def connecting(config: Config, **more: Any) -> Control:
    """The command by which a client connects."""
    given = {"host": config.host, "versions": [config.version], **more}
    if config.login:
        given |= {"login": config.login, "passcode": config.passcode}
    return Control(0, "connect", given)


def greeting(config: Config, wish: str, more: bytes = b"", eol: bytes = b"\n", when: str = "turn") -> SendBytes:
    """CONNECTED, once CONNECT has come; `more` are header lines behind the version. It is said as octets so that both
    ends of the connection know the version from here on."""
    if eol == b"\n":
        return SendBytes(0, (b"CONNECTED\n", Ref("greeting", wish), more + b"\n\0"), when)
    return SendBytes(0, (b"CONNECTED" + eol, Ref("greeting", wish), more + eol + b"\0"), when)


def receipts(config: Config, upto: int = 4) -> Say:
    """RECEIPT for whatever asks for one."""
    frame = Frame("RECEIPT", (("receipt-id", Ref("receipt", (0, config.version))),))
    return Say(0, frame, style=Style(config.version), upto=upto)


def client_smoke(config: Config) -> Plan:
    """A session, a message that the client gets, and one that it sends."""
    place = config.queue.template.replace("{name}", "smoke")
    body = (
        ("destination", place),
        ("message-id", "m1"),
        ("subscription", Ref("sub", ("s", config.version))),
        ("content-length", "5"),
    )
    serving: tuple[Step, ...] = (greeting(config, config.version), receipts(config))
    return Plan(
        (
            connecting(config), *serving,
            Control(0, "subscribe", {"destination": place, "sub": "s", "ack": "auto"}), *serving,
            Say(0, Frame("MESSAGE", body, b"smoke"), style=Style(config.version)),
            Control(0, "receive", {"timeout_ms": RECEIVE_MS}),
            Control(0, "send", {"destination": place, "body_hex": b"smoke".hex(), "headers": {}, "receipt": True}),
            *serving, Wait(0),
            Control(0, "disconnect", {}), receipts(config), Wait(0), Control(0, "drop", {}), Wait(0),
        )
    )  # fmt: skip


RECEIVE_MS = 12_000
"""How long a client waits for a message that has to come: longer than the suite is patient."""
