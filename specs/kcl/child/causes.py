"""Why something of a child is missing or wrong: asked after a breach only, the likeliest first."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from specs.causes import Causes
from specs.kcl.child.book import INITIALIZE_IS_ANSWERED, MESSAGES_ARE_LINES, MISUSED, MISUSES, STATUS_NAMES_ITS_ACTION
from specs.kcl.child.case import Case
from specs.kcl.machine import CHARACTERS_SURVIVE, LINES_ARE_JSON, MESSAGES_HAVE_ACTIONS, RECORDS_IN_ORDER
from specs.kcl.scripts import alike

BIG_BATCHES = "KCL-REC-12"
BIG = 1000
"""Records, or KiB of data, from which on a batch is a big one (K-33)."""

# -- why a status is missing, from what was printed in its place -------------------------------------------------------

MISSING = Causes("missing status")


def _printed(m: Case) -> bool:
    return bool(m.conv.tail.strip())


def _lines(m: Case) -> list[bytes]:
    return [line.strip() for line in m.conv.tail.split(b"\n") if line.strip()]


def _statuses(m: Case) -> Iterator[bytes]:
    return (line for line in _lines(m) if b"responseFor" in line and b"{" in line)


def _missing(m: Case, why: str) -> str:
    return f"no status for {m.conv.action}: {why}"


def _shown(m: Case, what: str, line: bytes) -> str:
    return _missing(m, f"{what}, {line[:120]!r}")


@MISSING.cause(MESSAGES_ARE_LINES)
def a_message_is_one_line(m: Case) -> str:
    """A message was begun and not ended, or spread over lines (High Level Description; K-4)."""
    if m.conv.partial and not m.conv.prints:
        return _missing(m, "a line was begun and not ended")
    lines = _lines(m)
    spread = b'"action"' in m.conv.tail and len(lines) > 1 and _whole(lines)
    return _missing(m, "it was spread over several lines") if spread else ""


@MISSING.cause("KCL-FRAME-13", could=_printed, also="KCL-FRAME-07")
def a_message_shares_no_line_with_other_output(m: Case) -> str:
    """Other output stands before a message or behind it (K-14). A child that puts newlines around its messages, which
    is recommended, is safe from that."""
    for line in _lines(m):
        mine = b'"action"' in line and (b'"status"' in line or b'"checkpoint"' in line) and b"{" in line
        if mine and (not line.startswith(b"{") or (m.conv.prints and not _message_first(line))):
            return _shown(m, "a message stands behind other output", line)
    line = next(_statuses(m), b"")
    if b'"action"' in line and (line[line.rfind(b"}") + 1 :].strip() or m.conv.prints):
        return _shown(m, "other output stands behind it", line)
    return ""


@MISSING.cause(MESSAGES_ARE_LINES)
def a_line_is_one_message(m: Case) -> str:
    """Messages share a line (K-4)."""
    line = next(_statuses(m), b"")
    several = b'"action"' in line and line.count(b"{") > 1
    return _shown(m, "several messages stand on one line", line) if several else ""


@MISSING.cause(MESSAGES_HAVE_ACTIONS)
def a_message_has_an_action(m: Case) -> str:
    """What looks like a status has no action (Action messages)."""
    line = next(_statuses(m), b"")
    return _shown(m, "a message has no action", line) if line and b"action" not in line else ""


@MISSING.cause(LINES_ARE_JSON)
def a_message_is_strict_json(m: Case) -> str:
    """What looks like a status is no message (first paragraph; K-2)."""
    line = next(_statuses(m), b"")
    return _shown(m, "what came is no JSON object with a text as action", line) if line else ""


@MISSING.cause(MISUSES, could=lambda m: m.conv.misuse is not None, which=lambda m: MISUSED[m.conv.misuse])
def invalid_input_is_survived(m: Case) -> str:
    """What it was sent was not right (K-22)."""
    return f"no status for {m.conv.action}, and it did not end either"


@MISSING.cause("KCL-INV-CHILD-04", could=lambda m: m.conv.extra)
def members_that_are_not_known_are_ignored(m: Case) -> str:
    """It ended with an error at a message that has members which no profile knows (catalogue of invalid inputs)."""
    failed = m.action == "exits" and m.what != 0
    return _missing(m, "it ended with an error at a message with unknown members") if failed else ""


def _is_bare(m: Case) -> bool:
    return m.conv.action == "initialize" and m.profile == "kcl1-seed" and not m.conv.extra


@MISSING.cause(INITIALIZE_IS_ANSWERED, also="KCL-INIT-09", could=_is_bare)
def initialize_needs_no_more(m: Case) -> str:
    """It ended with an error at an initialize that has what its profile has, and no more."""
    failed = m.action == "exits" and m.what != 0
    return _missing(m, "it ended with an error at an initialize with no more than its profile has") if failed else ""


@MISSING.cause("KCL-INV-CHILD-15", could=lambda m: m.conv.batch >= BIG, also=BIG_BATCHES)
def big_batches_are_processed(m: Case) -> str:
    """The batch was a big one (K-33)."""
    return _missing(m, "the batch was a big one")


@MISSING.cause(
    STATUS_NAMES_ITS_ACTION, could=lambda m: m.conv.action != "initialize" and m.conv.asked and not m.conv.steps
)
def the_answer_to_a_checkpoint_is_read(m: Case) -> str:
    """The answer to its last checkpoint was the last that it took."""
    return f"no status for {m.conv.action} after the answer to a checkpoint"


def _message_first(line: bytes) -> bool:
    """True when a whole JSON object begins the line: what stands in its way is behind it."""
    try:
        json.JSONDecoder().raw_decode(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return False
    return True


def _whole(lines: list[bytes]) -> bool:
    try:
        return isinstance(json.loads(b"\n".join(lines)), dict)
    except ValueError:
        return False


# -- how a batch that user code saw differs from the one that was sent -------------------------------------------------

DIFFERENT = Causes("other records")


def _batch(m: Case) -> bool:
    return bool(m.match.wanted.call == "processRecords")


def _pairs(m: Case) -> list[tuple[Any, Any]]:
    """Records as sent and as seen; of a batch that is handed over in parts the first part. Empty when some lack."""
    sent, got = m.match.wanted.value, m.what.value
    if len(got) != len(sent):
        numbers = [record[2] for record in sent]
        if not got or numbers[: len(got)] != [r[2] for r in got] or len({*numbers}) != len(numbers):
            return []
    return list(zip(sent, got, strict=False))


def _beyond_ascii(m: Case) -> bool:
    return _batch(m) and any(r[1] is not None and not r[1].isascii() for r in m.match.wanted.value)


@DIFFERENT.cause(RECORDS_IN_ORDER, could=lambda m: _batch(m) and len(m.match.wanted.value) > 1)
def records_keep_their_order(m: Case) -> str:
    """The same records in another order (ProcessRecords 2; K-35)."""
    pairs = _pairs(m)
    same = sorted(repr(sent) for sent, _ in pairs) == sorted(repr(got) for _, got in pairs)
    return "user code got the records in another order" if pairs and same else ""


@DIFFERENT.cause("KCL-REC-11", could=lambda m: m.config.decodes and _batch(m))
def data_are_decoded(m: Case) -> str:
    """Nothing but the data of a record is another (Base 64 Encoding). Who only hands the text over decodes nothing
    (K-40)."""
    for sent, got in _pairs(m):
        if sent[0] != got[0] and sent[1:] == got[1:]:
            return f"user code got the data {got[0]!r:.80}, sent was {sent[0]!r:.80}"
    return ""


@DIFFERENT.cause(CHARACTERS_SURVIVE, could=_beyond_ascii)
def every_character_survives(m: Case) -> str:
    """A key beyond ASCII that was written as it is (K-31)."""
    for sent, got in _pairs(m):
        raw = sent[1] is not None and not sent[1].isascii() and not m.match.wanted.escaped
        if raw and sent[1] != got[1] and sent[2] == got[2] and not alike(sent[1], got[1]):
            return f"user code got the partition key {got[1]!r:.80}, sent was {sent[1]!r:.80}"
    return ""
