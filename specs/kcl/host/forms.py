"""What a host may send: actions, and the octets of any line. Order is precedence."""

from __future__ import annotations

from typing import Any

from specs.kcl.frames import Message
from specs.kcl.host.book import (
    BOOK,
    ERROR_IS_NAMED,
    LINES_END,
    MIRRORS_THE_CALLS,
    NONE_INSIDE_INITIALIZE,
    NONE_WITHOUT_LEASE,
    ODDITIES,
    RECORD_MEMBERS,
    REFUSED,
)
from specs.kcl.host.case import Case, hexed, is_base64, same_number
from specs.kcl.machine import (
    ASKING,
    CHARACTERS_SURVIVE,
    ENDING,
    LEASE_LOST_IS_ANSWERED,
    LINES_ARE_JSON,
    MESSAGES_HAVE_ACTIONS,
    NEW,
    NUMBER_IN_ITS_MEMBER,
    ONE_BY_ONE,
    READY,
    RECORDS_IN_ORDER,
    SHUTDOWN_REQUESTED,
    WORKING,
)
from specs.kcl.scripts import alike
from specs.kcl.states import ACTIONS, FINALS, Oddity
from specs.rules import Broken

form, excuse, tried = BOOK.form, BOOK.excuse, BOOK.tried

LINES = "text, initialize, action, answer"
ACTION = "initialize, action"
REASONS = ("TERMINATE", "ZOMBIE")
IN_TIME = (NEW, READY)


def _why(m: Case) -> str:
    """Why a line is no message, "" for a message."""
    return "" if isinstance(m.what, Message) else m.what.why


def _shown(m: Case) -> str:
    return f"{m.what.data[:120]!r} is no message ({m.what.why})"


# -- the octets of a line ----------------------------------------------------------------------------------------------


@form(LINES_END, on="endless")
def a_line_has_an_end(m: Case) -> str:
    """The messages are separated by new lines (High Level Description)."""
    return f"a line has no end: {m.what[:80]!r}"


@excuse(on="text", if_=lambda m: _why(m) == "blank" and m.config.asked, freedom="K-18")
def blank_lines_are_free(m: Case) -> bool:
    """Separated by new lines leaves room for them (High Level Description)."""
    return True


@form(LINES_END, on=LINES)
def a_message_ends_with_a_newline(m: Case) -> str:
    """The messages are separated by new lines (High Level Description)."""
    return {"bare": "a message without its newline", "cut": "half a line"}.get(_why(m), "")


@form(CHARACTERS_SURVIVE, on="text")
def a_line_is_utf8(m: Case) -> Any:
    """The text names no charset; UTF-8 is read as meant (K-31)."""
    return Broken(_shown(m), grave=True) if _why(m) == "not-utf-8" else ""


@form(MESSAGES_HAVE_ACTIONS, on=LINES)
def a_message_has_an_action(m: Case) -> str:
    """Action messages are told apart by it (Action messages)."""
    if isinstance(m.what, Message):
        known = m.what.action in ACTIONS or m.what.action == "checkpoint"
        return "" if known else f"{m.what.action!r:.60} is no message of a host"
    return _shown(m) if m.what.why == "no-action" else ""


@form("KCL-FRAME-02", on=LINES)
def a_message_is_one_line(m: Case) -> str:
    """Each message will be on a single line (High Level Description)."""
    if isinstance(m.what, Message):
        return ""
    cut = m.what.data.lstrip().startswith(b"{") and not m.what.data.rstrip().endswith(b"}")
    return f"a message is not on one line: {_shown(m)}" if cut else ""


@form(LINES_ARE_JSON, on=LINES)
def a_line_is_strict_json(m: Case) -> str:
    """The conversation is in JSON messages (first paragraph; K-2)."""
    if isinstance(m.what, Message):
        return ""
    return "a blank line" if m.what.why == "blank" else _shown(m)


# -- an action in its time ---------------------------------------------------------------------------------------------


@form(ONE_BY_ONE, on=ACTION, if_=lambda m: bool(m.conv.early))
def a_call_is_not_over_before_its_message(m: Case) -> str:
    """The status comes behind it (High Level Description)."""
    return f"{m.what.action} is said to be done before its status"


