"""What a host is asked to do, what it answers, and what it must make of a child that goes wrong.

Only where the host is judged: the tester then plays the child and whoever calls the host. What the host's program says
beside the wire (answers, checkpoints that were tried, failures) are Facts; these and the lines on the wire are two
streams, so nothing here rests on which of them was seen first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specs.events import Fact, Said
from specs.kcl import child
from specs.kcl.answers import STRANGE, fits, untried
from specs.kcl.child import allow, breach
from specs.kcl.frames import Message, Text, read
from specs.kcl.states import CLOSED_TO_CHECKPOINTS, FINALS, Config, Conv, Phase
from specs.model import ANYTHING, Breach, Outcome

BIG = 1 << 20
"""Octets from which on a line counts as a flood."""


# -- what the child does to it -----------------------------------------------------------------------------------------


def line(config: Config, conv: Conv, frame: Message | Text) -> Iterator[Outcome]:
    """Something that the child wrote, in every way in which the host may take it."""
    if isinstance(frame, Text):
        if frame.why == "odd":
            tried = _junk(conv, "INV-HOST-21" if frame.data.endswith(b"}") else "INV-HOST-03")
            yield allow(tried)
            inner = read(_cut(frame.data))
            if isinstance(inner, Message):
                yield from line(config, tried, inner)
            return
        yield allow(_junk(conv, _kind(frame)))
        return
    if frame.action == "status":
        yield from _status(config, conv, frame)
    elif frame.action == "checkpoint":
        yield from _checkpoint(config, conv, frame)
    else:
        yield allow(_junk(conv, "INV-HOST-13"))


def waits(conv: Conv, event: Said | Fact) -> bool:
    """True for what cannot be judged before the open request is answered: what the child wrote behind it, and what the
    host says of that, since what it says beside the wire overtakes what it says there."""
    if conv.phase is not Phase.ASKING:
        return False
    if isinstance(event, Said):
        return event.by == "child"
    if event.by != "host" or not conv.unread:
        return False
    return event.name in ("failed", "exit") or (event.name == "answer" and event.value.get("op") != "checkpointer")


def _cut(data: bytes) -> bytes:
    return data[: data.rfind(b"}") + 1]


def _kind(frame: Text) -> str:
    if len(frame.data) >= BIG:
        return "INV-HOST-19"
    if frame.why == "not-utf-8":
        return "INV-HOST-20"
    if frame.why == "no-json" and b"{" in frame.data:
        return "INV-HOST-02"
    return "INV-HOST-01"


def _junk(conv: Conv, requirement: str) -> Conv:
    names = (requirement,) if requirement in ("INV-HOST-03", "INV-HOST-21") else ("FRAME-08", requirement)
    return conv._replace(junk=tuple(dict.fromkeys((*conv.junk, *names))))


def _status(config: Config, conv: Conv, frame: Message) -> Iterator[Outcome]:
    extra = [name for name in frame.members if name not in ("action", "responseFor")]
    conv = _junk_extra(conv) if extra else conv
    outcome = child.status(config, conv, frame)
    if not isinstance(outcome, Breach):
        partial = ("INV-HOST-16",) if conv.partial else ()
        state = outcome.state._replace(partial=False, junk=tuple(dict.fromkeys((*conv.junk, *partial))))
        yield replace(outcome, state=state)
    elif conv.phase is Phase.WORKING:
        yield replace(outcome, then=conv._replace(failing="STAT-05"))
    elif conv.phase is Phase.READY:
        answers = frame.members.get("responseFor")
        yield replace(outcome, then=conv._replace(stray="STAT-06", stray_for=str(answers)))
    elif conv.phase in (Phase.ENDING, Phase.DEAF):
        yield replace(outcome, then=_junk(conv, "INV-HOST-19"))
    else:
        yield outcome
    if extra:
        yield allow(conv)


def _junk_extra(conv: Conv) -> Conv:
    return conv._replace(junk=tuple(dict.fromkeys((*conv.junk, "INV-HOST-04"))))


def _checkpoint(config: Config, conv: Conv, frame: Message) -> Iterator[Outcome]:
    outcome = child.checkpoint(config, conv, frame)
    own = config.wire.number
    other = "sequenceNumber" if own == "checkpoint" else "checkpoint"
    members = frame.members
    extra = len(members) > 2 + (own == "sequenceNumber" and "subSequenceNumber" in members)
    conv = _junk_extra(conv) if extra else conv
    if conv.phase is Phase.WORKING:
        asking = conv._replace(phase=Phase.ASKING, number=members.get(own), asked=conv.asked + 1)
        asking = asking._replace(requests=(*conv.requests, asking.number))
        strange = _strange(members, own, other)
        if strange:
            refused = asking._replace(must_fail=strange, requests=conv.requests)
            skipped = conv._replace(junk=tuple(dict.fromkeys((*conv.junk, strange))))
            yield Breach("child", "KCL-" + strange, "a checkpoint request that means nothing", then=refused)
            if strange != "INV-HOST-11" or not isinstance(members.get(own), str):
                yield Breach("child", "KCL-" + strange, "a checkpoint request that means nothing", then=skipped)
            return
        if isinstance(outcome, Breach):
            yield replace(outcome, then=asking if outcome.then is not None else outcome.then)
        else:
            yield replace(outcome, state=asking)
        if extra:
            yield allow(conv)
    elif conv.phase in (Phase.ENDING, Phase.DEAF) and isinstance(outcome, Breach):
        yield replace(outcome, then=conv._replace(stray=conv.stray or "INV-HOST-10"))
    else:
        yield outcome


def _strange(members: Mapping[str, Any], own: str, other: str) -> str:
    """Which row of the invalid inputs a request belongs to, if any."""
    if own not in members and other in members:
        return "INV-HOST-05"
    sub = members.get("subSequenceNumber")
    if own == "sequenceNumber" and sub is not None and not isinstance(sub, int):
        return "INV-HOST-12"
    number = members.get(own)
    if number is not None and not (isinstance(number, str) and number):
        return "INV-HOST-11"
    return ""


def ends(conv: Conv) -> Outcome:
    """The child has ended (Fact `exit` or `kill` of the tester)."""
    after = conv._replace(left=True)
    if conv.phase in (Phase.WORKING, Phase.ASKING):
        if conv.partial:
            after = _junk(after, "INV-HOST-15")
        return allow(after._replace(failing=conv.failing or "PROC-09"))
    if conv.phase in (Phase.NEW, Phase.READY):
        return allow(after._replace(stray=conv.stray or "PROC-09"))
    return allow(after)


# -- what it is asked and answers --------------------------------------------------------------------------------------


def asks(conv: Conv, name: str, value: Any) -> Outcome:
    """The tester calls (Facts `call`, `start`, `checkpointer`)."""
    if name == "checkpointer":
        return allow(conv._replace(error=value.get("error"), settings=conv.settings + 1))
    if name == "start":
        return allow(conv._replace(call={"op": "start"}, sent=True, started=True))
    wrong = _untimely(conv, str(value.get("op")))
    if wrong:
        return breach("PROC-03", wrong)  # by the tester, so that nothing is judged that comes of it
    return allow(conv._replace(call=value, sent=False, failing=conv.failing or conv.stray, stray=""))


def _untimely(conv: Conv, op: str) -> str:
    """Why a host cannot be blamed for what it makes of a call."""
    if not conv.started:
        return f"{op} was called before start"
    if conv.failed or conv.failing or conv.left:
        return ""  # it need only say that it fails
    if conv.stray == "STAT-06" and conv.stray_for == op:
        return f"a status for {op} came before it was called: nobody can tell that it came too early"
    if conv.phase is not (Phase.NEW if op == "initialize" else Phase.READY):
        return f"{op} was called while {conv.phase.value}"
    return ""


def answers(conv: Conv, value: Mapping[str, Any]) -> Outcome:
    """A call is over."""
    op = value.get("op")
    call = conv.call
    if op == "checkpointer" and conv.settings:
        return allow(conv._replace(settings=conv.settings - 1))
    if op == "" or (conv.failed and not (conv.failing and value.get("error") is None)):
        return allow(conv)
    if not isinstance(call, Mapping) or op != call.get("op"):
        return breach("PROC-03", f"{op} was answered, which nobody asked for", by="host")
    done = conv._replace(call=None, sent=False)
    error = value.get("error")
    if op == "start":
        return allow(done) if error is None else breach("PROC-01", f"start failed: {error!r:.200}", by="host")
    if error == "unsupported":
        return allow(ANYTHING)  # what it does not claim is not judged
    if error is not None:
        return _gave_up(done._replace(failed=True), conv, f"{op} failed: {error!r:.200}")
    return _went_well(done, conv, str(op))


def _went_well(done: Conv, conv: Conv, op: str) -> Outcome:
    if conv.failing:
        names = {"STAT-05": "INV-HOST-06", "STAT-06": "INV-HOST-07", "PROC-09": "INV-HOST-14"}
        reasons = {
            "STAT-05": "a status for another action",
            "STAT-06": "a status from before",
            "PROC-09": "the end of the child",
        }
        why = f"{op} is said to be done after {reasons.get(conv.failing, 'a broken line')}"
        return breach(conv.failing, why, by="host", also=names.get(conv.failing, ""))
    if not conv.sent:  # its message may be on the way
        return allow(done._replace(early=op))
    if conv.phase in (Phase.WORKING, Phase.ASKING):
        if conv.partial:
            why = f"{op} is said to be done before the newline of its status"
            return breach("INV-HOST-16", why, by="host", also="PROC-06")
        if conv.junk:
            return breach("PROC-06", f"{op} is said to be done after lines without meaning", by="host", also="FRAME-08")
        return breach("PROC-06", f"{op} is said to be done before its status", by="host", also="PROC-04")
    missing = _untried(conv)
    if missing is not None:
        return missing
    covers = ["PROC-04", "PROC-03", "STAT-05", "PROC-02", *conv.junk]
    covers += ["CHECKPOINT-09"] if conv.granted else []
    covers += ["TIME-02", "INV-HOST-17"] if conv.waited_ms >= 200 else []
    covers += ["INV-HOST-09"] if conv.asked > 1 else []
    covers += ["INV-HOST-08"] if conv.asked else []
    if op in FINALS:
        covers.append("SHUT-13")
        covers += ["INV-HOST-18"] if conv.phase is Phase.DEAF and conv.waited_ms >= 50 else []
        covers += ["INV-HOST-10"] if conv.stray == "INV-HOST-10" else []
    kept = tuple(name for name in conv.junk if name in STRANGE)  # an answer to it may still be on its way
    return allow(done._replace(junk=kept, waited_ms=0), *covers)


def _untried(conv: Conv) -> Outcome | None:
    """A checkpoint that was granted and never tried at that number."""
    missing = untried(conv, conv.attempts)
    if not missing:
        return None
    shown = f"a checkpoint at {missing[0]!r:.80} was granted; tried were {conv.attempts!r:.160}"
    return breach("CHECKPOINT-09" if missing[0] is not None else "CHECKPOINT-13", shown, by="host")


def tries(config: Config, conv: Conv, value: Mapping[str, Any]) -> Outcome:
    """A checkpoint reached the checkpointer."""
    at = value.get("at")
    after = conv._replace(attempts=(*conv.attempts, at))
    if conv.action == "initialize" and conv.phase is not Phase.READY and conv.error is None:
        return breach("INV-HOST-10", "a checkpoint inside initialize was carried out", by="host")
    strange = next((name for name in conv.junk if name in STRANGE), "")
    working = conv.phase in (Phase.WORKING, Phase.ASKING)
    if config.hasty and working and not (conv.must_fail or conv.stray or strange):
        return allow(after)  # the answer to the request before may still be on its way
    if conv.phase is Phase.ASKING and conv.must_fail:
        return allow(after) if _refused(conv, conv.must_fail, at) else _misread(conv.must_fail, at)
    if not any(fits(at, number, conv.last) for number in conv.requests):
        if strange:
            return allow(after) if _refused(conv, strange, at) else _misread(strange, at)
        if conv.stray == "INV-HOST-10" or conv.phase in (Phase.ENDING, Phase.DEAF):
            return breach("INV-HOST-10", f"a checkpoint at {at!r:.80} was tried outside of its time", by="host")
        if conv.action in CLOSED_TO_CHECKPOINTS:
            named = "INIT-07" if conv.action == "initialize" else "SHUT-07"
            return breach(named, f"a checkpoint was tried inside {conv.action}", by="host")
        asked = ", ".join(repr(number)[:60] for number in conv.requests) or "nothing"
        return breach("CHECKPOINT-09", f"a checkpoint was tried at {at!r:.80}; asked for was {asked}", by="host")
    return allow(after)


def _refused(conv: Conv, requirement: str, at: Any) -> bool:
    """True when no checkpointer takes what a host made of a number that is none: nothing comes of trying it. An empty
    text stands for no number in some languages."""
    return requirement == "INV-HOST-11" and (conv.number == "" or not (at is None or conv.knows(at)))


def _misread(requirement: str, at: Any) -> Breach:
    """A request that means nothing was tried. One that only lacks its member is one without a number for who passes
    over members that it does not know."""
    level = "SHOULD" if requirement == "INV-HOST-05" else None
    return breach(requirement, f"a request that means nothing was tried at {at!r:.80}", by="host", level=level)


def fails(conv: Conv, value: Any) -> Outcome:
    """The host says that it has given up (Fact `failed`)."""
    return _gave_up(conv._replace(failed=True), conv, f"it gave up: {value!r:.200}")


def _gave_up(after: Conv, conv: Conv, why: str) -> Outcome:
    if conv.failed:
        return allow(after)
    if conv.failing:
        names = {"STAT-05": ("INV-HOST-06",), "STAT-06": ("INV-HOST-07",), "PROC-09": ("INV-HOST-14",)}
        return allow(after, conv.failing, *names.get(conv.failing, ()), *conv.junk)
    if conv.stray or conv.left:
        return allow(after, conv.stray or "PROC-09")
    if conv.phase is Phase.DEAF and conv.was is not Phase.ENDING:
        return allow(after)
    if conv.junk:
        return breach(conv.junk[0], f"{why}; what came before the status is no reason", by="host")
    if conv.waited_ms:
        return breach("TIME-02", f"{why}, after a silence of {conv.waited_ms} ms", by="host")
    return breach("PROC-04", why, by="host")


def gone(conv: Conv, value: Any) -> Outcome:
    """The host's program has ended."""
    over = conv._replace(phase=Phase.OVER, failed=True, call=None)
    if conv.failing or conv.failed or conv.stray or (conv.left and conv.phase is not Phase.WORKING):
        return allow(over, *((conv.failing,) if conv.failing else ()))
    if conv.phase in (Phase.DEAF, Phase.ENDING) and conv.children and not conv.left:
        return breach("SHUT-13", "it ended and left the child behind", by="host")
    named = conv.junk[0] if conv.junk else "PROC-04"
    return breach(named, f"its program ended ({value!r:.60})", by="host")


