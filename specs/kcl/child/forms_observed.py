"""What user code must be seen to do. Order is precedence."""

from __future__ import annotations

from specs.kcl.child.book import (
    BOOK,
    END_INSTEAD_OF_ANSWER,
    ERRORS_REACH_USER_CODE,
    INITIALIZED_ONCE,
    NO_SUCCESS_WITHOUT_ANSWER,
    RECORDS_REACH_USER_CODE,
    SHUTDOWN_IS_ANSWERED,
)
from specs.kcl.child.case import FAILED, Case, Shows
from specs.kcl.child.causes import DIFFERENT
from specs.kcl.child.duties import CALLBACKS, callback
from specs.kcl.machine import ASKING, DEAF, NOTHING_BUT_READING
from specs.kcl.states import Misuse

form = BOOK.form

# -- what user code was seen to do -------------------------------------------------------------------------------------


@form(END_INSTEAD_OF_ANSWER, on="observed", when=(DEAF,),
      if_=lambda m: m.match.kind is Shows.AT_END and m.conv.was is ASKING)  # fmt: skip
def the_end_of_stdin_is_no_success(m: Case) -> str:
    """If STDIN ends instead of the answer, the checkpoint has failed (hosts of the project)."""
    wrong = m.what.value is None
    return "user code was told that a checkpoint succeeded although STDIN had ended" if wrong else ""


@form(
    NO_SUCCESS_WITHOUT_ANSWER,
    on="observed",
    also="KCL-INV-CHILD-11",
    if_=lambda m: m.what.call == "checkpoint" and m.conv.misuse is Misuse.NO_ANSWER and FAILED in m.conv.due,
)
def another_message_is_no_success(m: Case) -> str:
    """If something else comes instead of the answer, the checkpoint has failed (hosts of the project)."""
    wrong = m.match.kind is Shows.MISLED
    return "user code was told that a checkpoint succeeded although it was not answered" if wrong else ""


@form(NOTHING_BUT_READING, on="observed", when=(ASKING,),
      if_=lambda m: m.what.call == "checkpoint" and m.match.kind is Shows.UNASKED)  # fmt: skip
def no_result_is_told_before_the_answer(m: Case) -> str:
    """The child reads its STDIN for the result (Checkpointing Behavior)."""
    return "user code was told the result of a checkpoint before the answer was sent"


@form(ERRORS_REACH_USER_CODE, on="observed",
      if_=lambda m: m.what.call == "checkpoint" and m.match.kind is Shows.DIFFERENT)  # fmt: skip
def the_error_decides(m: Case) -> str:
    """Whether there is an error or not (Checkpoint 2; K-9, K-10)."""
    return f"the answer had the error {m.match.wanted.value!r:.80}, user code was told {m.what.value!r:.80}"


@form(INITIALIZED_ONCE, on="observed",
      if_=lambda m: m.what.call == "initialize" and m.match.kind in (Shows.DIFFERENT, Shows.UNASKED))  # fmt: skip
def user_code_is_initialized_once_with_its_shard(m: Case) -> str:
    """Perform initialization steps (Initialize 2)."""
    if m.match.kind is Shows.UNASKED:
        return "user code was initialized again"
    return f"user code was initialized with shardId {m.what.value!r:.80}, sent was {m.match.wanted.value!r:.80}"


@form(SHUTDOWN_IS_ANSWERED, on="observed",
      if_=lambda m: m.what.call == "shutdown" and m.match.kind is Shows.DIFFERENT)  # fmt: skip
def user_code_is_told_the_reason(m: Case) -> str:
    """Perform shutdown tasks (Shutdown 2)."""
    return f"user code was told the reason {m.what.value!r:.80}, sent was {m.match.wanted.value!r:.80}"


@form(RECORDS_REACH_USER_CODE, on="observed", if_=lambda m: m.match.kind is Shows.UNASKED,
      unless=lambda m: m.what.call in ("checkpoint", "initialize"))  # fmt: skip
def user_code_is_called_for_what_was_sent_alone(m: Case) -> str:
    """Each record comes once (ProcessRecords 2; K-35). What a library makes of the end of STDIN is its own affair."""
    if m.what.call == "processRecords":
        return "user code got a batch that was not sent, or got it again"
    return "" if m.phase is DEAF else f"user code was called for {m.what.call}, which was not sent"


@form(" ".join(dict.fromkeys(CALLBACKS.values())), on="observed", if_=lambda m: m.match.kind is Shows.TOO_EARLY,
      which=lambda m: callback(m.match.wanted))  # fmt: skip
def user_code_is_called_in_order(m: Case) -> str:
    """What comes in order is handed over in order (ProcessRecords 2)."""
    return f"user code was not called for {m.match.wanted.call}"


@form(RECORDS_REACH_USER_CODE, on="observed", causes=DIFFERENT, if_=lambda m: m.match.kind is Shows.DIFFERENT)
def user_code_sees_what_was_sent(m: Case) -> str:
    """Every record unchanged (ProcessRecords 2; Base 64 Encoding)."""
    return f"{m.what.call} shows {m.what.value!r:.200}, sent was {m.match.wanted.value!r:.200}"
