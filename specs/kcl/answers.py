"""What a host may answer to a request for a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from specs.kcl.child import allow, breach
from specs.kcl.hurt import EVERY_MESSAGE, by_host, free, skipping
from specs.kcl.scripts import ANY
from specs.kcl.states import CLOSED_TO_CHECKPOINTS, Config, Conv, Phase, Seen
from specs.model import Breach, Outcome

STRANGE = ("INV-HOST-05", "INV-HOST-11", "INV-HOST-12")
"""Rows of the invalid inputs that are requests, which may be skipped or refused."""


def answer(config: Config, conv: Conv, members: Mapping[str, Any]) -> Outcome:
    """The message `checkpoint` of a host."""
    own = config.wire.number
    other = "sequenceNumber" if own == "checkpoint" else "checkpoint"
    named = "CHECKPOINT-12" if own == "sequenceNumber" else "CHECKPOINT-11"
    if conv.phase is not Phase.ASKING:
        if conv.phase in (Phase.DEAF, Phase.OVER):
            return breach("SHUT-06", "a checkpoint answer was sent after the end", by="host")
        strange = next((name for name in conv.junk if name in STRANGE), "")
        if strange:  # the request was not skipped after all
            return _granted(strange)
        why = f"a checkpoint answer was sent while {conv.phase.value}"
        return breach("CHECKPOINT-05", why, by="host", then=skipping(conv, "INV-CHILD-09"))
    error = members.get("error")
    after = _answered(config, conv, error)
    if own not in members and other in members:
        return breach(named, f"a checkpoint answer carries its number in {other}", by="host",
                      then=after._replace(hurt="INV-CHILD-10"))  # fmt: skip
    if not conv.must_fail and not _same_number(conv.number, members.get(own)):
        why = f"the answer is for {members.get(own)!r:.80}, asked for was {conv.number!r:.80}"
        loose = after._replace(hurt="INV-CHILD-10", loose=True, steps=(), due=free(after.due))
        also = "INV-HOST-09" if conv.unread else ""
        return breach("CHECKPOINT-06", why, by="host", also=also, then=loose)
    if error is not None and not isinstance(error, str):
        return breach("CHECKPOINT-07", f"the error is {error!r:.60}", by="host", then=after)
    wrong = _wrong_error(config, conv, error)
    if wrong is not None:
        return wrong
    covers = ["CHECKPOINT-05", "CHECKPOINT-06", "CHECKPOINT-07", "PROC-04", named, *EVERY_MESSAGE]
    if conv.action == "initialize":
        covers += ["INIT-07", "INV-HOST-10"]
    if conv.must_fail:
        covers.append(conv.must_fail)
    if conv.action == "leaseLost":
        covers += ["SHUT-09", "SHUT-07"]
    if conv.action == "shutdown" and error is not None:
        covers.append("SHUT-07")
    if conv.number is None:
        covers.append("CHECKPOINT-13")
    elif not conv.knows(conv.number) and error is not None:
        covers.append("CHECKPOINT-17")
    return allow(after, *covers)


def _answered(config: Config, conv: Conv, error: Any) -> Conv:
    due = conv.due
    if config.noted:
        kept = (seen for seen in due if not seen.free and seen != Seen("checkpoint", ANY))
        due = (*kept, Seen("checkpoint", error))
    granted, top, latest, attempts = conv.granted, conv.top, conv.latest, conv.attempts
    if config.asked and error is not None:
        attempts = _spent(conv)
    if config.asked and error is None:
        place = _place(conv)
        if place < 0 or place not in (top, latest):  # what was granted before need not be tried again
            granted = (*granted, conv.number)
        top, latest = max(top, place), place
    unknown = config.scripted and not config.noted and error is not None  # whether the library has told user code so
    return conv._replace(
        top=top,
        latest=latest,
        phase=Phase.WORKING,
        refused=error is not None,
        tried=conv.number,
        number=None,
        must_fail="",
        due=due,
        granted=granted,
        attempts=attempts,
        junk=(*conv.junk, "CHECKPOINT-10") if config.asked and error is not None else conv.junk,
        loose=conv.loose or unknown or (conv.raising and not conv.steps),
    )


def _spent(conv: Conv) -> tuple[Any, ...]:
    """What was tried, without a try for the open request, which was refused: it cannot speak for a later one."""
    left = list(conv.attempts)
    mine = next((n for n, at in enumerate(left) if fits(at, conv.number, conv.last)), None)
    if mine is not None:
        del left[mine]
    return conv.attempts if untried(conv, left) else tuple(left)


def untried(conv: Conv, attempts: Sequence[Any]) -> list[Any]:
    """The numbers that were granted in this action and for which none of the attempts stands."""
    left, missing = list(attempts), []
    for number in conv.granted:
        found = next((n for n, at in enumerate(left) if fits(at, number, conv.last)), None)
        if found is None:
            missing.append(number)
        else:
            del left[found]
    return missing


def fits(at: Any, number: Any, last: Any) -> bool:
    """True when a checkpoint that was tried is the one that was asked for."""
    if number is None:  # where nothing was delivered, a host has its own words for where it begins
        return at is None or last is None or at == last
    return bool(at == number or str(at) == str(number))


def _place(conv: Conv) -> int:
    """The place of the number that the open request is for."""
    return conv.numbers.place(conv.last if conv.number is None else conv.number)


def _same_number(asked: Any, given: Any) -> bool:
    """Numbers are texts; one that was asked for as a JSON number may come back as either."""
    if asked is None or given is None:
        return asked is None and given is None
    return bool(given == asked or (not isinstance(asked, str) and str(given) == str(asked)))


def _wrong_error(config: Config, conv: Conv, error: Any) -> Breach | None:
    """How an error differs from what became of the checkpoint, where that is known."""
    if not config.asked:
        return None
    if conv.must_fail:
        return None if error else _granted(conv.must_fail)
    if conv.action in CLOSED_TO_CHECKPOINTS:
        if error:
            return None
        named = "INIT-07" if conv.action == "initialize" else "SHUT-09"
        return by_host(named, f"a checkpoint inside {conv.action} was answered without an error")
    if error is not None and _may_refuse(config, conv):
        return None
    if conv.error is None:
        if error is not None:
            return by_host("CHECKPOINT-07", f"a checkpoint that succeeded was answered by the error {error!r:.80}")
        return None
    if error is None:
        if _place(conv) >= 0 and _place(conv) in (conv.top, conv.latest):
            return None  # it stands there already: nothing was tried that could fail
        named = "CHECKPOINT-07" if conv.number is None or conv.knows(conv.number) else "CHECKPOINT-17"
        return by_host(named, f"a checkpoint that failed with {conv.error} was answered without an error")
    if str(conv.error) not in error:
        return by_host("CHECKPOINT-07", f"a checkpoint that failed with {conv.error} has the error {error!r:.80}")
    return None


def _granted(requirement: str) -> Breach:
    level = "SHOULD" if requirement == "INV-HOST-05" else None
    why = "a checkpoint that means nothing was answered without an error"
    return breach(requirement, why, by="host", level=level)


def _may_refuse(config: Config, conv: Conv) -> bool:
    """True when a host may refuse the open request by itself, whatever its checkpointer would say: it is for no number
    in the profile that has no such request, or for one that was not delivered or lies before one that was granted; or
    the lease is lost."""
    number = conv.number
    if number is None:
        refusable = not config.wire.rich or conv.last is None
    else:
        refusable = not conv.knows(number) or conv.numbers.place(number) < conv.top
    lost = isinstance(conv.call, Mapping) and conv.call.get("reason") == "ZOMBIE"
    return refusable or (conv.action == "shutdown" and lost)