@form("KCL-SHUT-11", on="action", when=(READY,), if_=lambda m: m.what.action in FINALS)
def shutdown_is_not_sent(m: Case) -> str:
    """leaseLost and shardEnded stand in its place (KCL 2.1.0 and later)."""
    return "shutdown was sent, which this profile has no more" if m.what.action == "shutdown" else ""


@form(MIRRORS_THE_CALLS, on=ACTION, when=IN_TIME, if_=lambda m: (m.phase is NEW) == (m.action == "initialize"))
def an_action_is_one_of_the_profile_and_was_called_for(m: Case) -> str:
    """A message upon invocation of its method (High Level Description)."""
    action, wire = m.what.action, m.config.wire
    if (action in FINALS and action not in wire.finals) or (action == "shutdownRequested" and not wire.requested):
        return f"{action} is no action of this profile"
    if not m.config.asked or m.call.get("op") == action:
        return ""
    return (
        f"{action} was sent, asked for was {m.call['op']}" if m.call else f"{action} was sent, which nobody asked for"
    )


@form("KCL-INIT-02", on="initialize", when=(NEW,))
def initialize_has_the_shard(m: Case) -> str:
    """A text, the one that the call gave (Action messages)."""
    shard = m.members.get("shardId")
    wrong = not isinstance(shard, str) or (m.config.asked and shard != m.call.get("shardId"))
    return f"initialize has the shardId {shard!r:.80}" if wrong else ""


@form("KCL-INIT-08", on="initialize", when=(NEW,))
def initialize_has_the_place_where_it_begins(m: Case) -> str:
    """sequenceNumber, a text or null, and subSequenceNumber, a number or null (KCL 1.7.2 and later). The tester leaves
    them out on purpose at times."""
    for name, kind in (("sequenceNumber", str), ("subSequenceNumber", int)):
        value = m.members.get(name)
        wrong = value is not None and (not isinstance(value, kind) or isinstance(value, bool))
        if wrong or (name not in m.members and m.config.asked):
            return f"initialize has the {name} {value!r:.60}"
    return ""


@form("KCL-SHUT-01", on="action", when=(READY,), if_=lambda m: m.what.action == "shutdown")
def shutdown_has_the_reason(m: Case) -> str:
    """TERMINATE or ZOMBIE, as the call gave it (Action messages; K-8)."""
    reason = m.members.get("reason")
    if m.config.asked and reason != m.call.get("reason"):
        return f"the reason is {reason!r:.60}, not {m.call.get('reason')!r}"
    return "" if reason in REASONS else f"shutdown has the reason {reason!r:.60}"


def _is_batch(m: Case) -> bool:
    return bool(m.what.action == "processRecords")


@form(RECORD_MEMBERS, on="action", when=(READY,), if_=_is_batch)
def records_have_their_members(m: Case) -> str:
    """An array of objects with data, partitionKey and sequenceNumber (Action messages)."""
    if m.records is None:
        return f"processRecords has the records {m.members.get('records')!r:.60}"
    for record in m.records:
        lack = next((name for name in ("data", "partitionKey", "sequenceNumber") if name not in record), "")
        if lack:
            return f"a record has no {lack}"
        if not isinstance(record["partitionKey"], str | None):
            return f"a partitionKey is {record['partitionKey']!r:.60}"
    return ""


@tried("KCL-REC-06", on="action", when=(READY,), if_=_is_batch)
def a_batch_may_be_empty(m: Case) -> bool:
    """Hosts of the project send such ones (K-16)."""
    return not m.records


@form(MIRRORS_THE_CALLS, on="action", when=(READY,), if_=lambda m: _is_batch(m) and m.config.asked)
def every_record_is_sent(m: Case) -> str:
    """Those that the call gave (High Level Description)."""
    asked, sent = m.call.get("records") or [], m.records or []
    return "" if len(asked) == len(sent) else f"processRecords has {len(sent)} records of {len(asked)}"


