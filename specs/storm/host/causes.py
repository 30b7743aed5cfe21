"""Why a host gives a right child up, or emits other values: asked after a breach only, the likeliest first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from specs.causes import Causes, Evidence, Named, picked
from specs.storm import ids
from specs.storm.child.causes import wide
from specs.storm.host.book import ROWS
from specs.storm.host.case import Case, Shown
from specs.storm.states import Expected, Row

VALUES = Causes("other values")


@VALUES.cause(ids.ESCAPES_ARE_RESOLVED, could=lambda m: m.shown[1] >= 0 and wide(m.due.values))
def an_escape_was_not_resolved(m: Case) -> str:
    """A text holds the escape and not what that stands for (JSON)."""
    if m.shown[0] is not Shown.VALUES or repr(m.what.get("tuple")).count("\\") <= repr(m.due.values).count("\\"):
        return ""
    return f"a text was escaped: {str(m.what.get('tuple'))[:160]!r}"


CULPRITS = Causes("given up")
"""The first thing that the child said and that is without effect is what the host cannot bear."""


_MORE_BESIDE_THE_PID = (f"{ROWS[Row.PID]} what_stands_beside_messages_is_no_reason_to_give_up",)


def culprit(requirements: str, which: Any = None) -> Callable[[Evidence], Evidence]:
    """Register a cause of `CULPRITS`: what could be blamed where the child was given up, and nowhere else. Members
    beside the process id, where there were some, may be the reason as well."""

    def registered(evidence: Evidence) -> Evidence:
        @wraps(evidence)
        def found(m: Case) -> str | Named:
            why = evidence(m)
            if not why or Row.PID not in m.conv.skipped:
                return str(why)
            name = picked(requirements.split(), which, m)
            return Named(name, why, evidence.__name__, same_as=_MORE_BESIDE_THE_PID)

        CULPRITS.cause(requirements, which=which, could=lambda m: m.action == "gives up")(found)
        return evidence

    return registered


def _first(m: Case) -> Expected | None:
    return m.conv.effects[0] if m.conv.effects else None


def named(due: Expected, bolt: bool) -> str:
    """The requirement by which an effect is due."""
    if due.kind in ("ack", "fail"):
        return ids.TUPLES_ARE_SETTLED
    if due.task is not None:
        return ids.BOLT_TASK if bolt else ids.SPOUT_TASK
    return ids.BOLT_STREAM if bolt else ids.SPOUT_STREAM


EFFECTS = f"{ids.TUPLES_ARE_SETTLED} {ids.BOLT_TASK} {ids.BOLT_STREAM}", f"{ids.SPOUT_TASK} {ids.SPOUT_STREAM}"
"""The requirements by which effects are due, of bolts and of spouts."""


@culprit(" ".join(EFFECTS), which=lambda m: named(m.conv.effects[0], m.bolt))
def it_cannot_bear_a_direct_emit(m: Case) -> str:
    """What all must bear is suspected before what an extension adds to it."""
    due = _first(m)
    return str(m.what) if due is not None and due.task is not None else ""


@culprit(ids.ONE_TEXT_IS_A_LIST)
def it_cannot_bear_one_anchor(m: Case) -> str:
    """anchors that are one text (Storm 0.9.2)."""
    due = _first(m)
    return str(m.what) if due is not None and "one anchor" in due.more else ""


@culprit(ids.TASK_0_IS_NONE)
def it_cannot_bear_task_0(m: Case) -> str:
    """Absent, null or 0 (Storm)."""
    due = _first(m)
    return str(m.what) if due is not None and "task 0" in due.more else ""


@culprit(ids.ANCHORS_ARE_TUPLES)
def it_cannot_bear_anchors(m: Case) -> str:
    """The tuples that an emit depends on (Bolts)."""
    due = _first(m)
    return str(m.what) if due is not None and due.anchors else ""


@culprit(" ".join(EFFECTS), which=lambda m: named(m.conv.effects[0], m.bolt))
def it_cannot_bear_what_has_no_effect_yet(m: Case) -> str:
    """What a child may say at any time (Spouts, Bolts)."""
    return str(m.what) if _first(m) is not None else ""


@culprit(f"{ids.BOLT_LOGS} {ids.SPOUT_LOGS}", which=lambda m: ids.BOLT_LOGS if m.bolt else ids.SPOUT_LOGS)
def it_cannot_bear_a_log(m: Case) -> str:
    """A log (Spouts, Bolts)."""
    return str(m.what) if m.conv.logs else ""


@culprit(ids.ERRORS_ARE_REPORTED)
def it_ends_at_an_error(m: Case) -> str:
    """The process goes on (Storm 0.9)."""
    return str(m.what) if m.conv.errors else ""
