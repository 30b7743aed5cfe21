"""Brings what is seen of a judged host to its rulebook."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from specs.events import Quiet
from specs.model import ANYTHING, Allow, Breach, Outcome
from specs.rules import Rulebook
from specs.storm import forms_octets  # noqa: F401 - it fills the books
from specs.storm.frames import Message, Text
from specs.storm.host import duties, effects, forms, forms_beside, forms_setup  # noqa: F401 - they fill the books
from specs.storm.host.book import BOOKS
from specs.storm.host.case import Case, Shown, still
from specs.storm.machine import DEAFS, NEW, OVERS
from specs.storm.states import GRACE_MS, NOTICE_MS, Config, HostConv, Owing, Row
from specs.storm.values import is_heartbeat


def said(config: Config, conv: HostConv, frame: Message | Text) -> Outcome:
    """A message of the host."""
    if conv.failed or conv.closing or conv.phase in (*DEAFS, *OVERS):
        return Allow(conv)
    conv = conv._replace(partial=False) if conv.partial else conv
    if isinstance(frame, Text) and frame.why == "twice":
        frame = Message(json.loads(frame.data))
    book, value = BOOKS[config.host], frame.value if isinstance(frame, Message) else None
    octets = _beside(book, Case(config, conv, "octets", value, frame))
    if isinstance(octets, Breach):
        return octets
    goes_on = _beside(book, Case(config, conv, "goes on", value, frame))
    assert isinstance(goes_on, Allow)  # its forms are broken elsewhere: where the host gives up
    case = Case(config, conv, _action(config, conv, value), value, frame)
    found = book.judge(case, case.action)
    if isinstance(found, Breach):
        return _lenient(book, config, conv, found)
    after = found.state
    if isinstance(after, HostConv) and (after.waited or after.lived):
        found = replace(found, state=after._replace(waited=False, lived=False))
    return found.following(goes_on).following(octets)


def _action(config: Config, conv: HostConv, value: Any) -> str:
    """What the table calls a message."""
    if conv.phase is NEW[config.child]:
        return "setup"
    if isinstance(value, list):
        return "list"
    if not isinstance(value, Mapping):
        return "nonsense"
    if config.child == "bolt":
        near = value.get("stream") == "__heartbeat" and (is_heartbeat(value) or value.get("tuple") == [])
        return "heartbeat" if near else "tuple"
    known = ("next", "ack", "fail", "activate", "deactivate") if config.has("x-activate") else ("next", "ack", "fail")
    return "command" if value.get("command") in known else "nonsense"


def _lenient(book: Rulebook, config: Config, conv: HostConv, found: Breach) -> Outcome:
    """What comes of what means nothing is a recommendation missed."""
    case = Case(config, conv, "lenient", found.why)
    if not forms_beside.is_lenient(case) or (conv.left and case.row is Row.LEFT):
        return found
    return _beside(book, case)


def _beside(book: Rulebook, case: Case) -> Outcome:
    """What the forms of a topic say that is no action of the table."""
    after = effects.BESIDE[case.action](case) if case.action in effects.BESIDE else case.conv
    return book.beside(case, case.action, after)


def endless(config: Config, conv: HostConv, data: bytes) -> Outcome:
    """Octets that no closing line follows."""
    return _beside(BOOKS[config.host], Case(config, conv, "endless", data))


def closes(config: Config, conv: HostConv) -> Outcome:
    """The host has ended the child's STDIN, or the child."""
    if conv.phase in (*DEAFS, *OVERS):
        return Allow(conv._replace(muted=True))
    return BOOKS[config.host].judge(Case(config, conv, "closes", None), "closes")


# -- beside the wire ---------------------------------------------------------------------------------------------------


def fact(config: Config, conv: HostConv, name: str, value: Any) -> Outcome:
    """Something was seen of the host's program."""
    book = BOOKS[config.host]
    if name == "octets":
        return Allow(conv._replace(partial=True))
    if name == "connected":
        return Allow(conv._replace(children=conv.children + 1))
    if name == "ended":
        found = _beside(book, Case(config, conv, "ended", value))
        return replace(found, state=conv._replace(gone=True)) if isinstance(found, Allow) else found
    if name == "touched":
        return _beside(book, Case(config, conv, "touched", value))
    if name == "exit":
        if conv.closing or conv.failed:
            return Allow(conv._replace(failed=True))
        return _gives_up(config, conv, f"its program ended ({value!r:.60})")
    return _told(config, conv, name, value) if isinstance(value, Mapping) else Allow(conv)