def connects(conv: Conv) -> Outcome:
    """A child was started."""
    if conv.children and not (conv.left or conv.failing or conv.failed or conv.stray):  # else it tries another
        return breach("PROC-02", "a second child was started for one shard", by="host")
    return allow(conv._replace(children=1), "PROC-01")


# -- turns -------------------------------------------------------------------------------------------------------------


def owed(conv: Conv) -> Iterator[str]:
    """What the host still has to say or do before it is anybody else's turn."""
    if conv.phase is Phase.OVER:
        return
    if conv.failing:
        if not conv.failed:
            yield conv.failing
        return
    called = isinstance(conv.call, Mapping)
    if conv.early:
        yield "PROC-03"
    elif conv.settings:
        yield "PROC-01"
    elif called and not conv.sent:
        yield "PROC-03"
    elif called and conv.call["op"] == "start":
        yield "PROC-01"
    elif conv.phase is Phase.ASKING:
        yield "CHECKPOINT-05"
    elif conv.phase is Phase.READY and called:
        yield "PROC-04"
    elif conv.phase is Phase.ENDING and not conv.left:
        yield "SHUT-06"
    elif conv.phase in (Phase.DEAF, Phase.ENDING) and conv.left and called and conv.was in (Phase.ENDING, Phase.NEW):
        yield "PROC-04"


