"""What records tell scripted user code to do, and what it must be seen to do.

The contract is in docs/implementations.md: a record whose data is a JSON object with a member `wireproof` holds a list
of steps. The model reads the records that the host sends, as the child does.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple
from unicodedata import normalize

from specs.kcl.frames import Message
from specs.kcl.states import Seen

ANY = "*"
"""An error of any name."""


class Latest(NamedTuple):
    """A checkpoint at the last number received, for profiles without "no number": one of `numbers`, since a library may
    give its batch to user code record by record."""

    numbers: tuple[str, ...]

    def __str__(self) -> str:
        return f"the last number, {self.numbers[-1]}"


SHORT = 4096
"""Characters of data that are worth remembering."""


class Job(NamedTuple):
    """What a batch makes user code do: the checkpoints it asks for, in order, whether it raises after them, and whether
    it prints."""

    checkpoints: tuple[str | Latest | None, ...] = ()
    raises: bool = False
    prints: bool = False


def octets(data: Any) -> bytes | None:
    """The bytes of a record, or None when `data` is no base64 of them."""
    if not isinstance(data, str):
        return None
    return _remembered(data) if len(data) <= SHORT else _decoded(data)


def _decoded(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


_remembered = lru_cache(256)(_decoded)  # the same record is looked at several times in a row


def job(records: Sequence[Any], nameless: bool) -> Job:
    """The steps of a batch. `nameless`: the profile knows a checkpoint without a number."""
    checkpoints: list[str | Latest | None] = []
    prints = False
    for place, step in _steps(records):
        op = step.get("op")
        if op == "checkpoint":
            at = step.get("at")
            received = Latest(tuple(str(record.get("sequenceNumber")) for record in records[place:]))
            checkpoints.append(at if at is not None or nameless else received)
        elif op == "raise":
            return Job(tuple(checkpoints), raises=True, prints=prints)
        prints = prints or op == "print"
    return Job(tuple(checkpoints), prints=prints)


def _steps(records: Sequence[Any]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Steps, each with the place of its record."""
    for place, record in enumerate(records):
        data = octets(record.get("data")) if isinstance(record, Mapping) else None
        if data is None or b'"wireproof"' not in data[:64]:
            continue
        try:
            told = json.loads(data)
        except (ValueError, RecursionError):
            continue
        if isinstance(told, dict) and isinstance(told.get("wireproof"), list):
            yield from ((place, step) for step in told["wireproof"] if isinstance(step, dict))


def callback(frame: Message) -> Seen:
    """The observation with which the callback for an action begins."""
    action, members = frame.action, frame.members
    if action == "initialize":
        return Seen(action, members.get("shardId"))
    if action == "processRecords":
        records = members.get("records") or ()
        return Seen(action, tuple(_seen(record) for record in records), not records, frame.escaped)
    if action == "shutdown":
        return Seen(action, members.get("reason"))
    return Seen(action, None, free=action == "shutdownRequested")


def _seen(record: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    data = octets(record.get("data"))
    return (None if data is None else data.hex(), record.get("partitionKey"), record.get("sequenceNumber"))


def observed(value: Mapping[str, Any]) -> Seen:
    """An observation as it was written."""
    call = str(value.get("call"))
    if call == "initialize":
        return Seen(call, value.get("shardId"))
    if call == "processRecords":
        records = value.get("records")
        return Seen(call, tuple(_noted(r) for r in records if isinstance(r, dict)) if isinstance(records, list) else ())
    if call == "shutdown":
        return Seen(call, value.get("reason"))
    if call == "checkpoint":
        return Seen(call, value.get("error"))
    return Seen(call)


def _noted(record: Mapping[str, Any]) -> tuple[Any, Any, Any]:
    data = record.get("data_hex")
    return (data.lower() if isinstance(data, str) else data, record.get("partitionKey"), record.get("sequenceNumber"))


def rest(due: Seen, seen: Seen) -> Seen | None:
    """What is due still of a batch that a library hands over in parts. None when `seen` is not the first of them."""
    if due.call != "processRecords" or not 0 < len(seen.value) < len(due.value):
        return None
    count = len(seen.value)
    if not same(due._replace(value=due.value[:count]), seen):
        return None
    return due._replace(value=due.value[count:], begun=True)


def difference(due: Seen, seen: Seen) -> tuple[str, str]:
    """Which requirement two observations of one callback that differ break, and why."""
    if due.call == "initialize":
        return "INIT-03", f"user code was initialized with shardId {seen.value!r:.80}, sent was {due.value!r:.80}"
    if due.call == "shutdown":
        return "SHUT-02", f"user code was told the reason {seen.value!r:.80}, sent was {due.value!r:.80}"
    if due.call != "processRecords":
        return "REC-10", f"{due.call} shows {seen.value!r:.80}"
    count = len(seen.value)
    if count != len(due.value):
        numbers = [record[2] for record in due.value]
        if count and numbers[:count] == [record[2] for record in seen.value] and len({*numbers}) == len(numbers):
            return difference(due._replace(value=due.value[:count]), seen)  # the batch is handed over in parts
        return "REC-10", f"user code got {count} records of {len(due.value)}"
    if sorted(map(repr, due.value)) == sorted(map(repr, seen.value)):
        return "REC-05", "user code got the records in another order"
    for sent, got in zip(due.value, seen.value, strict=True):
        if sent[0] != got[0] and sent[1:] == got[1:]:
            return "REC-11", f"user code got the data {got[0]!r:.80}, sent was {sent[0]!r:.80}"
    for sent, got in zip(due.value, seen.value, strict=True):
        raw = sent[1] is not None and not sent[1].isascii() and not due.escaped and not alike(sent[1], got[1])
        if sent[1] != got[1] and sent[2] == got[2] and raw:
            return "FRAME-12", f"user code got the partition key {got[1]!r:.80}, sent was {sent[1]!r:.80}"
    wrong = next((sent, got) for sent, got in zip(due.value, seen.value, strict=True) if sent != got)
    return "REC-10", f"user code got the record {wrong[1]!r:.120}, sent was {wrong[0]!r:.120}"


def alike(sent: Any, got: Any) -> bool:
    """True for two texts that are one once they are normalised: who made one of the other knew the characters."""
    return normalize("NFC", str(sent)) == normalize("NFC", str(got))


def same(due: Seen, seen: Seen) -> bool:
    """True when an observation shows what was due. Data that was null may be seen as null or as nothing."""
    if due.call != seen.call:
        return False
    if due.call == "processRecords":
        return len(due.value) == len(seen.value) and all(
            sent[1:] == got[1:] and (sent[0] == got[0] or (sent[0] is None and not got[0]))
            for sent, got in zip(due.value, seen.value, strict=True)
        )
    if due.call == "checkpoint":
        return _error(due.value, seen.value)
    return due.value is None or due.value == seen.value


def _error(sent: Any, got: Any) -> bool:
    """User code sees no error, or one that holds the name sent; a name of ours begins with "*": any error will do."""
    if sent is None:
        return got is None
    return got is not None and (sent == ANY or str(sent) in str(got))
