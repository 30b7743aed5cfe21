"""What a child still has to say or do."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

from specs.kcl.child.book import (
    BOOK,
    EMPTY_BATCHES_TAKE_NO_TIME,
    END_INSTEAD_OF_ANSWER,
    ENDS_WITH_STDIN,
    ERRORS_REACH_USER_CODE,
    INITIALIZE_IS_ANSWERED,
    INITIALIZED_ONCE,
    MISUSED,
    RECORDS_REACH_USER_CODE,
    SHARD_ENDED_IS_CHECKPOINTED,
    SHUTDOWN_IS_ANSWERED,
    STATUS_NAMES_ITS_ACTION,
)
from specs.kcl.child.causes import DIFFERENT, MISSING
from specs.kcl.machine import (
    ASKING,
    DEAF,
    ENDING,
    LEASE_LOST_IS_ANSWERED,
    MACHINE,
    NEW,
    OVER,
    REACTS,
    READY,
    SHUTDOWN_REQUESTED,
    WORKING,
)
from specs.kcl.states import FINALS, Conv, Misuse, Seen
from specs.rules import Due

BATCH_IS_ANSWERED = "KCL-REC-07"
ENDS_IN_ANY_STATE = "KCL-INV-CHILD-14"
ANSWERS: Mapping[str, str] = {
    "initialize": INITIALIZE_IS_ANSWERED,
    "processRecords": BATCH_IS_ANSWERED,
    "shutdown": SHUTDOWN_IS_ANSWERED,
    "shutdownRequested": SHUTDOWN_REQUESTED,
    "leaseLost": LEASE_LOST_IS_ANSWERED,
    "shardEnded": SHARD_ENDED_IS_CHECKPOINTED,
}
"""What a child that does not answer an action breaks (Initialize 3, ProcessRecords 3, Shutdown 3; later profiles)."""
CALLBACKS: Mapping[str, str] = {
    **ANSWERS,
    "initialize": INITIALIZED_ONCE,
    "processRecords": RECORDS_REACH_USER_CODE,
    "checkpoint": ERRORS_REACH_USER_CODE,
}
"""What a child breaks whose user code is not called (Initialize 2, ProcessRecords 2, Checkpoint 2, Shutdown 2)."""
_ANSWERS = " ".join([*ANSWERS.values(), STATUS_NAMES_ITS_ACTION])


@BOOK.duty(_ANSWERS, met_by="status", patient=True, causes=MISSING)
def an_action_is_answered(conv: Conv) -> Due | None:
    """An open action wants its status (High Level Description). A child that has stopped may still show why, so that
    silence alone does not decide it."""
    if conv.stuck or (conv.phase is WORKING and not conv.misuse and not conv.loose):
        return _answer(conv.action, bool(conv.stuck), conv.action == "processRecords" and not conv.batch)
    return None


@BOOK.duty(_ANSWERS, met_by="status, exits", patient=True, causes=MISSING)
def an_action_is_answered_or_the_child_ends(conv: Conv) -> Due | None:
    """Behind invalid input, or once user code has failed, an end will do (K-15, K-22); behind both nothing is due."""
    if not conv.stuck and conv.phase is WORKING and bool(conv.misuse) != conv.loose:
        return _answer(conv.action, False, False)
    return None


@cache
def _answer(action: str, overdue: bool, empty: bool) -> Due:
    also: tuple[str, ...] = (REACTS,) if action in ("initialize", "processRecords", "shutdown") else ()
    if empty:
        also += (EMPTY_BATCHES_TAKE_NO_TIME,)
    named = ANSWERS.get(action, STATUS_NAMES_ITS_ACTION)
    return Due(f"no status for {action}", None, action, overdue, named, also=also, forgive=_as_if_answered)


def _as_if_answered(conv: Conv) -> Conv | None:
    """None where user code had still to ask for a checkpoint: the child may be waiting for the answer to a request that
    was never seen, and then whatever comes next finds it there."""
    phase = conv.phase
    if conv.steps:
        return None
    if phase is WORKING:
        phase = MACHINE.move(phase, "status", ENDING if conv.action in FINALS else READY)
    return conv._replace(phase=phase, stuck="", steps=(), loose=False, tail=b"")


@BOOK.duty(f"{ENDS_WITH_STDIN} {END_INSTEAD_OF_ANSWER} {ENDS_IN_ANY_STATE} {MISUSED[Misuse.NO_NEWLINE]} "
           f"{MISUSED[Misuse.HALF_LINE]}", met_by="exits")  # fmt: skip
def the_child_ends_with_its_stdin(conv: Conv) -> Due | None:
    """In every state (hosts of the project rely on it). Where STDIN ended instead of the answer to a checkpoint, that
    requirement says so; inside an action and before the first one it is invalid input."""
    return _end(conv.was, conv.misuse) if conv.phase is DEAF else None


@cache
def _end(was: object, misuse: Misuse | None) -> Due:
    how: dict[object, str] = {ASKING: END_INSTEAD_OF_ANSWER, WORKING: ENDS_IN_ANY_STATE, NEW: ENDS_IN_ANY_STATE}
    if misuse in (Misuse.NO_NEWLINE, Misuse.HALF_LINE):
        how[was] = MISUSED[misuse]
    named = how.get(was, ENDS_WITH_STDIN)
    also = () if named == ENDS_WITH_STDIN else (ENDS_WITH_STDIN,)
    why = f"it did not end when STDIN ended ({was.value})"  # type: ignore[attr-defined]
    return Due(why, None, was.name, False, named, also=also, forgive=_as_if_ended)  # type: ignore[attr-defined]


def _as_if_ended(conv: Conv) -> Conv:
    return conv._replace(phase=MACHINE.move(conv.phase, "exits"))


@BOOK.duty(ENDS_WITH_STDIN, met_by="exits", patient=True)
def the_child_ends_with_its_stdout(conv: Conv) -> str:
    """A child that has closed its STDOUT cannot answer any more."""
    return (
        "it closed STDOUT, and did not end" if conv.muted and not conv.stuck and conv.phase not in (DEAF, OVER) else ""
    )


@BOOK.duty(" ".join(dict.fromkeys(CALLBACKS.values())), met_by="observed", shows=DIFFERENT)
def user_code_is_called_for_what_was_sent(conv: Conv) -> Iterator[Due]:
    """In order, once. What was open when STDIN ended may be given up."""
    if not conv.due or conv.misuse or conv.stuck or conv.loose or conv.phase in (ASKING, OVER):
        return
    if conv.phase is DEAF and conv.was not in (READY, ENDING):
        return
    for seen in conv.due:
        if not seen.free:
            why = f"user code was not called for {seen.call}"
            if seen.begun:
                why = f"user code did not get the last {len(seen.value)} records of a batch"
            yield Due(why, seen, seen.call, requirement=callback(seen), forgive=_as_if_called)


def callback(seen: Seen) -> str:
    """What a child breaks whose user code is not called."""
    return CALLBACKS.get(seen.call, RECORDS_REACH_USER_CODE)


def _as_if_called(conv: Conv) -> Conv:
    return conv._replace(due=())
