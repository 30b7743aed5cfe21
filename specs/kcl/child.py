"""What a child may say and do. Requirement ids are those of requirements.toml, without their prefix."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from specs.kcl.frames import Message, Text
from specs.kcl.missing import explained
from specs.kcl.scripts import ANY, Latest, difference, observed, rest, same
from specs.kcl.states import FINALS, PREFIX, Config, Conv, Phase, Seen
from specs.model import Allow, Breach, Outcome

TAIL = 4096
"""Octets of a child's output, beside messages, that are kept to tell why a message is missing."""
SUCCESS = ("", None)


def breach(requirement: str, why: str, *, by: str = "child", also: str = "", **more: Any) -> Breach:
    """A breach of a requirement given without its prefix; `also` are others, separated by blanks."""
    return Breach(by, PREFIX + requirement, why, also=tuple(PREFIX + name for name in also.split()), **more)


def allow(conv: Any, *covers: str, lapses: tuple[Breach, ...] = ()) -> Allow:
    """Allowed; the state is put in by the model."""
    return Allow(conv, _prefixed(covers), lapses)


@cache
def _prefixed(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(PREFIX + name for name in names)


# -- messages ----------------------------------------------------------------------------------------------------------


def text(conv: Conv, frame: Text) -> Outcome:
    """A line that is no message: a user's print."""
    if frame.why == "blank":
        return Allow(conv)
    return allow(conv._replace(tail=(conv.tail + frame.data + b"\n")[-TAIL:]))


def status(config: Config, conv: Conv, frame: Message) -> Outcome:
    """The child says that it is done."""
    answers = frame.members.get("responseFor")
    if conv.phase is Phase.DEAF:
        return _after_end(conv, frame, f"status for {answers!r:.60}")
    if conv.phase is Phase.ASKING and conv.hurt == "INV-CHILD-09":
        return breach(conv.hurt, "an answer that nobody had asked for was taken for that of a later request")
    if conv.phase is Phase.ASKING:
        return breach("CHECKPOINT-04", "a status came while a checkpoint request was open", also="CHECKPOINT-03")
    if conv.phase is not Phase.WORKING:
        return _no_action_open(conv, answers)
    if answers == "checkpoint":
        return breach("STAT-04", "the answer to a checkpoint was answered by a status")
    if answers != conv.action:
        named = "INIT-04" if conv.action == "initialize" else "STAT-01"
        return breach(named, f"the status for {conv.action} has responseFor {answers!r:.80}")
    if not conv.loose and conv.steps and config.scripted:
        return _too_early(conv)
    covers = _status_covers(config, conv)
    lapses: tuple[Breach, ...] = ()
    extra = [name for name in frame.members if name not in ("action", "responseFor")]
    if extra:
        lapses = (breach("STAT-07", f"the status has further members: {', '.join(map(repr, extra))[:80]}"),)
    elif conv.action == "shardEnded" and not config.scripted and not conv.asked:
        lapses = (breach("SHUT-10", "no checkpoint in shardEnded", level="SHOULD"),)
    phase = Phase.ENDING if conv.action in FINALS else Phase.READY
    if conv.loose:  # user code raised, so what it would have noted down may be missing
        conv = conv._replace(due=tuple(seen._replace(free=True) for seen in conv.due))
    after = conv._replace(phase=phase, steps=(), loose=False, refused=None, tail=b"", served=bool(conv.hurt))
    return allow(after, *covers, lapses=lapses)


def _no_action_open(conv: Conv, answers: Any) -> Outcome:
    if conv.hurt and conv.phase is not Phase.ENDING:
        return breach(conv.hurt, f"a status for {answers!r:.60} answers what was no action")
    if conv.action and answers == conv.action:
        return breach("STAT-02", f"{conv.action} was answered by a second status", also="STAT-03")
    return breach("STAT-03", f"a status for {answers!r:.60} came while {conv.phase.value}")


def _too_early(conv: Conv) -> Outcome:
    why = f"the status for {conv.action} came before user code was done: checkpoints are missing"
    if conv.action == "shardEnded":
        return breach("SHUT-10", "no checkpoint in shardEnded")
    if conv.action == "shutdown":
        late = breach("SHUT-05", "no checkpoint at the end of a shard")
        phase = Phase.ENDING
        return allow(conv._replace(phase=phase, steps=(), refused=None), "STAT-01", lapses=(late,))
    return breach("REC-08", why)


_COVERS: Mapping[str, tuple[str, ...]] = {
    "initialize": ("INIT-03", "INIT-04", "INIT-06", "PROC-05"),
    "processRecords": ("REC-07", "PROC-05"),
    "shutdown": ("SHUT-02", "PROC-05"),
    "shutdownRequested": ("SHUT-08",),
    "leaseLost": ("SHUT-09",),
    "shardEnded": ("SHUT-10",),
}
_ANY_STATUS = ("FRAME-01", "FRAME-03", "FRAME-06", "FRAME-11", "STAT-01", "STAT-02", "STAT-03", "STAT-07")


def _status_covers(config: Config, conv: Conv) -> tuple[str, ...]:
    covers = [*_ANY_STATUS, *_COVERS.get(conv.action, ())]
    if conv.action == "initialize" and not config.wire.rich:
        covers.append("INIT-09")
    if conv.action == "processRecords":
        covers += ["REC-08"] if config.scripted and conv.asked else []
        covers += ["TIME-03"] if conv.batch == 0 else ["REC-12", "INV-CHILD-15"] if conv.batch >= 1000 else []
    if conv.action == "shutdown" and config.scripted:
        covers.append("SHUT-05")
    if conv.action in ("initialize", "processRecords"):
        covers.append("CHECKPOINT-02")
    if conv.asked:
        covers += ["CHECKPOINT-03", "CHECKPOINT-04", "STAT-04"]
    if conv.before:
        covers.append("INIT-05" if conv.before == "initialize" else "REC-09")
    if conv.extra:
        covers.append("INV-CHILD-04")
    if conv.hurt:
        covers.append(conv.hurt)
    if conv.tail.strip():
        covers += ["FRAME-07", "FRAME-13"]
    return tuple(covers)


def checkpoint(config: Config, conv: Conv, frame: Message) -> Outcome:
    """The child asks for a checkpoint."""
    if conv.phase is Phase.DEAF:
        return _after_end(conv, frame, "a checkpoint request")
    if conv.phase is Phase.ASKING:
        return breach("CHECKPOINT-04", "a second checkpoint request came while one was open", also="CHECKPOINT-03")
    if conv.phase is not Phase.WORKING:
        return breach("CHECKPOINT-02", f"a checkpoint request came while {conv.phase.value}")
    if conv.action == "initialize":
        return breach(
            "INIT-06", "a checkpoint request came inside initialize", also="CHECKPOINT-02", then=_asking(conv)
        )
    if conv.action == "leaseLost":
        return breach("SHUT-09", "a checkpoint request came inside leaseLost", also="CHECKPOINT-02", then=_asking(conv))
    return _number(config, conv, frame.members)


def _asking(conv: Conv, number: Any = None) -> Conv:
    return conv._replace(phase=Phase.ASKING, number=number, asked=conv.asked + 1, tail=b"")


def _number(config: Config, conv: Conv, members: Mapping[str, Any]) -> Outcome:
    own, wire = config.wire.number, config.wire
    other = "sequenceNumber" if own == "checkpoint" else "checkpoint"
    named = "CHECKPOINT-12" if own == "sequenceNumber" else "CHECKPOINT-11"
    number = members.get(own)
    after = _asking(conv, number)
    if own not in members and other in members:
        return breach(named, f"a checkpoint request carries its number in {other}", then=after)
    if number is not None and not isinstance(number, str):
        return breach(named, f"{own} is {json.dumps(number)[:60]}, which is no text", also="CHECKPOINT-14", then=after)
    if wire.rich and not _sub_number(members.get("subSequenceNumber")):
        why = f"subSequenceNumber is {json.dumps(members['subSequenceNumber'])[:60]}, which is no number"
        return breach(named, why, then=after)
    covers = [named, "CHECKPOINT-02", "CHECKPOINT-04", "FRAME-01", "FRAME-06", "FRAME-03", "FRAME-11"]
    covers.append("SHUT-03" if conv.action == "shutdown" else "CHECKPOINT-01")
    covers += ["SHUT-08"] if conv.action == "shutdownRequested" else []
    if number is None:
        covers.append("CHECKPOINT-13")
    if config.scripted and not conv.loose:
        return _scripted(conv, after, number, named, covers)
    if number is not None and not conv.knows(number):
        lapse = breach("CHECKPOINT-14", f"{number!r:.80} was not delivered to this child")
        return allow(after, *covers, lapses=(lapse,))
    lapses: tuple[Breach, ...] = ()
    if conv.action == "shardEnded" and number is not None and wire.rich:
        lapses = (breach("SHUT-10", "the checkpoint in shardEnded has a number", level="SHOULD"),)
    return allow(after, *covers, "CHECKPOINT-14", lapses=lapses)


def _sub_number(value: Any) -> bool:
    """True for what a host can read as a subSequenceNumber: a whole number, or one as text, or none."""
    return value is None or isinstance(value, int) or (isinstance(value, str) and value.isdecimal())


def _scripted(conv: Conv, after: Conv, number: Any, named: str, covers: list[str]) -> Outcome:
    """User code was told what to ask for."""
    if conv.refused and number == conv.tried and conv.due and conv.due[-1].call == "checkpoint":
        return allow(after._replace(due=conv.due[:-1]), *covers)  # the library tries once more, and user code waits
    wanted = conv.steps[0] if conv.steps else None
    if isinstance(wanted, Latest):
        matches = number is None or number in wanted.numbers
    else:
        matches = bool(conv.steps) and number == wanted
    if matches:
        return allow(after._replace(steps=conv.steps[1:]), *covers, "CHECKPOINT-14")
    if conv.refused is not None and number == conv.tried:
        if conv.refused:
            return allow(after, *covers)
        return breach("CHECKPOINT-08", f"the checkpoint {number!r:.80} was asked for again although it had succeeded")
    if not conv.steps:
        if conv.action in FINALS and (number is not None or conv.last is not None):
            late = breach("SHUT-05", f"a checkpoint in {conv.action} that user code did not ask for")
            return allow(after, *covers, lapses=(late,) if conv.action == "shutdown" else ())
        return allow(after, *covers)
    if conv.action in FINALS:
        if number is not None and number == conv.last:
            lapse = breach("SHUT-10", "the checkpoint in shardEnded has a number", level="SHOULD")
            return allow(after._replace(steps=conv.steps[1:]), *covers, lapses=(lapse,))
        if conv.action != "shutdown":
            return breach("SHUT-10", f"the checkpoint in {conv.action} is at {number!r:.80}")
        if conv.raised or conv.hurt:  # what user code has received by then is not known for certain
            return allow(after._replace(steps=conv.steps[1:]), *covers)
    if wanted is None and number is not None and number == conv.last:
        lapse = breach(
            named, "user code asked for a checkpoint without a number, sent was the last one", level="SHOULD"
        )
        return allow(after._replace(steps=conv.steps[1:]), *covers, lapses=(lapse,))
    why = f"user code asked for the checkpoint {str(wanted)!r:.80}, sent was {number!r:.80}"
    return breach(named, why, also="CHECKPOINT-14", then=after._replace(steps=conv.steps[1:]))


def other(conv: Conv, frame: Message) -> Outcome:
    """A message that is no child's: a host ignores those that it knows and skips the rest, so it is talk."""
    return allow(conv._replace(tail=(conv.tail + frame.action.encode("utf-8", "replace") + b"\n")[-TAIL:]))


def _after_end(conv: Conv, frame: Message, what: str) -> Outcome:
    """The host has ended STDIN. An action that was open may still be finished."""
    if conv.stuck:
        return breach("FRAME-11", f"{what} came only once STDIN had ended: it was not flushed")
    if conv.was in (Phase.READY, Phase.ENDING, Phase.NEW) and not conv.hurt:
        return breach("STAT-03", f"{what} came after the end of STDIN, when no action was open")
    if conv.hurt == "INV-CHILD-13":
        return breach(conv.hurt, f"{what} came for half a line")
    return allow(conv._replace(served=bool(conv.hurt)))


# -- what user code was seen to do -------------------------------------------------------------------------------------


def observation(conv: Conv, value: Any) -> Outcome:
    """User code noted a callback down."""
    if not isinstance(value, Mapping) or not isinstance(value.get("call"), str):
        return allow(conv)
    seen = observed(value)
    if seen.call == "checkpoint" and conv.phase is Phase.DEAF and not conv.due:
        return _told_at_end(conv, seen)
    if conv.hurt == "CHECKPOINT-15" and seen == Seen("checkpoint", None) and Seen("checkpoint", ANY) in conv.due:
        return _misled(Seen("checkpoint", ANY), seen)
    if conv.loose or conv.hurt:
        return allow(_struck(conv, seen))
    due = list(conv.due)
    while due and due[0].call != seen.call and due[0].free:
        due.pop(0)
    if not due:
        return _unasked(conv, seen)
    at = int(due[0].begun and seen.call == "checkpoint" and len(due) > 1)  # the rest of the batch comes behind it
    wanted = due.pop(at)
    if wanted.call != seen.call:
        if seen.call == "checkpoint":
            return allow(conv)
        return breach(*_missing(wanted))
    if not same(wanted, seen):
        if seen.call == "checkpoint":
            return _misled(wanted, seen)
        left = rest(wanted, seen)
        if left is None:
            return breach(*difference(wanted, seen))
        due.insert(at, left)
    return allow(conv._replace(due=tuple(due)), *_observed_covers(conv, wanted))


def _struck(conv: Conv, seen: Seen) -> Conv:
    left = list(conv.due)
    for at, due in enumerate(left):
        if due.call == seen.call:
            del left[at]
            break
    return conv._replace(due=tuple(left))


def _unasked(conv: Conv, seen: Seen) -> Outcome:
    if seen.call == "checkpoint":
        if conv.phase is Phase.ASKING:
            return breach("CHECKPOINT-03", "user code was told the result of a checkpoint before the answer was sent")
        return allow(conv)
    if seen.call == "processRecords":
        return breach("REC-10", "user code got a batch that was not sent, or got it again")
    if seen.call == "initialize":
        return breach("INIT-03", "user code was initialized again")
    if conv.phase is Phase.DEAF:
        return allow(conv)  # what a library makes of the end of STDIN is its own affair
    return breach("REC-10", f"user code was called for {seen.call}, which was not sent")


def _told_at_end(conv: Conv, seen: Seen) -> Outcome:
    if conv.was is Phase.ASKING and seen.value is None:
        return breach("CHECKPOINT-16", "user code was told that a checkpoint succeeded although STDIN had ended")
    return allow(conv, *(["CHECKPOINT-16"] if conv.was is Phase.ASKING else []))


def _missing(due: Seen) -> tuple[str, str]:
    if due.begun:
        return "REC-10", f"user code did not get the last {len(due.value)} records of a batch"
    named = {"initialize": "INIT-03", "checkpoint": "CHECKPOINT-08", "shutdown": "SHUT-02"}
    more = {"leaseLost": "SHUT-09", "shardEnded": "SHUT-10", "shutdownRequested": "SHUT-08"}
    return {**named, **more}.get(due.call, "REC-10"), f"user code was not called for {due.call}"


def _misled(due: Seen, seen: Seen) -> Breach:
    if due.value == ANY:
        why = "user code was told that a checkpoint succeeded although it was not answered"
        return breach("CHECKPOINT-15", why, also="INV-CHILD-11")
    why = f"the answer had the error {due.value!r:.80}, user code was told {seen.value!r:.80}"
    return breach("CHECKPOINT-08", why)


def _observed_covers(conv: Conv, due: Seen) -> tuple[str, ...]:
    if due.call == "processRecords":
        covers = ["REC-05"] if len(due.value) > 1 else []
        if any(r[1] is not None and not r[1].isascii() for r in due.value):
            covers.append("FRAME-12")
        return ("REC-10", "REC-11", *covers)
    if due.call == "checkpoint":
        return ("CHECKPOINT-15",) if due.value == ANY else ("CHECKPOINT-08",)
    return {"initialize": ("INIT-03",), "shutdown": ("SHUT-02",)}.get(due.call, ())


# -- endings -----------------------------------------------------------------------------------------------------------


def exits(conv: Conv, code: Any) -> Outcome:
    """The process has ended; everything that it wrote to either stream was read before."""
    clean = code == 0
    over = conv._replace(phase=Phase.OVER)
    if conv.stuck:
        return breach(*explained(conv))
    if conv.raised and not conv.words:
        return breach("REC-13", "user code raised, and nothing on STDERR shows it")
    covers = ["REC-13"] if conv.raised else []
    if conv.phase is Phase.DEAF:
        return _regular(over, conv, code, clean, covers)
    if conv.hurt and not (conv.phase is Phase.ENDING and clean):
        if clean and not conv.words:
            return breach(conv.hurt, "it ended with status 0 and without a word on STDERR")
        return allow(over, *_hurt_covers(conv))
    if conv.loose:
        return allow(over, *covers)
    if conv.phase is Phase.ENDING:
        if not clean:
            return breach("SHUT-12", f"{_how(code)} after a regular end")
        early = breach("SHUT-04", "it ended by itself, before the end of STDIN", level="SHOULD")
        return allow(over, lapses=(early,))
    if conv.phase is Phase.ASKING:
        return breach("CHECKPOINT-03", f"{_how(code)} while a checkpoint request was open")
    if conv.phase is Phase.WORKING:
        return breach(*explained(conv, f"{_how(code)} instead"))
    if conv.phase is Phase.NEW:
        return breach("PROC-05", f"{_how(code)} before anything was said")
    named = "INIT-05" if conv.action == "initialize" else "REC-09"
    return breach(named, f"{_how(code)} after the status for {conv.action}, although STDIN was open")


def _how(code: Any) -> str:
    if isinstance(code, int) and code < 0:
        return f"it was ended by signal {-code}"
    return f"it ended with status {code}"


def _regular(over: Conv, conv: Conv, code: Any, clean: bool, covers: list[str]) -> Outcome:
    """STDIN had ended before."""
    if conv.hurt:
        return _after_misuse(over, conv, clean)
    missing = [seen for seen in conv.due if not seen.free]
    if missing and conv.was in (Phase.READY, Phase.ENDING):
        return breach(*_missing(missing[0]))
    if conv.was is Phase.ENDING:
        if not clean and not conv.raised:
            return breach("SHUT-12", f"{_how(code)} after a regular end")
        return allow(over, "SHUT-12", "SHUT-04", "PROC-08", *covers)
    if conv.was is Phase.ASKING:
        covers.append("CHECKPOINT-16")
    inputs = {Phase.READY: ("INV-CHILD-14",), Phase.NEW: ("INV-CHILD-14",)}.get(conv.was, ("INV-CHILD-14",))
    return allow(over, "PROC-08", *inputs, *covers)


def _after_misuse(over: Conv, conv: Conv, clean: bool) -> Outcome:
    """It was sent invalid input, and the end of STDIN after it."""
    shown = not clean or conv.words
    if not shown and conv.hurt in MUST_SHOW:
        return breach(conv.hurt, "nothing shows that something was wrong, neither STDERR nor the exit status")
    if not shown and not conv.served and conv.hurt == "INV-CHILD-16":
        return breach(conv.hurt, "it passed over what it cannot know, without a status, a word or an exit status")
    if not shown and conv.hurt == "INV-CHILD-01":
        lapse = breach(conv.hurt, "the line was passed over without a word", level="SHOULD")
        return allow(over, *_hurt_covers(conv), lapses=(lapse,))
    return allow(over, *_hurt_covers(conv))


def _hurt_covers(conv: Conv) -> tuple[str, ...]:
    return (conv.hurt, "INV-CHILD-11") if conv.hurt == "CHECKPOINT-15" else (conv.hurt,)


MUST_SHOW = frozenset({"INV-CHILD-03", "INV-CHILD-06"})
"""Invalid input after which something must show."""


def owed(conv: Conv) -> Sequence[str]:
    """What the child still has to say or do before it is the host's turn."""
    phase = conv.phase
    if phase is Phase.WORKING and not conv.stuck and not conv.muted:
        return () if conv.hurt and conv.loose else ("STAT-01",)  # what need not be done is not waited for
    if phase is Phase.DEAF:
        return ("PROC-08",)
    if phase is Phase.OVER or conv.stuck:
        return ()
    if conv.muted:
        return ("PROC-08",)
    if conv.due and phase is not Phase.ASKING and not conv.hurt and any(not seen.free for seen in conv.due):
        return ("REC-10",)
    return ()


def silence(conv: Conv) -> Outcome | None:
    """Nothing more will come. None when nothing was owed."""
    if not owed(conv):
        return None
    if conv.phase is Phase.DEAF:
        if conv.stuck:
            return breach(*explained(conv))
        if conv.was is Phase.ASKING:
            return breach("CHECKPOINT-16", "it did not end when STDIN ended instead of the answer", also="PROC-08")
        return breach("PROC-08", f"it did not end when STDIN ended ({conv.was.value})")
    if conv.phase is Phase.WORKING or conv.muted:
        return allow(conv._replace(stuck="nothing came"))
    return breach(*_missing(next(seen for seen in conv.due if not seen.free)))


def impatient(conv: Conv) -> Outcome:
    """The host goes on although the child has stopped: that settles it."""
    return breach(*explained(conv))
