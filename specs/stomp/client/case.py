"""What the rules of a client look at: a frame that it sends or a report that it makes, and what it is about.

Which command a frame carries out is found before a rule is asked: the first one that fits, so that a frame which is
wrong in one point is still known by the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

from specs.stomp.client.machine import K
from specs.stomp.client.marks import marks
from specs.stomp.client.state import ClientState, Push, Send, Sub, Told, Tx, Want
from specs.stomp.damage import damage
from specs.stomp.frames import Frame
from specs.stomp.headers import RESERVED

NOTHING = Frame("")


class Outcome(Enum):
    """What the client reports: a closed set."""

    DONE = "the command was carried out"
    FAILED = "it was not"
    NONE = "there was no message"
    MESSAGE = "a message that was pushed, perhaps changed"
    STRANGE = "a message that was not pushed"


class Case:
    """One action of the client. `at` is the place of the send, subscription, transaction or message that it is about,
    -1 when there is none; `about` the open duty that it meets. `text` says more, for people. A reading of its own gives
    the place (`at`)."""

    during = ""
    left: tuple[K, ...] = ()

    def __init__(
        self, state: ClientState, action: str, frame: Frame = NOTHING, text: str = "", at: int | None = None
    ) -> None:
        self.state, self.action, self.frame, self.text = state, action, frame, text
        self.profile = state.config.version
        self.at = -1
        self.about: Any = self
        found = _FINDING.get(action)
        if found is not None:
            self.at = found(state, frame) if at is None else at
            self.about = self._item() if self.at >= 0 else self

    def _item(self) -> Any:
        state = self.state
        if self.action == "SEND":
            return state.sends[self.at]
        if self.action in ("SUBSCRIBE", "UNSUBSCRIBE"):
            return state.subs[self.at]
        if self.action in ("ACK", "NACK"):
            return self.want or self
        return state.txs[self.at]

    @property
    def phase(self) -> K:
        """Where the connection stands."""
        return self.state.phase

    @property
    def version(self) -> str:
        """The version of the session."""
        return self.state.version

    @property
    def send(self) -> Send:
        """The message that a SEND carries; only asked where there is one."""
        return self.state.sends[self.at]

    @property
    def sub(self) -> Sub:
        """The subscription that a frame opens or ends."""
        return self.state.subs[self.at]

    @property
    def tx(self) -> Tx:
        """The transaction that a frame begins or ends."""
        return self.state.txs[self.at]

    @property
    def push(self) -> Push:
        """The message that is acknowledged."""
        return self.state.pushes[self.at]

    @property
    def want(self) -> Want | None:
        """The acknowledgement that the application asked for, which an ACK or NACK carries out."""
        return wanted(self.state, self.action, self.at, inside=self.frame.get("transaction") is not None)

    @property
    def known(self) -> bool:
        """True for a frame that carries out a command."""
        return self.at >= 0

    @property
    def marks(self) -> frozenset[str]:
        """What could be the reason: what is special about the message that is waited for, or was said last."""
        push = waiting(self.state)
        return self.state.marks if push is None else of_message(self.state, push)


class Reported(Case):
    """What the client reports of the oldest command. Of a message: `got` is what was reported, `push` what was said."""

    def __init__(self, state: ClientState, value: Mapping[str, Any]) -> None:
        super().__init__(state, "reports")
        self.told: Told = state.told[0]
        self.about = self.told
        self.op, self.error = self.told.op, f"{value.get('error')!s:.200}"
        self.got: Mapping[str, Any] = {}
        self.outcome = Outcome.DONE if "ok" in value else Outcome.FAILED
        if self.op == "receive" and "ok" in value:
            self.got = value["ok"] if isinstance(value["ok"], Mapping) else {}
            self.at = _given(state, self.got) if self.got else -1
            self.outcome = Outcome.MESSAGE if self.at >= 0 else Outcome.STRANGE if self.got else Outcome.NONE
        self.waiting = waiting(state) if self.op == "receive" else None

    @property
    def body(self) -> bytes:
        """The body that was reported."""
        return _octets(self.got)

    @property
    def marks(self) -> frozenset[str]:
        """Of a message, what is special about it; else about what was said last."""
        if self.at >= 0:
            return of_message(self.state, self.push)
        return of_message(self.state, self.waiting) if self.waiting is not None else self.state.marks

    @property
    def named(self) -> str:
        """The message in words."""
        return f"the message {self.push.frame.body[:40]!r}"


def of_message(state: ClientState, push: Push) -> frozenset[str]:
    """What is special about one message, and about how it was said."""
    return marks(push.frame, state.version) | push.before


def _octets(got: Mapping[str, Any]) -> bytes:
    try:
        return bytes.fromhex(str(got.get("body_hex") or ""))
    except ValueError:
        return b""


def _given(state: ClientState, got: Mapping[str, Any]) -> int:
    """Which message was reported: by its body, its message-id, or as the first that is waited for."""
    body = _octets(got)
    headers = got.get("headers")
    name = headers.get("message-id") if isinstance(headers, Mapping) else None
    left = [at for at, push in enumerate(state.pushes) if not push.given]
    same = [at for at in left if state.pushes[at].frame.body == body]
    named = [at for at in left if name is not None and state.pushes[at].frame.get("message-id") == name]
    both = [at for at in same if at in named]
    mine = [at for at in same if state.pushes[at].sub == got.get("sub")]
    for found in (both, mine, same, named):
        if found:
            return found[0]
    sure = [at for at in left if state.pushes[at].sure and not state.pushes[at].bad and not state.pushes[at].behind]
    return sure[0] if sure and not state.lost else -1


def waiting(state: ClientState) -> Push | None:
    """The first message that has to reach the application and did not."""
    if state.phase is not K.LIVE:
        return None
    for push in state.pushes:
        if push.sure and not push.given and not push.bad and _is_wanted(state, push):
            return push
    return None


def awaits(state: ClientState) -> bool:
    """True when the oldest command is to send a message outside of transactions, and to ask for a receipt."""
    if not state.told:
        return False
    _, op, given = state.told[0]
    return op == "send" and bool(given.get("receipt")) and not given.get("transaction")


def _is_wanted(state: ClientState, push: Push) -> bool:
    sub = next((each for each in state.subs if each.name == push.sub), None)
    return sub is not None and sub.leaves < 0 and sub.nth not in state.failed


# -- which command a frame carries out ---------------------------------------------------------------------------------


def _first(*found: Sequence[int]) -> int:
    return next((each[0] for each in found if each), -1)


def _send(state: ClientState, frame: Frame) -> int:
    left = [at for at, send in enumerate(state.sends) if not send.seen]
    sound = [at for at in left if state.sends[at].nth not in state.failed]
    same = [at for at in left if state.sends[at].body == frame.body]
    return _first([at for at in same if at in sound], same, sound)


def _subscribe(state: ClientState, frame: Frame) -> int:
    left = [at for at, sub in enumerate(state.subs) if not sub.seen]
    sound = [at for at in left if state.subs[at].nth not in state.failed]
    same = [at for at in left if state.subs[at].destination == frame.get("destination")]
    if frame.get("destination") in state.former and not same:
        return -1  # one of a connection that has ended, which the client renews by itself
    return _first([at for at in same if at in sound], same, sound)


def _unsubscribe(state: ClientState, frame: Frame) -> int:
    name, place = frame.get("id"), frame.get("destination")
    for at, sub in enumerate(state.subs):
        if sub.open and (sub.wire == name if name is not None else state.version == "1.0" and sub.destination == place):
            return at
    return -1


def begun(state: ClientState, frame: Frame) -> Sequence[int]:
    """Which transactions a BEGIN may begin: one that the application calls so, and else any that is not begun yet.
    A library may begin one with what is first done in it, and so in another order than it was told, and one that is
    empty or aborted never, whose name may be used again (docs/ambiguities.md, "When a frame is owed")."""
    left = [at for at, tx in enumerate(state.txs) if not tx.seen]
    sound = [at for at in left if state.txs[at].nth not in state.failed]
    same = [at for at in sound if state.txs[at].name == frame.get("transaction")]
    return same or sound or left[:1]


def _begin(state: ClientState, frame: Frame) -> int:
    return _first(begun(state, frame))


def _end_of_tx(state: ClientState, frame: Frame) -> int:
    name = frame.get("transaction")
    open_ = [at for at, tx in enumerate(state.txs) if tx.seen and not tx.ended and tx.wire == name]
    return _first([at for at in open_ if state.txs[at].verb == frame.command], open_)


def _acknowledged(state: ClientState, frame: Frame) -> int:
    """The message that an ACK or NACK names, the first that is not settled if there are several."""
    found = [at for at, push in enumerate(state.pushes) if names(state, frame, push)]
    return _first([at for at in found if not state.pushes[at].settled], found)


def names(state: ClientState, frame: Frame, push: Push) -> bool:
    """True when an ACK or NACK names a message, in the way of the session's version."""
    said = push.frame
    if push.old:
        return False
    if state.version == "1.2":
        return frame.get("id") is not None and said.get("ack") == frame.get("id")
    sub = frame.get("subscription")
    same = frame.get("message-id") is not None and said.get("message-id") == frame.get("message-id")
    return same and (said.get("subscription") == sub or (sub is None and state.version == "1.0"))