def _told(config: Config, conv: HostConv, name: str, value: Mapping[str, Any]) -> Outcome:
    """What its program says."""
    book = BOOKS[config.host]
    if name == "answer":
        return _answers(config, conv, value)
    if name in ("emit", "ack", "fail"):
        case = Case(config, conv, name, value)
        late = conv.failed and not (conv.parting and case.shown[0] is Shown.SAID)
        return Allow(conv) if late else _beside(book, case)
    if name == "log":
        case = Case(config, conv, "logged", value)
        return _beside(book, case) if forms_beside.log_at(case) >= 0 else Allow(conv)
    if name == "error":
        return _errs(config, conv, str(value.get("msg")))
    if name in ("failed", "exited"):
        return _gives_up(config, conv, f"it says {name}: {value.get('why')!r:.200}")
    return Allow(conv)


def _answers(config: Config, conv: HostConv, value: Mapping[str, Any]) -> Outcome:
    op, error = value.get("op"), value.get("error")
    left = list(conv.calls)
    if op in left:
        left.remove(str(op))
    after = conv._replace(calls=tuple(left))
    if op == "task_ids" and error is None:
        after = after._replace(known=min(len(conv.settings), conv.known + 1))
    if error == "unsupported":
        return Allow(ANYTHING)  # what it does not claim is not judged
    if error is not None:
        return _gives_up(config, conv, f"{op} failed: {error!r:.200}", after)
    return Allow(after)


def _errs(config: Config, conv: HostConv, text: str) -> Outcome:
    """It reports an error of its component."""
    for at, told in enumerate(conv.errors):
        if told in text:
            after = conv._replace(errors=conv.errors[:at] + conv.errors[at + 1 :])
            return Allow(after, BOOKS[config.host].met(Case(config, conv, "error", text), "error"))
    for at, told in enumerate(conv.alarms):
        if told in text:
            return Allow(conv._replace(alarms=conv.alarms[:at] + conv.alarms[at + 1 :]))
    return _gives_up(config, conv, f"an error of the component: {text:.200}")


def _gives_up(config: Config, conv: HostConv, why: str, after: HostConv | None = None) -> Outcome:
    """The host says that its child, or it, is done for."""
    case = Case(config, conv, "gives up", why)
    silent = case.silence
    if silent is not None:  # it need not have noticed yet, and has
        case = Case(config, conv._replace(failing=silent, skipped=()), "gives up", why)
    found = _beside(BOOKS[config.host], case)
    if after is None or not isinstance(found, Allow):
        return found
    return replace(found, state=after._replace(failed=True, failing=None))


# -- turns and time ----------------------------------------------------------------------------------------------------


def owed(config: Config, conv: HostConv) -> Iterator[str]:
    """What the host still has to say or do before it is anybody else's turn."""
    return BOOKS[config.host].owed(Owing(config, conv))


def quiet(config: Config, conv: HostConv, event: Quiet) -> Outcome | None:
    """Time has passed."""
    if event.final:
        return _silence(config, conv)
    if conv.given is None:
        return None
    bolt = config.child == "bolt"
    most_ms = conv.most_ms + event.elapsed
    after = conv._replace(most_ms=most_ms, late=conv.late and most_ms < NOTICE_MS)
    if bolt or conv.commanded or not conv.pid:
        after = after._replace(quiet_ms=conv.quiet_ms + event.ms)
    if bolt and conv.pid and not conv.beats and not conv.stopped:
        after = after._replace(idle_ms=conv.idle_ms + event.ms)
    return _timed(config, after)


def _timed(config: Config, conv: HostConv) -> Outcome:
    over = conv.failed or conv.failing is not None or conv.left or conv.closing
    if not conv.timeout_ms or over:
        return Allow(conv)
    if conv.pid and conv.idle_ms >= conv.timeout_ms + GRACE_MS and conv.maybe is None:
        return _beside(BOOKS[config.host], Case(config, conv, "time", None))
    if conv.quiet_ms >= conv.timeout_ms + NOTICE_MS:
        if not conv.pid:
            return Allow(conv._replace(failing=Row.NO_PID))
        if not conv.lists:
            return Allow(conv._replace(failing=still(conv)))
    return Allow(conv)


def _silence(config: Config, conv: HostConv) -> Outcome | None:
    book, state = BOOKS[config.host], Owing(config, conv)
    first = next(book.open(state), None)
    if first is None:
        if conv.maybe is None or conv.failed or conv.maybe is Row.PID:
            return None
        passed = book.ask("passes over", Case(config, conv, "passes over", None))
        return Allow(conv._replace(maybe=None), passed.covers)
    if first.due.kind == "start":  # it was not answered, but that is all
        return Allow(conv._replace(calls=tuple(op for op in conv.calls if op != "start")))
    found = book.at_silence(state, Case(config, conv, "", None))
    return found if isinstance(found, Breach) else None
