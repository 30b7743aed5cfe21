"""The phases of a KCL MultiLang conversation, and who may do what in each: one table for both sides.

Source: 002_696459db5d1db11c.txt, "High Level Description Of Protocol", "Checkpointing Behavior" and "Protocol From
Child Process Perspective". What an action carries is judged by the forms in child/ and host/.
"""

from __future__ import annotations

from specs import machine
from specs.machine import Machine, never, unreachable


class Phase(machine.Phase):
    """Where one conversation stands."""

    NEW = "nothing said yet"
    WORKING = "an action is open"
    ASKING = "a checkpoint waits for its answer"
    READY = "no action is open"
    ENDING = "the final action is done"
    DEAF = "the host has ended the child's STDIN"
    OVER = "the child has ended"


NEW, WORKING, ASKING, READY, ENDING, DEAF, OVER = Phase
ACTORS = {
    "initialize": "host",
    "action": "host",
    "answer": "host",
    "closes": "host",
    "status": "child",
    "checkpoint": "child",
    "exits": "child",
}
"""Who does what: a host sends `initialize`, an `action` (processRecords and the final ones) or the `answer` to a
checkpoint, and `closes` the child's STDIN; a child sends a `status` or a `checkpoint` request, and `exits`.

What else is judged moves no phase. A host may send a `text` that is no message, `endless` where no line end comes;
beside the wire it `starts` a child, `tries` a checkpoint, says that a call is `done` or that it `fails`, and `quits`
when its program ends. A child `talks` without a line end, and its user code is `observed`."""


# Ids by which both roles are held to something, each by rules of its own.
LINES_ARE_JSON = "KCL-FRAME-01"
MESSAGES_HAVE_ACTIONS = "KCL-FRAME-06"
WRITTEN_AT_ONCE = "KCL-FRAME-11"
CHARACTERS_SURVIVE = "KCL-FRAME-12"
RECORDS_IN_ORDER = "KCL-REC-05"
NUMBER_IN_ITS_MEMBER = "KCL-CHECKPOINT-11 KCL-CHECKPOINT-12"
LEASE_LOST_IS_ANSWERED = "KCL-SHUT-09"
SHUTDOWN_REQUESTED = "KCL-SHUT-08"


REACTS = "KCL-PROC-05"
_FIRST = never("KCL-INIT-01", "the first message is initialize, and it comes once")
ONE_BY_ONE = "KCL-PROC-06"
NOTHING_ELSE = "KCL-PROC-07"
_MIXED = never(f"{ONE_BY_ONE} {NOTHING_ELSE}", "an action was sent while one was open")
ONE_ANSWER = "KCL-CHECKPOINT-05"
_UNANSWERED = never(f"{NOTHING_ELSE} {ONE_ANSWER}", "an action came instead of the answer to a checkpoint")
_NOT_ASKED = never(
    ONE_ANSWER, "the answer to a checkpoint came, and none was asked for", given=lambda case: case.conv.asked > 0
)
STDIN_IS_ENDED = "KCL-SHUT-06"
_FINISHED = never(STDIN_IS_ENDED, "something was sent after the final action")
NO_STATUS_WHEN_NONE_IS_OPEN = "KCL-STAT-03"
NO_OTHER_TIME = "KCL-CHECKPOINT-02"
_NOT_OPEN = never(NO_STATUS_WHEN_NONE_IS_OPEN, "a status came while no action was open")
_NO_TIME = never(NO_OTHER_TIME, "a checkpoint request came at another time than inside an action")
NOTHING_BUT_READING = "KCL-CHECKPOINT-03"
_BUSY = never(f"KCL-CHECKPOINT-04 {NOTHING_BUT_READING}", "something else came while a checkpoint request was open")

NONE_MEANS_THE_LAST = "KCL-CHECKPOINT-13"
"""Of both roles: what a request without a number is for."""

_DEAF = unreachable("a child whose STDIN has ended is sent nothing: there is no way to it")
_GONE = unreachable("the child's process has ended, and all that it wrote was read before")

MACHINE = Machine(Phase, ACTORS, {
    NEW: {
        "initialize": WORKING, "action": _FIRST, "answer": _NOT_ASKED, "closes": DEAF,
        "status": _NOT_OPEN, "checkpoint": _NO_TIME, "exits": never(REACTS, "it ended before anything was said"),
    },
    WORKING: {
        "initialize": _MIXED, "action": _MIXED, "answer": _NOT_ASKED, "closes": DEAF,
        "status": (READY, ENDING), "checkpoint": ASKING, "exits": OVER,
    },
    ASKING: {
        "initialize": _UNANSWERED, "action": _UNANSWERED, "answer": WORKING, "closes": DEAF,
        "status": _BUSY, "checkpoint": _BUSY, "exits": OVER,
    },
    READY: {
        "initialize": _FIRST, "action": WORKING, "answer": _NOT_ASKED, "closes": DEAF,
        "status": _NOT_OPEN, "checkpoint": _NO_TIME, "exits": OVER,
    },
    ENDING: {
        "initialize": _FINISHED, "action": _FINISHED, "answer": _NOT_ASKED, "closes": DEAF,
        "status": _NOT_OPEN, "checkpoint": _NO_TIME, "exits": OVER,
    },
    DEAF: {
        "initialize": _DEAF, "action": _DEAF, "answer": _DEAF, "closes": _DEAF,
        "status": DEAF, "checkpoint": DEAF, "exits": OVER,
    },
    OVER: dict.fromkeys(ACTORS, _GONE),
})  # fmt: skip
