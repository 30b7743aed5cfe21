"""What becomes of messages that the application wants again: which are asked for, may be dropped, and come again.

Source: 001_c0ea8805bb7ed422.txt, "RedeliverUnacknowledgedMessages"; docs/ambiguities.md, P-78.
"""

from __future__ import annotations

from collections.abc import Collection

from specs.pulsar.client.machine import Stage
from specs.pulsar.client.state import ClientState, Endpoint, Name

ASKS_AGAIN = 2
"""Since this version a broker knows RedeliverUnacknowledgedMessages."""


def wanted_again(state: ClientState, topic: str) -> ClientState:
    """The application wants everything again that it has not acknowledged: what it was given must be asked for, and
    what it was not given yet may be dropped, if it is asked for as well."""
    given = {name.entry for _, name in state.refs.values()}
    for at, end in state.of_topic("consumer", topic):
        line = state.line(end.line)
        if end.stage is not Stage.OPEN:
            continue
        if min(line.speaks_version, line.announced) < ASKS_AGAIN:
            state = state.with_line(end.line, line._replace(begged=True))
            continue
        waiting = {each.name.entry for each in end.queue}
        wanted = frozenset((end.fresh & given) - state.wholly - waiting)
        queue = tuple(each.dropped(asked=each.asked) for each in end.queue)
        recalled = end._replace(wanted=wanted, recalled=True, repeats=True, queue=queue)
        state = state.with_endpoint(at, recalled)
    return state


def asked_again(end: Endpoint, entries: Collection[tuple[int, int]]) -> Endpoint:
    """A consumer that has asked for messages again, for all if there are no `entries`. What it did not ask for it
    must have kept."""
    queue = tuple(
        each.dropped(asked=True) if not entries or each.name.entry in entries else each.kept() for each in end.queue
    )
    wanted = end.wanted - frozenset(entries) if entries else frozenset()
    return end._replace(wanted=wanted, recalled=bool(wanted), queue=queue)


def unwanted(state: ClientState) -> ClientState:
    """Nothing is wanted again any more."""
    return state._replace(endpoints=tuple(end._replace(wanted=frozenset()) for end in state.endpoints))


def taken_once(end: Endpoint, name: Name) -> Endpoint:
    """The application was given a message that may have been dropped. Where it came again, it is either one of the
    two that was given, so the other one need not be."""
    at = next((i for i, each in enumerate(end.queue) if each.sure and each.name == name), None)
    if at is None:
        return end
    return end._replace(queue=(*end.queue[:at], end.queue[at].dropped(asked=True), *end.queue[at + 1 :]))


def none_left(state: ClientState, topic: str) -> ClientState:
    """The application was told that there is no message: nothing of what may have been dropped takes room. What was
    dropped and not asked for has to be."""
    for at, end in state.of_topic("consumer", topic):
        if any(each.left for each in end.queue):
            queue = tuple(each._replace(left=False) for each in end.queue)
            dropped = {each.name.entry for each in end.queue if each.left and not each.asked and end.recalled}
            wanted = end.wanted | (dropped & end.fresh)
            state = state.with_endpoint(at, end._replace(queue=queue, wanted=wanted))
    return state


def pushed_again(state: ClientState, entry: tuple[int, int]) -> ClientState:
    """An entry comes, perhaps again: what was acknowledged of it before may have to be again."""
    if entry not in state.pushed:
        return state
    partly = entry not in state.wholly and any(part[0] == entry for part in state.parts)
    again = state.again | {entry} if partly else state.again
    anew = frozenset(part for part in state.anew if part[0] != entry)
    return state._replace(anew=anew, again=again, acked=state.acked - {entry})


def is_due(state: ClientState, entry: tuple[int, int]) -> bool:
    """True for an entry whose acknowledgement is due once all of it is acknowledged anew: not if that was so before.
    Of one that came again, a client that remembers its parts may have acknowledged it earlier."""
    if entry in state.again:
        return entry not in state.acked and entry not in state.unacked
    return entry not in state.wholly
