"""What the rules of a client look at: a message that it sends or a report that it makes, and the call it is about."""

from __future__ import annotations

from enum import Enum
from typing import Any

from specs.codec import Malformed
from specs.msgpack import values
from specs.msgpack.changes import Change, changed, shown_by
from specs.msgpack.client.book import BLOCKING, position, written
from specs.msgpack.format import decoded
from specs.msgpack.machine import C
from specs.msgpack.states import Call, ClientState


class Report(Enum):
    """What a client reports, beside what has become of the call: a closed set."""

    ASIDE = "a command that waits for no answer, or something that the client says by itself"
    FAILED = "the call failed"
    RESULT = "the call has a result"
    UNREADABLE = "the call has a result that is no value"


class Case:
    """One action. `call` is the one that it is about, or None; `about` the open duty that it meets. Of a message:
    `body` and `wide`. Of a report: `op`, `told` (what it says), `report` and `result`. `said`: text about others."""

    __slots__ = (
        "_change", "_foreign", "_shown", "about", "action", "at", "body", "call", "op", "report", "result", "said",
        "state", "told", "wide",
    )  # fmt: skip
    profile = ""
    during = ""
    left: tuple[C, ...] = ()

    def __init__(self, state: ClientState, action: str, body: Any = None, wide: tuple[str, ...] = (), said: str = ""):
        self.state, self.action, self.body, self.wide, self.said = state, action, body, wide, said
        self.at = written(state, action, body) if action in ("request", "notification") else None
        self.call: Call | None = None if self.at is None else state.calls[self.at]
        self.about: Any = self.call if action in ("request", "notification") and self.call is not None else self
        self.op, self.report, self.result = "", Report.ASIDE, None
        self.told: dict[str, Any] = {}
        self._change: Any = self
        self._foreign: str | None = None
        self._shown: frozenset[str] | None = None

    @property
    def phase(self) -> C:
        """Where the client stands."""
        return self.state.phase

    @property
    def named(self) -> Call:
        """The call that this is about; only asked where there is one."""
        assert self.call is not None
        return self.call

    @property
    def outcome(self) -> str:
        """What has become of the call that is reported, "none" when it is no report of a call."""
        return "none" if self.report is Report.ASIDE else self.named.outcome

    @property
    def failed(self) -> bool:
        """True when a call is reported as failed."""
        return self.report is Report.FAILED

    @property
    def sent(self) -> Any:
        """What has to arrive unchanged: the params of a message, the result of a call."""
        return self.named.params if self.action != "reports" else self.named.value

    @property
    def shown(self) -> frozenset[str]:
        """Requirements of the format that the value which was sent can break."""
        if self._shown is None:
            self._shown = shown_by(self.sent)
        return self._shown

    @property
    def change(self) -> Change | None:
        """What was changed on the way."""
        if self._change is self:
            got = self.result if self.action == "reports" else self.body[-1]
            self._change = changed(self.sent, got, self.state.config)
        return self._change  # type: ignore[no-any-return]

    @property
    def foreign(self) -> str:
        """Whose result is reported, when it is not the call's own: "another call", "a second response", "a stray
        response", or ""."""
        if self._foreign is None:
            weak = self.change is None or self.change.level == "SHOULD"
            self._foreign = "" if weak else self._whose()
        return self._foreign

    def _whose(self) -> str:
        # only a result that names its call tells whose it is: any other may be alike by chance
        others = [other for other in self.state.calls if other is not self.call and isinstance(other.value, tuple)]
        if any(other.method in other.value and values.alike(other.value, self.result) for other in others):
            return "another call"
        if any(values.alike(other, self.result) for other in self.named.again):
            return "a second response"
        stray = any(values.alike(other, self.result) for _, other in self.state.strays)
        return "a stray response" if stray else ""


def reporting(state: ClientState, told: dict[str, Any]) -> Case:
    """The case of an answer to the oldest command that was not answered."""
    case = Case(state, "reports")
    case.op, name = state.told[0]
    case.told = told
    case.about = state.told[0]
    case.at = position(state, name)
    case.call = None if case.at is None else state.calls[case.at]
    if case.op in BLOCKING and case.call is not None:
        case.report, case.result = _outcome(told)
    return case


def _outcome(told: dict[str, Any]) -> tuple[Report, Any]:
    """Whether a call is reported as failed, and its result, a Malformed when that cannot be read."""
    if "error" in told:
        return Report.FAILED, None
    found = told.get("ok")
    if not isinstance(found, dict):
        return (Report.RESULT, None) if found is None else (Report.UNREADABLE, Malformed("no result_hex"))
    bare = "error_hex" in found and "result_hex" not in found
    if bare or (found.get("error_hex") is not None and found.get("result_hex") is None):  # null is as good as nothing
        return Report.FAILED, None
    try:
        text = found.get("result_hex")
        return Report.RESULT, None if text is None else decoded(bytes.fromhex(text))[0]
    except Malformed as malformed:
        return Report.UNREADABLE, malformed
    except (TypeError, ValueError):
        return Report.UNREADABLE, Malformed("no hex")
