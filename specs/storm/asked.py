"""What a judged host is asked to do, what must be seen of it beside the wire, its timeouts, and its giving up.

The tester plays the child and whoever calls the host. What its program says beside the wire (answers, effects on the
collector, failures) are Facts; these and the messages on the wire are two streams, so nothing here rests on which of
them was seen first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from specs.events import Quiet
from specs.model import ANYTHING, Outcome
from specs.storm.host import ODD, SEEN, forgiving
from specs.storm.said import allow, breach
from specs.storm.states import GRACE_MS, NOTICE_MS, Config, Expected, HostConv, Live
from specs.storm.values import same, shown, stream_of

TIMEOUT = "topology.subprocess.timeout.secs"
OWN_MS = 500
"""A child that is silent for this long may be given up by a host whose timeout we do not know."""
HARMLESS = frozenset({"END-06", "BOLT-24"})
"""What a child does beside its messages: where one of these has no effect, that is the likelier cause."""
LEVELS = {0: "trace", 1: "debug", 2: "info", 3: "warn", 4: "error"}
"""Levels of a log; any other number is info."""


# -- what the tester does ----------------------------------------------------------------------------------------------


def does(config: Config, conv: HostConv, name: str, value: Any) -> Outcome:
    """A Do of the plan."""
    if name == "start":
        seconds = (value.get("conf") or {}).get(TIMEOUT)
        timeout = int(seconds * 1000) if config.timed and isinstance(seconds, (int, float)) else 0
        return allow(conv._replace(given=value, timeout_ms=timeout, calls=(*conv.calls, "start")))
    if name == "call":
        return _calls(config, conv, value)
    if name == "task_ids":
        return allow(conv._replace(settings=(*conv.settings, value["ids"]), calls=(*conv.calls, name)))
    if name in ("exit", "kill"):
        if name == "kill" and value == 19:
            return allow(conv._replace(stopped=True))
        row = "INV-HOST-21" if conv.partial else "INV-HOST-22"
        after = conv._replace(left=True, skipped=(*conv.skipped, row))
        noticed = config.child == "bolt" or conv.command is not None or bool(conv.waiting) or not conv.pid
        return allow(after._replace(failing=conv.failing or ("END-04" if noticed else "")))
    if name == "stderr":
        return allow(conv._replace(skipped=(*conv.skipped, "END-06")))
    if name in ("deaf", "hear"):
        return allow(conv._replace(deaf=name == "deaf"))
    if name == "close":
        return allow(conv._replace(closing=True))
    if name == "octets":
        return allow(conv._replace(partial=True))
    return allow(conv)


def _calls(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    op = value["op"]
    after = conv._replace(calls=(*conv.calls, op))
    if conv.left:
        after = after._replace(failing=conv.failing or "END-04")
    if op == "tuple":
        live = Live(value["id"], None, value["comp"], value["stream"], value["task"], value["tuple"])
        return allow(after._replace(waiting=(*conv.waiting, live)))
    name = value.get("id")
    if op in ("ack", "fail"):
        at = next((n for n, known in enumerate(conv.outstanding) if same(known, name)), None)
        if at is None:
            return breach(config.child, "SPOUT-11", f"{op} was asked for {shown(name)}, which was not emitted")
        after = after._replace(outstanding=conv.outstanding[:at] + conv.outstanding[at + 1 :])
    return allow(after._replace(waiting=(*conv.waiting, (op, name))))


# -- what is seen ------------------------------------------------------------------------------------------------------


def fact(config: Config, conv: HostConv, name: str, value: Any) -> Outcome:
    """Something was seen of the host's program."""
    if name == "octets":
        return allow(conv._replace(partial=True))
    if name == "connected":
        return allow(conv._replace(children=conv.children + 1))
    if name == "ended":
        after = conv._replace(gone=True)
        return allow(after, *(["END-05"] if conv.closing else []))
    if name == "touched":
        if value:
            return breach(config.host, "HS-07", f"no file can be made in its pidDir: {value!r:.200}")
        return allow(conv._replace(touched=True), "HS-07")
    if name == "exit":
        if conv.closing or conv.failed:
            return allow(conv._replace(failed=True))
        return _gave_up(config, conv._replace(failed=True), conv, f"its program ended ({value!r:.60})")
    if not isinstance(value, Mapping):
        return allow(conv)
    if name == "answer":
        return _answers(config, conv, value)
    if name in ("emit", "ack", "fail"):
        return _effect(config, conv, name, value)
    if name == "log":
        return _logs(config, conv, value)
    if name == "error":
        return _error(config, conv, value)
    if name in ("failed", "exited"):
        return _gave_up(config, conv._replace(failed=True), conv, f"it says {name}: {value.get('why')!r:.200}")
    return allow(conv)


