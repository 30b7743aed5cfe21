"""What the tester's frames and octets, and time, do to the state of a conversation with a client.

What the tester says is right, or wrong on purpose: then the text says what must not follow (marks.py), or nothing.
"""

from __future__ import annotations

from specs.events import Noise, Quiet
from specs.stomp import ids
from specs.stomp.client.book import BEHIND_EOLS, BEHIND_LENGTH
from specs.stomp.client.case import awaits
from specs.stomp.client.machine import EOLS, MACHINE, SPOILS, K
from specs.stomp.client.marks import beats, marks, wrong
from specs.stomp.client.state import ClientState, Push
from specs.stomp.frames import Frame, is_beat

_EOLS = frozenset((BEHIND_EOLS, ids.FRAME_03))
_CARRIED = _EOLS | {ids.CLEN_07}
"""Marks by which what comes next may be lost: whoever cannot read line ends, or a length where there is no body, reads
too far."""


def said(state: ClientState, frame: Frame) -> ClientState:
    """The tester has said a frame, or line ends."""
    how = state.written | ({ids.FRAME_06} if state.parted else frozenset())
    state = state._replace(mute_ms=0, still_ms=0, whole_ms=0, written=frozenset())
    if is_beat(frame):
        if state.phase is K.OVER:
            return state
        return state._replace(phase=MACHINE.move(state.phase, EOLS), marks=frozenset({BEHIND_EOLS}))
    if state.phase is K.OVER:
        return state
    if frame.command == "CONNECTED" and state.phase is K.ASKED:
        return _greeted(state, frame, how)
    if state.phase in (K.NEW, K.ASKED, K.LOST, K.REFUSED):
        return _behind(state, frame) if state.phase is K.LOST else spoilt(state, f"{frame.command} out of place")
    before = state.marks & _CARRIED
    found = wrong(state, frame)
    if found is not None:
        if found.bad and frame.command == "MESSAGE":
            state = _pushed(state, Push(frame, _sub(state, frame), sure=False, bad=found.bad))
        return spoilt(state, found.why, found.fatal)
    state = state._replace(
        phase=MACHINE.move(state.phase, frame.command), marks=marks(frame, state.version) | how | (before & _EOLS)
    )
    if frame.command == "RECEIPT":
        return _receipted(state, frame.get("receipt-id"))
    if frame.command == "ERROR":
        return state._replace(spoilt="an ERROR", refused=_refused(state, frame))
    return _message(state, frame, before | how)


def spoilt(state: ClientState, why: str, fatal: str = "") -> ClientState:
    """What was said may end the connection."""
    return state._replace(
        phase=MACHINE.move(state.phase, SPOILS), spoilt=state.spoilt or why, fatal=state.fatal or fatal
    )


def _greeted(state: ClientState, frame: Frame, how: frozenset[str]) -> ClientState:
    version = frame.get("version") or "1.0"
    theirs = beats(frame)
    asked = beats(Frame("", (("heart-beat", state.asked_beats or "0,0"),)))
    if frame.warts or theirs is None or asked is None or state.config.version not in state.offered:
        return spoilt(state, "a CONNECTED that is not as it should be, or of a version that is not judged")
    known = version in state.offered
    phase = MACHINE.move(state.phase, "CONNECTED", K.LIVE if known else K.REFUSED)
    mine = max(asked[0], theirs[1]) if asked[0] and theirs[1] else 0
    tester = max(asked[1], theirs[0]) if asked[1] and theirs[0] else 0
    return state._replace(
        phase=phase, version=version, greeting=frame, mine_ms=mine, theirs_ms=tester, silent_ms=0,
        marks=marks(frame, version) | how,
    )  # fmt: skip


def _receipted(state: ClientState, name: str) -> ClientState:
    at = next(at for at, (known, _) in enumerate(state.receipts) if known == name)
    nth = state.receipts[at][1]
    bye = state.bye_said or (state.bye == name and state.phase is K.LEAVING)
    if awaits(state) and state.told[0].nth == nth:
        state = state._replace(held_ms=max(state.held_ms, state.silent_ms))
    return state._replace(
        receipts=(*state.receipts[:at], *state.receipts[at + 1 :]), answered=state.answered | {nth}, bye_said=bye
    )


def _refused(state: ClientState, frame: Frame) -> frozenset[int]:
    """The commands whose frames were not processed: an ERROR names one by the receipt that it asked for."""
    return frozenset(nth for name, nth in state.receipts if nth >= 0 and name == frame.get("receipt-id"))


def _sub(state: ClientState, frame: Frame) -> str:
    """The name of the subscription that a MESSAGE is for, "" for none."""
    number = frame.get("subscription")
    open_ = [sub for sub in state.subs if sub.open]
    for sub in open_:
        if sub.wire is not None and sub.wire == number:
            return sub.name
    for sub in open_:
        if sub.wire is None and number is None and sub.destination == frame.get("destination"):
            return sub.name
    return ""


def _late(state: ClientState, frame: Frame) -> str:
    """The name of the subscription that has just ended and that a MESSAGE is for, "" for none: until the RECEIPT of its
    UNSUBSCRIBE is said, what the server had for it may come (E-40)."""
    number, place = frame.get("subscription"), frame.get("destination")
    asked = {nth for _, nth in state.receipts if nth >= 0}
    for sub in reversed(state.subs):
        named = sub.wire == number and (number is not None or sub.destination == place)
        if named and sub.ended and sub.leaves in asked:
            return sub.name
    return ""


def _message(state: ClientState, frame: Frame, before: frozenset[str]) -> ClientState:
    name = _sub(state, frame)
    late = "" if name else _late(state, frame)
    if not (name or late):
        return spoilt(state, "a MESSAGE of no open subscription")
    large = ids.FRAME_09 in marks(frame, state.version)
    sub = next((each for each in state.subs if each.name == name and each.open), None)
    sure = state.phase is K.LIVE and sub is not None and sub.leaves < 0 and not large
    state = _pushed(state, Push(frame, name or late, sure, before=before))
    return spoilt(state, "a frame beyond what a client has to take")._replace(large=True) if large else state


def _pushed(state: ClientState, push: Push) -> ClientState:
    return state._replace(pushes=(*state.pushes, push))


def _behind(state: ClientState, frame: Frame) -> ClientState:
    """A frame behind something fatal: what it carries must not be given."""
    if frame.command != "MESSAGE":
        return state
    return _pushed(state, Push(frame, _sub(state, frame), sure=False, behind=state.fatal))


def garbled(state: ClientState, event: Noise) -> ClientState:
    """Octets that are no frame: from here on nothing can be read."""
    state = state._replace(mute_ms=0, still_ms=0)
    if state.phase is K.OVER:
        return state
    late = event.why == "content-length-mismatch" and state.phase is K.LIVE and state.version != "1.0"  # E-35
    if late:
        state = _pushed(state, Push(Frame("", (), event.data), "", sure=False, bad=ids.CLEN_02))
    return spoilt(state, f"octets that are no frame ({event.why})", BEHIND_LENGTH if late else "")


def silent(state: ClientState, event: Quiet) -> ClientState:
    """Time has passed in which nothing was said by the client, and at most so much in which the tester said nothing."""
    mute, still = state.mute_ms + max(event.ms, event.elapsed), state.still_ms + event.ms
    state = state._replace(silent_ms=state.silent_ms + event.ms, mute_ms=mute, still_ms=still)
    state = state._replace(whole_ms=state.whole_ms + event.ms)
    if state.phase is not K.LIVE:
        return state
    return state._replace(waited_ms=max(state.waited_ms, mute), rested_ms=max(state.rested_ms, still))
