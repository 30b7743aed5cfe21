"""What a conversation is after an action of a host, whether or not something was broken."""

from __future__ import annotations

from typing import Any

from specs.kcl.child.case import FAILED
from specs.kcl.frames import Message
from specs.kcl.host.book import BOOK, STRANGE
from specs.kcl.host.case import Case, asks_where_none_may, fits, place, untried
from specs.kcl.scripts import Job, Latest, callback, job
from specs.kcl.states import KNOWN, Conv, Failure, Oddity, Seen

READS_ON = ("initialize", "processRecords")
"""Actions behind which a child reads on."""


@BOOK.effect("initialize", "action")
def called(m: Case) -> Conv:
    """An action is open."""
    conv, frame = m.conv, m.what
    action, members = frame.action, frame.members
    records: Any = m.records or () if action == "processRecords" else ()
    numbers = [str(record.get("sequenceNumber")) for record in records]
    told = _told(m, action, records)
    whole = action != "processRecords" or m.records is not None
    due = (*(seen for seen in conv.due if not seen.free), callback(frame)) if m.config.noted and whole else ()
    return conv._replace(
        action=action,
        before=conv.action if conv.action in READS_ON else "",
        extra=not KNOWN.issuperset(members) or bool(records and not KNOWN.issuperset(records[0])),
        batch=max(len(records), sum(len(str(record.get("data") or "")) for record in records) >> 10),
        numbers=conv.numbers.union(numbers) if numbers else conv.numbers,
        last=numbers[-1] if numbers else conv.last,
        steps=told.checkpoints,
        loose=m.config.scripted and told.raises and not told.checkpoints,
        raised=conv.raised or (told.raises and m.config.scripted),
        unshown=conv.unshown or (told.raises and m.config.scripted and conv.words),
        asked=0,
        refused=None,
        tried=None,
        due=due,
        tail=b"",
        raising=told.raises,
        prints=told.prints,
        sent=True,
        requests=(),
        granted=(),
        attempts=(),
        partial=False,
        unended=False,
        waited_ms=0,
    )


def _told(m: Case, action: str, records: Any) -> Job:
    """What user code is told to do in an action."""
    told = job(records, m.config.wire.number != "checkpoint")
    if action == "shardEnded":
        return told._replace(checkpoints=(None,))
    if action == "shutdown" and m.members.get("reason") == "TERMINATE" and m.conv.last is not None:
        return told._replace(checkpoints=(Latest((m.conv.last,)),))
    return told


@BOOK.effect("answer")
def answered(m: Case) -> Conv:
    """The request is answered."""
    conv, error = m.conv, m.error
    due = conv.due
    if m.config.noted:
        told = Seen("checkpoint", error, free=conv.own)  # K-50
        due = (*(seen for seen in due if not seen.free and seen != FAILED), told)
    unknown = m.config.scripted and not m.config.noted and error is not None  # has the library told user code so?
    after = conv._replace(
        refused=error is not None,
        made=conv.made.union([conv.number]) if error is None and isinstance(conv.number, str) else conv.made,
        tried=conv.number,
        number=None,
        must_refuse=None,
        unended=False,
        due=due,
        loose=conv.loose or unknown or (conv.raising and not conv.steps),
    )
    if not m.config.asked:
        return after
    if error is not None:
        return after._replace(attempts=_spent(conv), odd=(*conv.odd, Oddity.REFUSAL))
    at, granted = place(conv), conv.granted
    if at < 0 or at not in (conv.top, conv.latest):  # what was granted before need not be tried again
        granted = (*granted, conv.number)
    return after._replace(top=max(conv.top, at), latest=at, granted=granted)


def _spent(conv: Conv) -> tuple[Any, ...]:
    """What was tried, without a try for the open request, which was refused: it cannot speak for a later one."""
    left = list(conv.attempts)
    mine = next((n for n, at in enumerate(left) if fits(at, conv.number, conv.last)), None)
    if mine is not None:
        del left[mine]
    return conv.attempts if untried(conv, left) else tuple(left)


def _given_up_for(conv: Conv) -> Failure | None:
    """Why the child is given up, as far as that is known: nothing is owed to one that asked where none may (K-48)."""
    return conv.failing or (Failure.REQUEST_OUTSIDE if asks_where_none_may(conv) else None)


@BOOK.effect("closes")
def closed(m: Case) -> Conv:
    """The child's STDIN has ended."""
    return m.conv._replace(was=m.phase, waited_ms=0, unended=False, failing=_given_up_for(m.conv))


@BOOK.effect("text", "endless")
def skipped(m: Case) -> Conv:
    """A line that is no message says nothing; one that is a message of another name has ended what was begun."""
    return m.conv._replace(unended=False) if isinstance(m.what, Message) else m.conv


@BOOK.effect("starts")
def started(m: Case) -> Conv:
    """A child runs."""
    return m.conv._replace(children=1)


@BOOK.effect("tries")
def tried(m: Case) -> Conv:
    """A checkpoint has reached the checkpointer."""
    return m.conv._replace(attempts=(*m.conv.attempts, m.what.get("at")))


@BOOK.effect("done")
def done(m: Case) -> Conv:
    """The call is over. Its message may still be on the way."""
    after = m.conv._replace(call=None, sent=False)
    if m.op == "start":
        return after
    if not m.conv.sent:
        return after._replace(early=m.op)
    kept = tuple(odd for odd in m.conv.odd if odd in STRANGE)  # an answer to it may still be on its way
    return after._replace(odd=kept, waited_ms=0)


@BOOK.effect("fails")
def failed(m: Case) -> Conv:
    """It has given up, and said so; where that is the answer to its call, the call is over."""
    after = m.conv._replace(failed=True, failing=_given_up_for(m.conv))
    return after._replace(call=None, sent=False) if m.op else after


@BOOK.effect("quits")
def quit_(m: Case) -> Conv:
    """Its program has ended."""
    return m.conv._replace(over=True, failed=True, call=None)