def ends_child(config: Config, conv: HostConv) -> Outcome:
    """The host has ended the child's STDIN, or the child."""
    after = conv._replace(muted=True)
    if conv.left or conv.failed or conv.closing:
        return allow(after, *(["END-05"] if conv.closing else []))
    return allow(after)


def _answers(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    op, error = value.get("op"), value.get("error")
    left = list(conv.calls)
    if op in left:
        left.remove(str(op))
    after = conv._replace(calls=tuple(left))
    if op == "task_ids" and error is None:
        after = after._replace(known=min(len(conv.settings), conv.known + 1))
    if error == "unsupported":
        return allow(ANYTHING)  # what it does not claim is not judged
    if error is not None:
        return _gave_up(config, after._replace(failed=True), conv, f"{op} failed: {error!r:.200}")
    return allow(after)


def _error(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    text = str(value.get("msg"))
    for at, told in enumerate(conv.errors):
        if told in text:
            return allow(conv._replace(errors=conv.errors[:at] + conv.errors[at + 1 :]), "EXT-05")
    for at, told in enumerate(conv.alarms):
        if told in text:
            return allow(conv._replace(alarms=conv.alarms[:at] + conv.alarms[at + 1 :]))
    return _gave_up(config, conv._replace(failed=True), conv, f"an error of the component: {text:.200}")


def _gave_up(config: Config, after: HostConv, conv: HostConv, why: str) -> Outcome:
    """The host says that its child, or it, is done for."""
    by, bolt = config.host, config.host == "bolt-host"
    after = after._replace(failing="")
    if conv.failed or conv.closing:
        return allow(after)
    if conv.failing:
        return allow(after, conv.failing, *conv.skipped, *(["END-04"] if conv.left else []))
    if conv.left:
        return allow(after, "END-04")
    if conv.maybe:
        return allow(after, conv.maybe)
    if conv.skipped and not (conv.effects and conv.skipped[-1] in HARMLESS):
        return breach(by, conv.skipped[-1], f"{why}; what came before is no reason")
    if not conv.pid:
        if conv.most_ms >= 500:
            return allow(after, "INV-HOST-02")
        return breach(by, "HS-01", f"{why}, before the child had said anything")
    waits = bolt or conv.command is not None
    if bolt and conv.timeout_ms and not conv.beats and not conv.stopped and conv.idle_ms >= conv.timeout_ms * 0.8:
        return breach(by, "HB-01", f"{why}, and no heartbeat was left to answer")
    if conv.timeout_ms and conv.most_ms >= conv.timeout_ms / 2:
        if waits or not config.has("x-hb-timing"):
            return allow(after, *(["HB-10"] if conv.quiet_ms >= conv.timeout_ms else []))
        return breach(by, "HB-13", f"{why}, and no command was open")
    if not config.timed and conv.most_ms >= OWN_MS:
        return allow(after)
    culprit = _culprit(config, conv)
    if culprit:
        return breach(by, culprit, why)
    if conv.seen or conv.most_ms:
        named = "HB-12" if config.has("x-hb-any-message") else "HB-11"
        return breach(by, named if bolt else "HB-11", why)
    return breach(by, "BOLT-05" if bolt else "SPOUT-16", why)


def _culprit(config: Config, conv: HostConv) -> str:
    """The first thing that the child said and that is without effect: what the host cannot bear."""
    if conv.effects:
        due = conv.effects[0]
        more = [name for name in due.more if name != "EXT-03"]
        if due.task is not None:  # what all must bear is suspected before what an extension adds to it
            return _named(config, due)
        return more[0] if more else "BOLT-10" if due.anchors else _named(config, due)
    if conv.logs:
        return "BOLT-21" if config.child == "bolt" else "SPOUT-15"
    return "EXT-05" if conv.errors else ""


# -- effects -----------------------------------------------------------------------------------------------------------


def _effect(config: Config, conv: HostConv, kind: str, value: Mapping[str, Any]) -> Outcome:
    """Something reached the collector."""
    if conv.failed:
        return allow(conv)
    for at, due in enumerate(conv.effects):
        if due.kind == kind and _fits(due, value):
            return allow(_settled(conv._replace(effects=conv.effects[:at] + conv.effects[at + 1 :])),
                         *_covers(config, conv, due))  # fmt: skip
    return _astray(config, conv, kind, value)


def _settled(conv: HostConv) -> HostConv:
    """What was said and is no message is behind it once everything has shown its effect."""
    return conv if conv.effects or conv.logs or conv.lists else conv._replace(skipped=())


def _fits(due: Expected, value: Mapping[str, Any]) -> bool:
    if due.kind in ("ack", "fail"):
        return _is(due.id, value.get("id"))
    return (
        _values(due.values, value.get("tuple"))
        and due.stream == stream_of(value.get("stream"))
        and same(due.task, value.get("task") or None)
        and same(due.id, value.get("id"))
        and _anchored(due.anchors, value.get("anchors"))
    )


def _is(live: Live, name: Any) -> bool:
    return same(live.wire, name) or same(live.name, name)


def _values(due: Any, got: Any) -> bool:
    if isinstance(due, list) and len(due) == 2 and due[1] == ODD:
        if not isinstance(got, list) or len(got) != 2 or not same(due[0], got[0]):
            return False
        number = got[1]
        odd = isinstance(number, float) and (not math.isfinite(number) or abs(number) > 1e15)
        return odd or number in (12345678901234567890, -12345678901234567890) or not isinstance(number, (int, float))
    return same(due, got)


def _anchored(due: tuple[Any, ...], got: Any) -> bool:
    names = [got] if isinstance(got, str) else [] if got is None else got
    if not isinstance(names, list):
        return False
    named = all(any(_is(live, name) for live in due) for name in names)
    return named and all(any(_is(live, name) for name in names) for live in due)


def _covers(config: Config, conv: HostConv, due: Expected) -> list[str]:
    if due.kind in ("ack", "fail"):
        covers = ["BOLT-20", "BOLT-23", "BOLT-05"]
        covers += ["BOLT-25"] if len(conv.done) > 1 else []
        return [*covers, *conv.skipped]
    if config.child == "bolt":
        covers = ["BOLT-10" if due.anchors else "BOLT-12", "BOLT-14" if due.task is not None else "BOLT-13"]
        return [*covers, *due.more, "BOLT-27", "BOLT-05", *conv.skipped, *_wide(config, due)]
    covers = ["SPOUT-12"] if due.id is not None else ["SPOUT-11"]
    covers += ["SPOUT-16"] if conv.command in ("ack", "fail") else []
    covers += due.more
    return [*covers, "SPOUT-14" if due.task is not None else "SPOUT-13", "SPOUT-21", *conv.skipped, *_wide(config, due)]


def _wide(config: Config, due: Expected) -> list[str]:
    return ["FRAME-13"] if "\\" in repr(due.values) or not repr(due.values).isascii() else []


def _astray(config: Config, conv: HostConv, kind: str, value: Mapping[str, Any]) -> Outcome:
    """An effect that nothing calls for."""
    by, bolt = config.host, config.host == "bolt-host"
    what = f"{kind} {shown(dict(value), 160)}"
    row = "INV-HOST-21" if "INV-HOST-21" in conv.skipped else conv.failing or conv.maybe
    if row and row != "INV-HOST-27" and kind in ("ack", "fail"):
        other = any(_is(live, value.get("id")) for live in conv.live)  # it is open, and was not named
        return (None if other else forgiving(config, conv, what)) or breach(by, row, f"{what} came of what is none")
    if row:
        return forgiving(config, conv, what) or breach(by, row, f"{what} came of what means nothing")
    if kind in ("ack", "fail"):
        if conv.skipped and "INV-HOST-27" in conv.skipped:
            return breach(by, "INV-HOST-27", f"{what} came of an id that is none")
        return breach(by, "BOLT-20" if bolt else "SPOUT-16", f"{what}, which the child did not say, or once only")
    at = next((n for n, held in enumerate(conv.held) if same(held.get("tuple"), value.get("tuple"))), -1)
    if at >= 0 and conv.waiting:  # the command that lets it read on is on its way to the child
        read = {**conv.held[at], SEEN: True}
        return allow(conv._replace(held=(*conv.held[:at], read, *conv.held[at + 1 :])))
    if at >= 0:
        return breach(by, "SPOUT-05", f"{what}: it was read after the sync, before another command")
    due = next((due for due in conv.effects if due.kind == "emit" and _tagged(due.values, value.get("tuple"))), None)
    due = due or next((due for due in conv.effects if due.kind == "emit"), None)
    if due is None:
        return breach(by, "BOLT-27" if bolt else "SPOUT-21", f"{what}, which the child did not say, or once only")
    names = ("BOLT-27", "BOLT-13", "BOLT-14") if bolt else ("SPOUT-21", "SPOUT-13", "SPOUT-14")
    if not same(due.values, value.get("tuple")):
        return breach(
            by, names[0], f"emitted is {shown(value.get('tuple'), 160)}, the child said {shown(due.values, 160)}"
        )
    if due.stream != stream_of(value.get("stream")):
        return breach(by, names[1], f"emitted to {shown(value.get('stream'))}, the child said {due.stream!r:.60}")
    if not same(due.task, value.get("task") or None):
        return breach(by, names[2], f"emitted to the task {shown(value.get('task'))}, the child said {due.task!r}")
    if not bolt:
        named = "SPOUT-12" if due.id is not None else "SPOUT-11"
        return breach(by, named, f"emitted with the id {shown(value.get('id'))}, the child said {shown(due.id)}")
    names_of = [live.wire for live in due.anchors]
    named = "BOLT-10" if due.anchors else "BOLT-12"
    return breach(by, named, f"anchors are {shown(value.get('anchors'))}, the child said {shown(names_of)}")


def _tagged(due: Any, got: Any) -> bool:
    return bool(due and got and isinstance(got, list) and same(due[0], got[0]))


def _logs(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    named = "BOLT-21" if config.child == "bolt" else "SPOUT-15"
    text = str(value.get("msg"))
    for at, (told, level) in enumerate(conv.logs):
        if told not in text:
            continue
        after = _settled(conv._replace(logs=conv.logs[:at] + conv.logs[at + 1 :]))
        if not config.has("x-loglevel") or level is None or value.get("level") is None:
            return allow(after, named, *conv.skipped)
        got = value["level"]
        wanted = LEVELS.get(level, "info") if isinstance(level, int) else "info"
        if wanted != (LEVELS.get(got, "info") if isinstance(got, int) else str(got).lower()):
            return breach(config.host, "EXT-06", f"a log of level {level!r} was noted as {got!r}, not {wanted}")
        return allow(after, named, "EXT-06", *conv.skipped)
    if conv.failing and conv.failing.startswith("INV") and any(conv.logs):
        return allow(conv)
    return allow(conv)


# -- turns and time ----------------------------------------------------------------------------------------------------


def owed(config: Config, conv: HostConv) -> Iterator[str]:
    """What the host still has to say or do before it is anybody else's turn."""
    bolt = config.host == "bolt-host"
    if conv.closing:
        if not conv.gone and not conv.muted:
            yield "END-05"
        return
    if conv.failed or conv.given is None or conv.deaf:
        return
    if conv.failing:
        yield conv.failing
    elif conv.setup is None:
        yield "HS-01"
    elif not conv.pid:
        return
    elif "start" in conv.calls and conv.command is None:
        yield "HS-18"
    elif "task_ids" in conv.calls:
        yield "BOLT-15" if bolt else "SPOUT-07"
    elif conv.maybe and conv.maybe != "INV-HOST-01":
        return
    elif conv.lists:
        yield "BOLT-15" if bolt else "SPOUT-07"
    elif conv.effects:
        yield _named(config, conv.effects[0])
    elif conv.logs:
        yield "BOLT-21" if bolt else "SPOUT-15"
    elif conv.errors:
        yield "EXT-05"
    elif conv.waiting and (bolt or conv.command is None):
        yield "BOLT-01" if bolt else "SPOUT-06"


def _named(config: Config, due: Expected) -> str:
    if due.kind in ("ack", "fail"):
        return "BOLT-20"
    bolt = config.child == "bolt"
    if due.task is not None:
        return "BOLT-14" if bolt else "SPOUT-14"
    return "BOLT-13" if bolt else "SPOUT-13"


def quiet(config: Config, conv: HostConv, event: Quiet) -> Outcome | None:
    """Time has passed."""
    after = conv
    if not event.final and conv.given is not None:
        waits = config.child == "bolt" or conv.command is not None or not conv.pid
        after = conv._replace(most_ms=conv.most_ms + event.elapsed)
        if waits:
            after = after._replace(quiet_ms=conv.quiet_ms + event.ms)
        if config.child == "bolt" and conv.pid and not conv.beats and not conv.stopped:
            after = after._replace(idle_ms=conv.idle_ms + event.ms)
        return _timed(config, after)
    return _silence(config, after)


def _timed(config: Config, conv: HostConv) -> Outcome:
    over = conv.timeout_ms and not conv.failed and not conv.failing and not conv.left and not conv.closing
    if not over:
        return allow(conv)
    if conv.pid and conv.idle_ms >= conv.timeout_ms + GRACE_MS and not conv.maybe:
        why = f"no heartbeat came for {conv.idle_ms} ms; the timeout is {conv.timeout_ms} ms"
        return breach(config.host, "HB-01", why)
    if conv.quiet_ms >= conv.timeout_ms + NOTICE_MS:
        if not conv.pid:
            return allow(conv._replace(failing="INV-HOST-02"))
        if not conv.lists:
            return allow(conv._replace(failing="HB-10"))
    if not config.has("x-hb-any-message") and config.child == "bolt":
        return allow(conv)
    covers = ["HB-12"] if config.child == "bolt" and conv.most_ms < conv.timeout_ms and conv.seen > 1 else []
    return allow(conv, *covers)


def _silence(config: Config, conv: HostConv) -> Outcome | None:
    due = next(owed(config, conv), None)
    if due is None:
        if conv.maybe and not conv.failed and conv.maybe != "INV-HOST-01":
            return allow(conv._replace(maybe=""), conv.maybe)
        return None
    by = config.host
    if due == "HS-18" and "start" in conv.calls and not conv.failing:  # it was not answered, but that is all
        return allow(conv._replace(calls=tuple(op for op in conv.calls if op != "start")))
    if conv.closing:
        return breach(by, "END-05", "its caller is done with it, and the child was left running")
    if conv.failing:
        passed_over = conv.failing.startswith("INV-HOST") or (conv.failing == "HS-18" and not conv.left)
        level = "SHOULD" if passed_over else None
        what = {"HB-10": "the child is silent for longer than the timeout", "END-04": "the child has ended",
                "INV-HOST-02": "the child does not say its process id"}  # fmt: skip
        why = f"{what.get(conv.failing, 'the child said what means nothing')}, and it does not say so"
        return breach(by, conv.failing, why, also=" ".join(conv.skipped), level=level)
    if conv.partial:
        return breach(by, "FRAME-02", "octets came, but no line `end`")
    if conv.skipped:
        due = conv.skipped[-1]
    return breach(by, due, _missing(config, conv))


def _missing(config: Config, conv: HostConv) -> str:
    if conv.setup is None:
        return "there is no child, or it was sent nothing"
    if "task_ids" in conv.calls:
        return "a request was not answered"
    if conv.lists:
        return "the task ids of an emit did not come"
    if conv.effects:
        due = conv.effects[0]
        what = due.id.name if due.kind in ("ack", "fail") else due.values
        return f"{due.kind} {shown(what)} had no effect"
    if conv.logs:
        return f"the log {shown(conv.logs[0][0])} did not reach the host's log"
    if conv.errors:
        return f"the error {conv.errors[0]!r:.80} was not reported"
    if config.child == "bolt":
        return f"the tuple {shown(conv.waiting[0].values)} was not sent"
    return f"{conv.waiting[0][0]} was not sent"
