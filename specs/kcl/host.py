"""What a host may say: actions, answers to checkpoints, the end of STDIN.

When it is the tester who breaks one of these rules on purpose, the state behind the breach says what the child may make
of it (`Conv.hurt`): the invalid inputs of the catalogue, KCL-INV-CHILD-01 and following.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from specs.kcl.answers import answer
from specs.kcl.child import allow, breach, impatient
from specs.kcl.frames import Message, Text
from specs.kcl.hurt import EVERY_MESSAGE, by_host, perhaps, skipping, unanswered
from specs.kcl.scripts import Latest, alike, callback, job, octets
from specs.kcl.states import ACTIONS, FINALS, KNOWN, Config, Conv, Phase
from specs.model import Breach, Outcome

BASE64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
REASONS = ("TERMINATE", "ZOMBIE")


def text(config: Config, conv: Conv, frame: Text) -> Outcome:
    """A line that is no message. Blank lines separate messages as one newline does."""
    if frame.why == "blank":
        if config.asked or conv.phase is Phase.OVER:
            return allow(conv)
        return breach("FRAME-01", "a blank line", by="host", then=skipping(conv, "INV-CHILD-02"))
    if frame.why == "bare":
        why = "a message without its newline"
        return breach("FRAME-04", why, by="host", then=perhaps(conv, "INV-CHILD-12"))
    if frame.why == "cut":
        return breach("FRAME-04", "half a line", by="host", then=skipping(conv, "INV-CHILD-13"))
    after = skipping(conv, "INV-CHILD-01") if conv.phase is not Phase.ASKING else unanswered(config, conv)
    shown = f"{frame.data[:120]!r} is no message ({frame.why})"
    if frame.why == "not-utf-8":
        return breach("FRAME-12", shown, by="host", then=after)
    if frame.why == "no-action":
        return breach("FRAME-06", shown, by="host", then=after)
    if frame.data.lstrip().startswith(b"{") and not frame.data.rstrip().endswith(b"}"):
        return breach("FRAME-02", f"a message is not on one line: {shown}", by="host", then=after)
    return breach("FRAME-01", shown, by="host", then=after)


def said(config: Config, conv: Conv, frame: Message) -> Outcome:
    """A message of the host."""
    if conv.stuck:
        return impatient(conv)
    if conv.failed:
        return allow(conv)  # it was said that the host gave up; what it wrote before may come after that
    action = frame.action
    if action == "checkpoint":
        return answer(config, conv, frame.members)
    if action not in ACTIONS:
        why = f"{action!r:.60} is no message of a host"
        return breach("FRAME-06", why, by="host", then=skipping(conv, "INV-CHILD-01"))
    return _action(config, conv, frame)


def _action(config: Config, conv: Conv, frame: Message) -> Outcome:
    action, wire = frame.action, config.wire
    if conv.early:
        return breach("PROC-06", f"{action} is said to be done before its status", by="host")
    if conv.phase is Phase.ASKING:
        why = f"{action} came instead of the answer to a checkpoint"
        return breach("CHECKPOINT-05", why, by="host", also="PROC-07", then=unanswered(config, conv))
    if conv.phase is Phase.WORKING:
        why = f"{action} was sent while {conv.action} was open"
        return breach("PROC-06", why, by="host", also="PROC-07", then=perhaps(conv, "INV-CHILD-08"))
    if conv.phase in (Phase.DEAF, Phase.OVER):
        return breach("SHUT-06", f"{action} was sent after the end", by="host")
    if conv.phase is Phase.ENDING:
        after = perhaps(conv._replace(action=action), "INV-CHILD-07")
        return breach("SHUT-06", f"{action} was sent after {conv.action}", by="host", then=after)
    if (conv.phase is Phase.NEW) != (action == "initialize"):
        after = perhaps(conv._replace(action=action), "INV-CHILD-07")
        return breach("INIT-01", f"{action} was sent when {conv.phase.value}", by="host", then=after)
    if action == "shutdown" and action not in wire.finals:
        after = perhaps(conv._replace(action=action), "INV-CHILD-16")
        return breach("SHUT-11", "shutdown was sent, which this profile has no more", by="host", then=after)
    if (action in FINALS and action not in wire.finals) or (action == "shutdownRequested" and not wire.requested):
        after = perhaps(conv._replace(action=action), "INV-CHILD-16")
        return breach("PROC-03", f"{action} is no action of this profile", by="host", then=after)
    return _checked(config, conv, frame)


def _checked(config: Config, conv: Conv, frame: Message) -> Outcome:
    """An action in its time: what it carries."""
    action, members = frame.action, frame.members
    found = _unasked(config, conv, frame) or _members(config, action, members)
    if found is not None:
        return found if found.by != "host" else _with_state(found, conv, action)
    records = members.get("records") or () if action == "processRecords" else ()
    numbers = [str(record.get("sequenceNumber")) for record in records]
    told = job(records, config.wire.number != "checkpoint")
    if action == "shardEnded":
        told = told._replace(checkpoints=(None,))
    elif action == "shutdown" and members.get("reason") == "TERMINATE" and conv.last is not None:
        told = told._replace(checkpoints=(Latest((conv.last,)),))
    due = (*(seen for seen in conv.due if not seen.free), callback(frame)) if config.noted else ()
    after = conv._replace(
        phase=Phase.WORKING,
        action=action,
        before=conv.action if conv.action in ("initialize", "processRecords") else "",
        extra=not KNOWN.issuperset(members) or bool(records and not KNOWN.issuperset(records[0])),
        batch=max(len(records), sum(len(record.get("data") or "") for record in records) >> 10),
        numbers=conv.numbers.union(numbers) if numbers else conv.numbers,
        last=numbers[-1] if numbers else conv.last,
        steps=told.checkpoints,
        loose=False,
        raised=conv.raised or (told.raises and config.scripted),
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
        waited_ms=0,
    )
    if config.scripted and told.raises and not told.checkpoints:
        after = after._replace(loose=True)
    return allow(after, *_covers(config, conv, frame, records))


def _with_state(found: Breach, conv: Conv, action: str) -> Breach:
    hurt = "INV-CHILD-06" if found.requirement in ("KCL-REC-02", "KCL-REC-03") else "INV-CHILD-03"
    return replace(found, then=perhaps(conv._replace(action=action), hurt))


def _covers(config: Config, conv: Conv, frame: Message, records: Any) -> list[str]:
    covers = list(EVERY_MESSAGE)
    if frame.action == "initialize":
        covers += ["INIT-01", "INIT-02", *(["INIT-08"] if config.wire.rich else [])]
    else:
        covers += ["INIT-01", "PROC-06", "PROC-07"]
    if config.asked:
        covers += ["PROC-03"]
    if frame.action == "processRecords":
        covers += ["REC-01", *(["REC-14"] if config.wire.rich else [])]
        if records:
            covers += ["REC-02", "REC-03", "REC-04"]
            covers += ["REC-05"] if len(records) > 1 else []
            if any(not str(r.get("partitionKey")).isascii() for r in records):
                covers.append("FRAME-12")
        else:
            covers.append("REC-06")
    if frame.action == "shutdown":
        covers.append("SHUT-01")
    if frame.action == "shutdownRequested":
        covers.append("SHUT-08")
    if frame.action == "leaseLost":
        covers.append("SHUT-09")
    if frame.action in ("leaseLost", "shardEnded"):
        covers.append("SHUT-11")
    return covers


# -- members -----------------------------------------------------------------------------------------------------------


def _members(config: Config, action: str, members: Mapping[str, Any]) -> Breach | None:
    """What is wrong with the members of an action."""
    if action == "initialize":
        return _initialize(config, members)
    if action == "processRecords":
        return _records(config, members)
    if action == "shutdown" and members.get("reason") not in REASONS:
        return by_host("SHUT-01", f"shutdown has the reason {members.get('reason')!r:.60}")
    return None


def _initialize(config: Config, members: Mapping[str, Any]) -> Breach | None:
    if not isinstance(members.get("shardId"), str):
        return by_host("INIT-02", f"initialize has the shardId {members.get('shardId')!r:.60}")
    if config.wire.rich:
        for name, kind in (("sequenceNumber", str), ("subSequenceNumber", int)):
            if name not in members and not config.asked:
                continue  # the tester leaves them out on purpose at times
            value = members.get(name)
            if name not in members or (value is not None and (not isinstance(value, kind) or isinstance(value, bool))):
                return by_host("INIT-08", f"initialize has the {name} {value!r:.60}")
    return None


def _records(config: Config, members: Mapping[str, Any]) -> Breach | None:
    records = members.get("records")
    if not isinstance(records, list):
        return by_host("REC-01", f"processRecords has the records {records!r:.60}")
    for record in records:
        if not isinstance(record, dict):
            return by_host("REC-01", f"a record is {record!r:.60}")
        for name in ("data", "partitionKey", "sequenceNumber"):
            if name not in record:
                return by_host("REC-01", f"a record has no {name}")
        found = _record(config, record)
        if found is not None:
            return found
    if config.wire.rich and config.asked and "millisBehindLatest" not in members:
        return by_host("REC-14", "processRecords has no millisBehindLatest")
    return None


def _record(config: Config, record: Mapping[str, Any]) -> Breach | None:
    data, key, number = record["data"], record["partitionKey"], record["sequenceNumber"]
    if not isinstance(number, str):
        return by_host("REC-04", f"a sequenceNumber is {number!r:.80}, which is no text")
    if not isinstance(key, str | None):
        return by_host("REC-01", f"a partitionKey is {key!r:.60}")
    if data is not None and not isinstance(data, str):
        return by_host("REC-02", f"data is {data!r:.60}, which is no text")
    if isinstance(data, str) and not BASE64.fullmatch(data):
        broken = re.search(r"[\r\n\t ]", data) or re.search(r"[-_]", data) or octets(data + "===") is not None
        if config.asked or broken:
            return by_host("REC-03", f"data is not padded standard base64 without line breaks: {data[:80]!r}")
        return by_host("REC-02", f"data is no base64: {data[:80]!r}")
    if config.wire.rich and config.asked:
        for name in ("approximateArrivalTimestamp", "subSequenceNumber"):
            if name not in record:
                return by_host("REC-14", f"a record has no {name}")
        if record.get("action") != "record":
            return by_host("REC-14", f"a record has the action {record.get('action')!r:.60}")
    return None


# -- what it was asked to do -------------------------------------------------------------------------------------------


def _unasked(config: Config, conv: Conv, frame: Message) -> Breach | None:
    """How an action differs from the call that it should mirror."""
    if not config.asked:
        return None
    call, action = conv.call, frame.action
    if not isinstance(call, Mapping):
        return by_host("PROC-03", f"{action} was sent, which nobody asked for")
    if call.get("op") != action:
        return by_host("PROC-03", f"{action} was sent, asked for was {call.get('op')}")
    if action == "initialize" and frame.members.get("shardId") != call.get("shardId"):
        return by_host("INIT-02", f"initialize has the shardId {frame.members.get('shardId')!r:.80}")
    if action == "shutdown" and frame.members.get("reason") != call.get("reason"):
        return by_host("SHUT-01", f"the reason is {frame.members.get('reason')!r:.60}, not {call.get('reason')!r}")
    if action == "processRecords" and isinstance(frame.members.get("records"), list):
        return _other_records(call.get("records") or [], frame.members["records"], frame.escaped)
    return None


def _other_records(asked: list[Any], sent: list[Any], escaped: bool) -> Breach | None:
    if any(not isinstance(record, dict) for record in sent):
        return None  # what is wrong with it is said elsewhere
    wanted = [(r["data_hex"], r["partitionKey"], r["sequenceNumber"]) for r in asked]
    got = [(_hex(r.get("data")), r.get("partitionKey"), r.get("sequenceNumber")) for r in sent]
    if len(wanted) != len(got):
        return by_host("PROC-03", f"processRecords has {len(got)} records of {len(wanted)}")
    if wanted == got:
        return None
    if sorted(map(repr, wanted)) == sorted(map(repr, got)):
        return by_host("REC-05", "the records are in another order")
    for (data, key, number), (sent_data, sent_key, sent_number), record in zip(wanted, got, sent, strict=True):
        text = record.get("data")
        if sent_data is None and isinstance(text, str) and not BASE64.fullmatch(text):
            return None  # said elsewhere, as the form that it is
        if number != sent_number:
            return by_host("REC-04", f"the sequenceNumber {number!r:.80} was sent as {sent_number!r:.80}")
        if key != sent_key:
            known = alike(key, sent_key) or (escaped and not str(sent_key).isascii())  # no charset did that
            wrong = str(key).isascii() or known
            named = "REC-01" if wrong else "FRAME-12"
            return by_host(named, f"the partitionKey {key!r:.80} was sent as {sent_key!r:.80}")
        if data != sent_data and not (data == "" and sent_data is None and text is None):
            return by_host("REC-02", f"the data {data[:80]!r} were sent as {sent_data!r:.80}")
    return None


def _hex(data: Any) -> str | None:
    found = octets(data)
    return None if found is None else found.hex()


# -- the end -----------------------------------------------------------------------------------------------------------


def closes(config: Config, conv: Conv) -> Outcome:
    """The host ends the child's STDIN."""
    if conv.phase in (Phase.DEAF, Phase.OVER):
        return allow(conv)
    after = conv._replace(phase=Phase.DEAF, was=conv.phase)
    if not config.asked or conv.failing or conv.stray or conv.left:
        return allow(after)
    if conv.phase is Phase.ENDING:
        return allow(after, "SHUT-06")
    if conv.junk:
        return breach(conv.junk[0], "it gave up although nothing but lines without meaning came", by="host")
    if conv.waited_ms:
        return breach("TIME-02", f"it gave up a child that had been silent for {conv.waited_ms} ms", by="host")
    return breach("PROC-04", f"it ended STDIN while {conv.phase.value}", by="host")
