"""The rulebook of a child. The rules are in the modules beside this one."""

from __future__ import annotations

from specs.kcl.machine import MACHINE
from specs.kcl.states import REQUIREMENTS, Misuse
from specs.rules import Rulebook

BOOK = Rulebook("child", REQUIREMENTS, MACHINE)

# Ids that several rules share: a status that is wrong, late or missing breaks the same requirement.
INITIALIZE_IS_ANSWERED = "KCL-INIT-04"
SHUTDOWN_IS_ANSWERED = "KCL-SHUT-02"
SHARD_ENDED_IS_CHECKPOINTED = "KCL-SHUT-10"
INITIALIZED_ONCE = "KCL-INIT-03"
RECORDS_REACH_USER_CODE = "KCL-REC-10"
STATUS_NAMES_ITS_ACTION = "KCL-STAT-01"
MESSAGES_ARE_LINES = "KCL-FRAME-03"
ERRORS_REACH_USER_CODE = "KCL-CHECKPOINT-08"
NUMBER_WAS_DELIVERED = "KCL-CHECKPOINT-14"
END_INSTEAD_OF_ANSWER = "KCL-CHECKPOINT-16"
ENDS_WITH_STDIN = "KCL-PROC-08"
READS_ON_AFTER_INITIALIZE = "KCL-INIT-05"
READS_ON_AFTER_BATCH = "KCL-REC-09"
EMPTY_BATCHES_TAKE_NO_TIME = "KCL-TIME-03"
NO_SUCCESS_WITHOUT_ANSWER = "KCL-CHECKPOINT-15"

MISUSED = {
    Misuse.NO_MESSAGE: "KCL-INV-CHILD-01",
    Misuse.BLANK_LINE: "KCL-INV-CHILD-02",
    Misuse.BROKEN_ACTION: "KCL-INV-CHILD-03",
    Misuse.NO_BASE64: "KCL-INV-CHILD-06",
    Misuse.OUT_OF_ORDER: "KCL-INV-CHILD-07",
    Misuse.TOO_SOON: "KCL-INV-CHILD-08",
    Misuse.STRAY_ANSWER: "KCL-INV-CHILD-09",
    Misuse.OTHER_ANSWER: "KCL-INV-CHILD-10",
    Misuse.NO_NEWLINE: "KCL-INV-CHILD-12",
    Misuse.HALF_LINE: "KCL-INV-CHILD-13",
    Misuse.OTHER_PROFILE: "KCL-INV-CHILD-16",
    Misuse.NO_ANSWER: NO_SUCCESS_WITHOUT_ANSWER,
}
"""What says what a child may make of input that no host should send."""
MISUSES = " ".join(MISUSED.values())
