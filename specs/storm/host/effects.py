"""What the actions of a host do to the state, whether or not something was broken."""

from __future__ import annotations

from typing import Any

from specs.storm.host.book import BOLT_HOST, BOTH, SPOUT_HOST
from specs.storm.host.case import SEEN, Case, Commands, Lists, Shown, Tuples
from specs.storm.host.child_messages import emitted, logged
from specs.storm.host.forms_beside import log_at
from specs.storm.states import HostConv, Row


@BOTH.effect("nonsense")
def nothing_but_the_phase(m: Case) -> HostConv:
    return m.conv


@BOTH.effect("setup")
def the_setup_is_known(m: Case) -> HostConv:
    return m.conv._replace(setup=m.what)


@BOTH.effect("closes")
def the_end_of_the_childs_stdin(m: Case) -> HostConv:
    return m.conv._replace(muted=True)


@BOTH.effect("list")
def an_emit_has_its_task_ids(m: Case) -> HostConv:
    conv = m.conv._replace(lists=m.conv.lists[1:])
    kind, at = m.listed
    return conv._replace(lowest=at) if kind is Lists.RIGHT else conv


def met(conv: HostConv) -> HostConv:
    """The child is spoken to: what came in place of its process id was taken for it."""
    return conv._replace(skipped=tuple(row for row in conv.skipped if row is not Row.PID))


@BOLT_HOST.effect("tuple")
def a_tuple_is_live(m: Case) -> HostConv:
    conv, (kind, at) = met(m.conv), m.given
    if kind is not Tuples.GIVEN:
        return conv
    live = conv.waiting[at]._replace(wire=m.get("id"))
    return conv._replace(waiting=conv.waiting[:at] + conv.waiting[at + 1 :], live=(*conv.live, live),
                         ids=conv.ids | {m.get("id")})  # fmt: skip


@BOLT_HOST.effect("heartbeat")
def a_heartbeat_waits_for_its_sync(m: Case) -> HostConv:
    return met(m.conv)._replace(beats=m.conv.beats + 1, seen=m.conv.seen + 1, idle_ms=0)


@SPOUT_HOST.effect("command")
def a_command_is_open(m: Case) -> HostConv:
    conv, command = met(m.conv), m.get("command")
    after = conv._replace(command=command, quiet_ms=0, most_ms=0, late=False, held=(), answered=False)
    for message in conv.held:  # what the child said after its sync is read now
        emits = message.get("command") == "emit"
        after = emitted(m.config, after, message) if emits else logged(after, message)
    if command in ("activate", "deactivate"):
        after = after._replace(active=command == "activate")
    kind, at = m.asked
    return after._replace(waiting=conv.waiting[:at] + conv.waiting[at + 1 :]) if kind is Commands.ASKED else after


# -- beside the wire ---------------------------------------------------------------------------------------------------


def settled(conv: HostConv) -> HostConv:
    """What was said and is no message is behind it once everything has shown its effect."""
    return conv if conv.effects or conv.logs or conv.lists else conv._replace(skipped=())


def shown(m: Case) -> HostConv:
    """Something reached the collector."""
    conv, (kind, at) = m.conv, m.shown
    if kind is Shown.READ_ON:  # the command that lets it read on is on its way to the child
        read = {**conv.held[at], SEEN: True}
        return conv._replace(held=(*conv.held[:at], read, *conv.held[at + 1 :]))
    if kind in (Shown.SAID, Shown.VALUES, Shown.STREAM, Shown.TASK, Shown.ID, Shown.ANCHORS):
        return settled(conv._replace(effects=conv.effects[:at] + conv.effects[at + 1 :]))
    return conv


def noted(m: Case) -> HostConv:
    """Something reached the log."""
    at = log_at(m)
    return settled(m.conv._replace(logs=m.conv.logs[:at] + m.conv.logs[at + 1 :]))


def given_up(m: Case) -> HostConv:
    """The child is given up."""
    return m.conv._replace(failed=True, failing=None)


BESIDE: dict[str, Any] = {
    **dict.fromkeys(("emit", "ack", "fail"), shown),
    "logged": noted,
    "gives up": given_up,
}
"""What is seen beside the wire."""