@form(RECORDS_IN_ORDER, on="action", when=(READY,), if_=lambda m: len(m.pairs) > 1)
def records_keep_their_order(m: Case) -> str:
    """Begin reading line (ProcessRecords 4): what is read first was sent first."""
    asked = [(a["data_hex"], a["partitionKey"], a["sequenceNumber"]) for a, _ in m.pairs]
    sent = [(hexed(s.get("data")), s.get("partitionKey"), s.get("sequenceNumber")) for _, s in m.pairs]
    turned = asked != sent and sorted(map(repr, asked)) == sorted(map(repr, sent))
    return "the records are in another order" if turned else ""


@form("KCL-REC-04", on="action", when=(READY,), if_=lambda m: bool(m.records))
def a_sequence_number_is_a_text_and_passes_unchanged(m: Case) -> str:
    """It stands in quotes (Action messages; K-27)."""
    for asked, sent in m.pairs:
        if asked["sequenceNumber"] != sent.get("sequenceNumber"):
            return f"the sequenceNumber {asked['sequenceNumber']!r:.80} was sent as {sent.get('sequenceNumber')!r:.80}"
    wrong = next((r["sequenceNumber"] for r in m.records or () if not isinstance(r["sequenceNumber"], str)), None)
    return "" if wrong is None else f"a sequenceNumber is {wrong!r:.80}, which is no text"


def _keys(m: Case) -> list[tuple[Any, Any]]:
    """Partition keys that were sent as others."""
    pairs = ((asked["partitionKey"], sent.get("partitionKey")) for asked, sent in m.pairs)
    return [pair for pair in pairs if pair[0] != pair[1]]


def _lost_by_octets(m: Case, asked: Any, sent: Any) -> bool:
    """True for a key that another charset may have changed: not for one that was written in ASCII (K-31)."""
    return not (str(asked).isascii() or alike(asked, sent) or (m.what.escaped and not str(sent).isascii()))


@form(RECORD_MEMBERS, on="action", when=(READY,), if_=lambda m: bool(m.pairs))
def a_partition_key_passes_unchanged(m: Case) -> str:
    """It is that of the record (Action messages)."""
    wrong = next((pair for pair in _keys(m) if not _lost_by_octets(m, *pair)), None)
    return "" if wrong is None else f"the partitionKey {wrong[0]!r:.80} was sent as {wrong[1]!r:.80}"


@form(CHARACTERS_SURVIVE, on="action", when=(READY,),
      if_=lambda m: any(not str(asked["partitionKey"]).isascii() for asked, _ in m.pairs))  # fmt: skip
def every_character_survives(m: Case) -> str:
    """The text names no charset; UTF-8 is read as meant (K-31)."""
    wrong = next(iter(_keys(m)), None)
    return "" if wrong is None else f"the partitionKey {wrong[0]!r:.80} was sent as {wrong[1]!r:.80}"


@form("KCL-REC-03", on="action", when=(READY,), if_=lambda m: any(isinstance(r["data"], str) for r in m.records or ()))
def data_are_padded_standard_base64(m: Case) -> str:
    """Base 64 as RFC 3548 and RFC 4648 define it (Base 64 Encoding)."""
    wrong = next((r["data"] for r in m.records or () if isinstance(r["data"], str) and not is_base64(r["data"])), None)
    return "" if wrong is None else f"data is not padded standard base64 without line breaks: {wrong[:80]!r}"


@form("KCL-REC-02", on="action", when=(READY,), if_=lambda m: bool(m.records))
def data_are_the_octets_of_the_record(m: Case) -> str:
    """An array of arbitrary bytes, encoded (Base 64 Encoding). An empty one may be null."""
    wrong = next((r["data"] for r in m.records or () if not isinstance(r["data"], str | None)), None)
    if wrong is not None:
        return f"data is {wrong!r:.60}, which is no text"
    for asked, record in m.pairs:
        octets, sent = asked["data_hex"], hexed(record["data"])
        if octets != sent and not (octets == "" and record["data"] is None):
            return f"the data {octets[:80]!r} were sent as {sent!r:.80}"
    return ""


