"""The answers to LOOKUP and PARTITIONED_METADATA.

Source: "Service discovery".
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from specs.model import Allow, Outcome
from specs.pulsar.memory import PORT
from specs.pulsar.states import (
    RETRY,
    Request,
    State,
    blame,
    ids,
)


def discovered(state: State, request: Request, body: Any, failed: bool, error: int) -> Outcome:
    """The answer to LOOKUP or PARTITIONED_METADATA."""
    lookup = request.kind == "LOOKUP"
    rule = "LOOK-02" if lookup else "PART-01"
    covers = ids(rule) + ids("REQ-01 REQ-02") + request.covers
    if not body.HasField("response"):
        return blame(rule, f"{request.kind} was answered without a response")
    if failed:
        if request.want == "success" and error not in RETRY:
            return blame(rule, f"{request.kind} of {request.about} failed: error {error}")
        lapses = []
        if request.want == "error" and error != 17 and lookup and state.config.profile == "modern":
            lapses.append(blame("LOOK-09", f"a bad topic name was answered with error {error}", state))
        return Allow(state, covers + (ids("LOOK-09") if lookup and request.want == "error" else ()), tuple(lapses))
    if request.want == "error":
        return blame("LOOK-09", f"{request.kind} of a bad topic name succeeded", then=state, level="SHOULD")
    if not lookup:
        if not body.HasField("partitions"):
            return blame("PART-01", "PARTITIONED_METADATA succeeded without a number")
        return _partitions(state, request, body, covers)
    url, tls = body.brokerServiceUrl, body.brokerServiceUrlTls
    if not (url.startswith("pulsar://") or tls.startswith("pulsar+ssl://")) or (
        url and not url.startswith("pulsar://")
    ):
        return blame("LOOK-10", f"LOOKUP was answered with the URL {url!r:.200} {tls!r:.200}")
    covers += ids("LOOK-10")
    known = {**state.shares, f"url\0{request.about}": 1}
    if body.response == 0:
        if (_place(url), body.authoritative) in state.trail.get(str(request.about), frozenset()):
            why = f"a lookup is redirected to {url!r:.200}, where it had been asked just so"
            return replace(blame("LOOK-06", why), steady=True)  # whose topic it is may have changed meanwhile
        count = state.shares.get(f"redirect\0{request.about}", 0) + 1
        if count > 20:
            # nobody has asked where it leads: one that knows only who knows may say so as often as it is asked
            return blame("LOOK-06", "a lookup is redirected as often as it is repeated", level="SHOULD")
        return Allow(state._replace(shares={**known, f"redirect\0{request.about}": count}), covers)
    return Allow(state._replace(shares={**known, f"redirect\0{request.about}": 0}), covers + ids("LOOK-06 LOOK-08"))


def _place(url: str) -> str:
    """HOST:PORT of a URL."""
    place = url.partition("://")[2].rstrip("/")
    return place if place.rpartition(":")[2].isdigit() else f"{place}:{PORT}"


def _partitions(state: State, request: Request, body: Any, covers: tuple[str, ...]) -> Outcome:
    topic, count = str(request.about), body.partitions
    name = f"partitions\0{topic}"
    if state.shares.get(name, count) != count:
        return blame("PART-05", f"the topic had {state.shares[name]} partitions, now {count}")
    covers += ids("PART-05") if name in state.shares else ()
    local = topic.rpartition("/")[2]
    if state.config.partitioned:
        head = state.config.partitioned.partition("{n}")[0]
        digits = local[len(head) :].partition("-")[0] if local.startswith(head) else ""
        expected = int(digits) if digits.isdigit() and "-partition-" not in local else 0
        if count != expected:
            return blame("PART-01", f"a topic with {expected} partitions has {count}")
    elif count:
        return blame("PART-01", f"a fresh topic has {count} partitions", level="SHOULD")
    return Allow(state._replace(shares={**state.shares, name: count}), covers)
