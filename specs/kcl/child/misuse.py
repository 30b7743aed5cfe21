"""What a child may make of what no host should send it: the state behind each way in which the tester breaks a rule of
hosts on purpose. The catalogue of invalid inputs has the rows."""

from __future__ import annotations

from specs.kcl.child.case import FAILED
from specs.kcl.frames import Message, Text
from specs.kcl.host import effects
from specs.kcl.host.case import Case, is_base64, same_number
from specs.kcl.machine import ASKING, ENDING, MACHINE, NEW, READY, WORKING
from specs.kcl.states import ACTIONS, FINALS, Config, Conv, Misuse, Seen


def behind(config: Config, conv: Conv, frame: Message | Text) -> Conv:
    """What a child that is sent this may be in."""
    if isinstance(frame, Text):
        return _text(config, conv, frame)
    if frame.action == "checkpoint":
        return _answer(config, conv, frame)
    if frame.action not in ACTIONS:
        return skipping(conv, Misuse.NO_MESSAGE)
    return _action(config, conv, frame)


def _text(config: Config, conv: Conv, frame: Text) -> Conv:
    if frame.why == "blank":
        return skipping(conv, Misuse.BLANK_LINE)
    if frame.why == "bare":
        return perhaps(conv, Misuse.NO_NEWLINE)
    if frame.why == "cut":
        return skipping(conv, Misuse.HALF_LINE)
    return unanswered(config, conv) if conv.phase is ASKING else skipping(conv, Misuse.NO_MESSAGE)


def _answer(config: Config, conv: Conv, frame: Message) -> Conv:
    if conv.phase is not ASKING:
        return skipping(conv, Misuse.STRAY_ANSWER)
    own = config.wire.number
    after: Conv = effects.answered(Case(config, conv, "answer", frame))
    after = after._replace(phase=MACHINE.move(conv.phase, "answer"))
    if own not in frame.members and ("sequenceNumber" if own == "checkpoint" else "checkpoint") in frame.members:
        return after._replace(misuse=Misuse.OTHER_ANSWER)
    if not same_number(conv.number, frame.members.get(own)):
        return after._replace(misuse=Misuse.OTHER_ANSWER, loose=True, steps=(), due=free(after.due))
    return after


def _action(config: Config, conv: Conv, frame: Message) -> Conv:
    action, wire = frame.action, config.wire
    records = frame.members.get("records") if action == "processRecords" else None
    records = [r for r in records if isinstance(r, dict)] if isinstance(records, list) else []
    delivered = [str(record.get("sequenceNumber")) for record in records]
    conv = conv._replace(numbers=conv.numbers.union(delivered))
    if conv.phase is ASKING:
        return unanswered(config, conv, action)
    if conv.phase is WORKING:
        return perhaps(conv, Misuse.TOO_SOON)
    other = conv._replace(action=action)
    if conv.phase is ENDING or (conv.phase is NEW) != (action == "initialize"):
        return perhaps(other, Misuse.OUT_OF_ORDER)
    if (action in FINALS and action not in wire.finals) or (action == "shutdownRequested" and not wire.requested):
        return perhaps(other, Misuse.OTHER_PROFILE)
    no_base64 = any(isinstance(text, str) and not is_base64(text) for text in (r.get("data") for r in records))
    return perhaps(other, Misuse.NO_BASE64 if no_base64 else Misuse.BROKEN_ACTION)


def skipping(conv: Conv, misuse: Misuse) -> Conv:
    """Nothing was asked: no status may come for it."""
    return conv._replace(misuse=misuse, due=free(conv.due), served=False)


def perhaps(conv: Conv, misuse: Misuse) -> Conv:
    """Something was asked that need not be done: a status may come for it, as for any action."""
    phase = MACHINE.move(READY, "action")
    return conv._replace(phase=phase, misuse=misuse, loose=True, steps=(), due=free(conv.due), served=False)


def unanswered(config: Config, conv: Conv, action: str = "") -> Conv:
    """Something else came instead of the answer to a checkpoint: it has failed, or is still waited for."""
    due = (*free(conv.due), FAILED) if config.noted else ()
    phase = MACHINE.move(conv.phase, "answer")
    return conv._replace(phase=phase, misuse=Misuse.NO_ANSWER, instead=action, loose=True, steps=(), due=due)


def free(due: tuple[Seen, ...]) -> tuple[Seen, ...]:
    """Observations that may be missing from now on."""
    return tuple(seen._replace(free=True) for seen in due)