def wanted(state: ClientState, verb: str, at: int, *, inside: bool) -> Want | None:
    """The acknowledgement of a message that the application asked for and that has not come. Of several one that is
    meant to be in a transaction, or not, as the frame is: what was kept for a transaction that was aborted never comes
    (docs/ambiguities.md, "When a frame is owed")."""
    left = [want for want in state.wants if want.at == at and want.verb == verb and not want.met]
    return next((want for want in left if (want.tx is not None) == inside), left[0] if left else None)


_FINDING = {
    "SEND": _send, "SUBSCRIBE": _subscribe, "UNSUBSCRIBE": _unsubscribe, "BEGIN": _begin, "COMMIT": _end_of_tx,
    "ABORT": _end_of_tx, "ACK": _acknowledged, "NACK": _acknowledged,
}  # fmt: skip


# -- what was changed on the way ---------------------------------------------------------------------------------------


def change(given: Sequence[tuple[str, str]], frame: Frame, version: str) -> tuple[str, str]:
    """How headers that an application gave differ from those of its frame: the requirement (see `damage`), and why."""
    for name, value in given:
        found = frame.get(name)
        if found == value:
            continue
        if found is not None:
            return damage(
                value, found, version
            ) or "other", f"the header {name!r} was given as {value!r} and is {found!r}"
        for other, text in frame.headers:
            if other not in RESERVED and text == value and damage(name, other, version):
                return damage(name, other, version), f"the header {name!r} was given and is {other!r}"
        return ("empty" if value == "" else "other"), f"the header {name!r} is missing"
    return "", ""