@form("KCL-REC-14", on="action", when=(READY,), if_=lambda m: _is_batch(m) and m.config.asked)
def records_have_the_members_of_later_versions(m: Case) -> str:
    """approximateArrivalTimestamp, milliseconds, subSequenceNumber and the action record, and in the message
    millisBehindLatest; numbers, or null (KCL 1.7.2 and later)."""
    for record in m.records or ():
        for name in ("approximateArrivalTimestamp", "subSequenceNumber"):
            if name not in record:
                return f"a record has no {name}"
            if not _is_number(record[name]):
                return f"a record has the {name} {record[name]!r:.60}, which is no number"
        if record.get("action") != "record":
            return f"a record has the action {record.get('action')!r:.60}"
    if "millisBehindLatest" not in m.members:
        return "processRecords has no millisBehindLatest"
    behind = m.members["millisBehindLatest"]
    return "" if _is_number(behind) else f"millisBehindLatest is {behind!r:.60}, which is no number"


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


# -- the answer to a checkpoint ----------------------------------------------------------------------------------------


@BOOK.freedom("K-25")
def a_host_may_decide_by_itself(m: Case) -> bool:
    """What goes back, was not delivered or has no number, and what comes when the lease is lost (Action messages). It
    may grant by itself what was granted last."""
    conv, number = m.conv, m.conv.number
    if m.error is None:
        return m.stands_already
    if number is None:
        refusable = not m.config.wire.rich or conv.last is None
    else:
        refusable = not conv.knows(number) or conv.numbers.place(number) < conv.top
    return refusable or (conv.action == "shutdown" and m.call.get("reason") == "ZOMBIE")


@form(NUMBER_IN_ITS_MEMBER, on="answer", when=(ASKING,))
def the_number_travels_in_its_member(m: Case) -> Any:
    """Under the name of the profile (Action messages; K-3), since KCL 1.7.2 beside subSequenceNumber. The text does not
    know that one: that it is the one that was asked for is a recommendation (K-45), and where none was asked for it may
    be left out (K-52)."""
    own = m.config.wire.number
    other = "sequenceNumber" if own == "checkpoint" else "checkpoint"
    if own not in m.members and other in m.members:
        return f"a checkpoint answer carries its number in {other}"
    if not m.config.wire.rich or not m.config.asked:
        return ""
    asked, given = m.conv.sub, m.members.get("subSequenceNumber")
    if m.conv.must_refuse is not None or not isinstance(asked, int) or same_number(asked, given):
        return ""
    if "subSequenceNumber" not in m.members:
        return "a checkpoint answer has no subSequenceNumber"
    return Broken(f"the answer has the subSequenceNumber {given!r:.80}, asked for was {asked}", level="SHOULD")


def _is_odd(m: Case) -> Oddity:
    odd = m.conv.must_refuse or m.strange
    assert odd is not None
    return odd


@form(REFUSED, on="answer", when=(WORKING, READY, ENDING), if_=lambda m: m.strange is not None,
      which=lambda m: ODDITIES[_is_odd(m)][0])  # fmt: skip
def what_was_skipped_is_not_answered(m: Case) -> Any:
    """A request that means nothing was not skipped, if its answer comes (catalogue of invalid inputs)."""
    return Broken("a checkpoint that means nothing was answered", grave=True)


REPEATS_THE_NUMBER, IN_ORDER = "KCL-CHECKPOINT-06", ODDITIES[Oddity.REQUEST_TOO_SOON][0]


@form(f"{REPEATS_THE_NUMBER} {IN_ORDER}", on="answer", when=(ASKING,), unless=lambda m: m.conv.must_refuse is not None,
      which=lambda m: IN_ORDER if m.conv.unread else REPEATS_THE_NUMBER)  # fmt: skip
def the_answer_repeats_the_number(m: Case) -> Any:
    """That of the request (Action messages); of several, that of the first (catalogue of invalid inputs). What to
    repeat of a request that means nothing is not known (K-26). Where none was asked for, the one that it stands for may
    be named (K-54)."""
    if same_number(m.conv.number, m.number) or (m.conv.number is None and m.number == m.conv.last):
        return ""
    also = (REPEATS_THE_NUMBER,) if m.conv.unread else ()
    return Broken(f"the answer is for {m.number!r:.80}, asked for was {m.conv.number!r:.80}", also=also)


@form(ERROR_IS_NAMED, on="answer", when=(ASKING,))
def an_error_is_a_text(m: Case) -> str:
    """The name of an exception (Action messages; K-9, K-10)."""
    return "" if isinstance(m.error, str | None) else f"the error is {m.error!r:.60}"


