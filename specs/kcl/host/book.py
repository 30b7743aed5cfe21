"""The rulebook of a host. The rules are in the modules beside this one."""

from __future__ import annotations

from specs.kcl.machine import MACHINE
from specs.kcl.states import REQUIREMENTS, Failure, Oddity
from specs.rules import Rulebook

BOOK = Rulebook("host", REQUIREMENTS, MACHINE)

# Ids that several rules share: what is sent wrongly, late or not at all breaks the same requirement.
STARTS_THE_CHILD = "KCL-PROC-01"
MIRRORS_THE_CALLS = "KCL-PROC-03"
STATUS_ENDS_THE_CALL = "KCL-PROC-04"
END_OF_CHILD_IS_FAILURE = "KCL-PROC-09"
OTHER_STATUS_IS_FAILURE = "KCL-STAT-05"
EARLY_STATUS_IS_FAILURE = "KCL-STAT-06"
LINES_END = "KCL-FRAME-04"
LINES_ARE_SKIPPED = "KCL-FRAME-08"
RECORD_MEMBERS = "KCL-REC-01"
NONE_INSIDE_INITIALIZE = "KCL-INIT-07"
NONE_WITHOUT_LEASE = "KCL-SHUT-07"
ERROR_IS_NAMED = "KCL-CHECKPOINT-07"
TRIED_WHERE_ASKED = "KCL-CHECKPOINT-09"
NONE_LEFT_BEHIND = "KCL-SHUT-13"
SLOW_CHILD_IS_AWAITED = "KCL-TIME-02"
OUTSIDE_IS_NOT_DONE = "KCL-INV-HOST-10"
HALF_IS_FAILURE = "KCL-INV-HOST-15"

FAILURES = {
    Failure.OTHER_STATUS: (OTHER_STATUS_IS_FAILURE, "KCL-INV-HOST-06"),
    Failure.SECOND_STATUS: ("KCL-INV-HOST-07", EARLY_STATUS_IS_FAILURE),
    Failure.REQUEST_OUTSIDE: (OUTSIDE_IS_NOT_DONE,),
    Failure.ENDED_INSIDE: (END_OF_CHILD_IS_FAILURE, "KCL-INV-HOST-14"),
    Failure.HALF_LINE: (HALF_IS_FAILURE, END_OF_CHILD_IS_FAILURE),
}
"""What a host breaks that does not say that it failed: the one to blame, then those beside it."""
FAILURES |= {
    Failure.NO_STATUS: FAILURES[Failure.OTHER_STATUS][::-1],
    Failure.EARLY_STATUS: FAILURES[Failure.SECOND_STATUS][::-1],
    Failure.ENDED_BETWEEN: FAILURES[Failure.ENDED_INSIDE][::-1],
}

ODDITIES = {
    Oddity.PLAIN_TEXT: (LINES_ARE_SKIPPED, "KCL-INV-HOST-01"),
    Oddity.CUT_MESSAGE: ("KCL-INV-HOST-02", LINES_ARE_SKIPPED),
    Oddity.TEXT_BEHIND: ("KCL-INV-HOST-03",),
    Oddity.UNKNOWN_MEMBERS: ("KCL-INV-HOST-04",),
    Oddity.OTHER_MEMBER: ("KCL-INV-HOST-05",),
    Oddity.STATUS_TOO_SOON: ("KCL-INV-HOST-08",),
    Oddity.REQUEST_TOO_SOON: ("KCL-INV-HOST-09",),
    Oddity.BAD_NUMBER: ("KCL-INV-HOST-11",),
    Oddity.BAD_SUB_NUMBER: ("KCL-INV-HOST-12",),
    Oddity.HOST_MESSAGE: ("KCL-INV-HOST-13", LINES_ARE_SKIPPED),
    Oddity.HALF_LINE: (HALF_IS_FAILURE,),
    Oddity.LATE_NEWLINE: ("KCL-INV-HOST-16",),
    Oddity.FLOOD: ("KCL-INV-HOST-19", LINES_ARE_SKIPPED),
    Oddity.NO_UTF8: ("KCL-INV-HOST-20", LINES_ARE_SKIPPED),
    Oddity.TWIN_MEMBERS: ("KCL-INV-HOST-21",),
    Oddity.STDERR: ("KCL-PROC-10",),
    Oddity.REFUSAL: ("KCL-CHECKPOINT-10",),
}
"""What a host breaks that comes to harm by it."""
ODDITIES[Oddity.NO_MESSAGE] = ODDITIES[Oddity.PLAIN_TEXT][::-1]

STRANGE = (Oddity.OTHER_MEMBER, Oddity.BAD_NUMBER, Oddity.BAD_SUB_NUMBER)
"""Requests that mean nothing: they may be skipped or refused."""
REFUSED = " ".join(ODDITIES[odd][0] for odd in STRANGE)