def silence(conv: Conv) -> Outcome | None:
    """Nothing more will come. None when nothing was owed."""
    due = next(owed(conv), None)
    if due is None:
        return None
    if conv.failing:
        if conv.phase is Phase.DEAF:
            return allow(conv._replace(failed=True))
        return breach(due, "it does not say that it failed", by="host")
    if conv.partial:
        return breach("FRAME-04", "a message was begun and not ended by a newline", by="host")
    op = conv.call.get("op") if isinstance(conv.call, Mapping) else conv.action
    if conv.early:
        return breach(due, f"{conv.early} is said to be done although its message was never sent", by="host")
    if conv.settings:
        return breach(due, "the request to set the checkpointer was not answered", by="host")
    if due == "PROC-01":
        return breach(due, "start was not answered", by="host")
    if due == "PROC-03":
        return breach(due, f"{op} was asked for, and no message was sent", by="host", also="FRAME-11")
    if due == "CHECKPOINT-05":
        named = {"initialize": "INIT-07", "leaseLost": "SHUT-07"}.get(conv.action, due)
        named = conv.must_fail or named
        return breach(named, f"a checkpoint request inside {conv.action} was not answered", by="host")
    if due == "SHUT-06":
        return breach(due, f"STDIN was not ended after the status for {conv.action}", by="host")
    if conv.junk:
        why = f"{op} was not over, though its status came: it came behind lines without meaning"
        return breach(conv.junk[0], why, by="host")
    why = f"{op} was not over, though its status came"
    return breach("SHUT-13" if conv.left and conv.action in FINALS else due, why, by="host")