def _is_seen(m: Case) -> bool:
    """True where what becomes of checkpoints is seen, and the request may be granted."""
    return m.config.asked and m.conv.must_refuse is None


@form(REFUSED, on="answer", when=(ASKING,), if_=lambda m: m.config.asked and m.conv.must_refuse is not None,
      which=lambda m: ODDITIES[_is_odd(m)][0])  # fmt: skip
def a_request_that_means_nothing_is_refused(m: Case) -> Any:
    """Or skipped (catalogue of invalid inputs). One that only lacks its member is one without a number for who passes
    over members that it does not know (K-29)."""
    return "" if m.error else "a checkpoint that means nothing was answered without an error"


@form(NONE_INSIDE_INITIALIZE, on="answer", when=(ASKING,), during="initialize", if_=_is_seen)
def a_checkpoint_inside_initialize_is_refused(m: Case) -> str:
    """The window is processRecords and shutdown (Checkpointing Behavior)."""
    return "" if m.error else "a checkpoint inside initialize was answered without an error"


@form(LEASE_LOST_IS_ANSWERED, on="answer", when=(ASKING,), during="leaseLost", also=NONE_WITHOUT_LEASE, if_=_is_seen)
def a_checkpoint_inside_lease_lost_is_refused(m: Case) -> str:
    """The lease is gone (KCL 2.1.0 and later)."""
    return "" if m.error else "a checkpoint inside leaseLost was answered without an error"


@form(SHUTDOWN_REQUESTED, on="answer", when=(ASKING,), during="shutdownRequested", also=ERROR_IS_NAMED,
      if_=lambda m: _is_seen(m) and m.conv.error is None, freed_by=(a_host_may_decide_by_itself,))  # fmt: skip
def a_checkpoint_is_allowed_when_shutdown_is_requested(m: Case) -> str:
    """The lease is still held (KCL 1.8.0 and later)."""
    if m.error is None:
        return ""
    return f"a checkpoint that succeeded was answered by the error {m.error!r:.80}"


def _is_undelivered(m: Case) -> bool:
    return m.conv.number is not None and not m.conv.knows(m.conv.number)


@form("KCL-CHECKPOINT-17", on="answer", when=(ASKING,),
      if_=lambda m: _is_seen(m) and m.during not in ("initialize", "leaseLost") and m.conv.error is not None,
      unless=lambda m: not _is_undelivered(m), freed_by=(a_host_may_decide_by_itself,))  # fmt: skip
def what_the_checkpointer_refuses_has_an_error(m: Case) -> str:
    """A number that is none, or was not delivered (Action messages; K-20)."""
    return f"a checkpoint that failed with {m.conv.error} was answered without an error" if m.error is None else ""


@form(NONE_WITHOUT_LEASE, on="answer", when=(ASKING,), during="shutdown", also=ERROR_IS_NAMED,
      if_=lambda m: _is_seen(m) and m.conv.error is not None and m.call.get("reason") == "ZOMBIE",
      unless=_is_undelivered, freed_by=(a_host_may_decide_by_itself,))  # fmt: skip
def a_checkpoint_of_a_zombie_is_refused(m: Case) -> str:
    """The lease is gone, and the checkpointer has said so."""
    return f"a checkpoint that failed with {m.conv.error} was answered without an error" if m.error is None else ""


@form(ERROR_IS_NAMED, on="answer", when=(ASKING,), freed_by=(a_host_may_decide_by_itself,),
      if_=lambda m: _is_seen(m) and m.during not in ("initialize", "leaseLost"))  # fmt: skip
def the_answer_says_what_became_of_the_checkpoint(m: Case) -> str:
    """error has the name of the exception, or there is none (Action messages; Checkpoint 2)."""
    met, error = m.conv.error, m.error
    if met is None:
        return "" if error is None else f"a checkpoint that succeeded was answered by the error {error!r:.80}"
    if error is None:
        return "" if _is_undelivered(m) else f"a checkpoint that failed with {met} was answered without an error"
    return "" if str(met) in error else f"a checkpoint that failed with {met} has the error {error!r:.80}"
