"""Faulty bolts: what they do to values, to their order and to what is logged."""

from __future__ import annotations

import json
import re
from typing import Any

from impls.references.storm.child import Bolt, Callback, Running
from impls.references.storm.freedoms import Switches
from tests.mutants.faults import on
from tests.mutants.storm_kit import ACK, beat, both, child, emit, plain, told
from tests.mutants.storm_plays import numbered


def _values(name: str, *values: Any, accept: str = "") -> Any:
    return child(name, "BOLT-27", told(emit(*values), ACK), accept=accept)


_values("bolt-bool-numbers", True)(
    "true becomes 1.",
    on(Bolt, "emitted").gives(
        lambda found: {**found, "tuple": [int(v) if isinstance(v, bool) else v for v in found["tuple"]]}
    ),
)


@_values("bolt-narrow-numbers", 2147483648)
class NarrowNumbers(Bolt):
    """Numbers have 32 bits."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [(v + (1 << 31)) % (1 << 32) - (1 << 31) if type(v) is int else v for v in message["tuple"]]
        return {**message, "tuple": values}


_values("bolt-no-nulls", None)(
    "null is left out.",
    on(Bolt, "emitted").gives(lambda found: {**found, "tuple": [v for v in found["tuple"] if v is not None]}),
)
_values("bolt-numbered-members", {"0": "first"})(
    "An object whose members are numbered becomes an array.",
    on(Bolt, "emitted").gives(lambda found: {**found, "tuple": numbered(found["tuple"])}),
)
_values("bolt-stripped", " blanks ")(
    "Texts lose the blanks around them.",
    on(Bolt, "emitted").gives(
        lambda found: {**found, "tuple": [v.strip() if isinstance(v, str) else v for v in found["tuple"]]}
    ),
)


@_values("bolt-rounded", 0.1)
class Rounded(Bolt):
    """Numbers have single precision."""

    def emitted(self, step: Any, name: Any) -> dict[str, Any]:
        message = super().emitted(step, name)
        values = [float(f"{v:.6g}") + 1e-9 if isinstance(v, float) else v for v in message["tuple"]]
        return {**message, "tuple": values}


_values("bolt-flat", [None, [True, {"a": []}]])(
    "Arrays in arrays become texts.",
    on(Bolt, "emitted").gives(
        lambda found: {**found, "tuple": [json.dumps(v) if isinstance(v, list) and v else v for v in found["tuple"]]}
    ),
)


@child("bolt-reads-wrong", "BOLT-27", plain("\u2028"), accept="BOLT-26")
class ReadsWrong(Bolt):
    """U+2028 is lost where a tuple is read."""

    def process(self, message: dict[str, Any]) -> None:
        values = [v.replace("\u2028", "") if isinstance(v, str) else v for v in message["tuple"]]
        super().process({**message, "tuple": values})


@child("bolt-swapped", "BOLT-26", told(emit(1), emit(2), ACK), accept="BOLT-27", switches=Switches(waits=False))
class Swapped(Bolt):
    """The second of two emits comes first."""

    def obey(self, steps: Any, name: Any) -> Callback:
        emits = [n for n, step in enumerate(steps) if step.get("op") == "emit"]
        if len(emits) > 1:
            steps = list(steps)
            steps[emits[0]], steps[emits[1]] = steps[emits[1]], steps[emits[0]]
        yield from super().obey(steps, name)


@child("bolt-emits-again", "BOLT-26", told(emit(1), emit(2), ACK), accept="BOLT-27")
class EmitsAgain(Bolt):
    """An emit is repeated once a second list has come."""

    lists_seen = 0

    def got_ids(self, one: Running | None, ids: list[Any]) -> None:
        self.lists_seen += 1
        if self.lists_seen == 2 and one is not None:
            self.say({"command": "emit", "tuple": ["tag", 2]})
            self.waiting.append(None)
        super().got_ids(one, ids)


child("bolt-shadow-log", "BOLT-21", told({"op": "log", "msg": "two\nlines"}, ACK))(
    "Only the first line of a log is sent.", on(Bolt, "log").takes(text=lambda text: text.partition("\n")[0])
)


LOG = {"op": "log", "msg": "hello"}


@child("bolt-log-twice", "BOLT-21", told(LOG, LOG, ACK))
class LogTwice(Bolt):
    """A log that is equal to the one before it is left out."""

    before: str | None = None

    def log(self, text: str) -> None:
        if text != self.before:
            super().log(text)
        self.before = text


@child("bolt-log-after-beat", "BOLT-21", both(beat, told(LOG, ACK)))
class LogAfterBeat(Bolt):
    """Logs are lost after a heartbeat."""

    beats = 0

    def heartbeat(self, message: Any) -> None:
        self.beats += 1
        super().heartbeat(message)

    def log(self, text: str) -> None:
        if not self.beats:
            super().log(text)


child("bolt-log-number", "BOLT-21", told({"op": "log", "msg": "7"}, ACK))(
    "A log that looks like a number is one.",
    on(Bolt, "say").takes(
        message=lambda message: (
            {**message, "msg": 7} if message.get("command") == "log" and re.match(r"\w?7", message["msg"]) else message
        )
    ),
)
child("bolt-nothing-is-null", "BOLT-27", told({"op": "emit", "tuple": []}, ACK))(
    "The values of a tuple that has none are null.",
    on(Bolt, "emitted").gives(lambda found: {**found, "tuple": found["tuple"] or None}),
)
