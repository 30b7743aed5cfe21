"""What the actions of a bolt or a spout do to the state, whether or not something was broken."""

from __future__ import annotations

from typing import Any

from specs.storm.child.book import BOLT, BOTH, SPOUT
from specs.storm.child.case import Case, Emits, Settles, Shows
from specs.storm.machine import RUNS, SpoutPhase
from specs.storm.states import Conv, Misuse, Task
from specs.storm.values import is_direct, is_number, same, wants_ids


def put(tasks: tuple[Task, ...], at: int, task: Task) -> tuple[Task, ...]:
    """The tasks with one changed; what has nothing due any more is left out."""
    return tasks[:at] + ((task,) if task.open else ()) + tasks[at + 1 :]


def _changed(conv: Conv, at: int, task: Task) -> Conv:
    """The same with one callback changed: once nothing is due of it, it is done."""
    over = not task.open
    return conv._replace(tasks=put(conv.tasks, at, task), done=conv.done + over)


@BOTH.effect("exits", "other")
def nothing_but_the_phase(m: Case) -> Conv:
    return m.conv


@BOTH.effect("report")
def a_report_is_a_word(m: Case) -> Conv:
    return m.conv._replace(words=True) if m.conv.misuse is not None else m.conv


@BOTH.effect("pid")
def the_process_id_is_known(m: Case) -> Conv:
    conv, number = m.conv, m.what.get("pid") if isinstance(m.what, dict) else None
    run = RUNS[m.config.child]
    if conv.misuse is not None:
        if not isinstance(conv.setup, dict) or conv.setup.get("pidDir") is None:
            return conv._replace(phase=run)
        return conv._replace(pid=int(number)) if is_number(number) else conv
    # user code notes down that it was initialized before the process id is said, or not at all
    after = conv._replace(phase=run, initialized=conv.initialized or m.config.scripted)
    return after._replace(pid=int(number)) if is_number(number) else after


@BOTH.effect("log")
def a_log_has_come(m: Case) -> Conv:
    at, hit = m.logged
    conv = m.conv._replace(words=True) if m.conv.misuse is not None and m.phase.name == "SETUP" else m.conv
    if at < 0:
        return conv
    logs = list(conv.tasks[at].logs)
    logs.remove(hit)
    return _changed(conv, at, conv.tasks[at]._replace(logs=tuple(logs), begun=True))


@BOTH.effect("emit")
def an_emit_may_want_task_ids(m: Case) -> Conv:
    conv = m.conv
    if wants_ids(m.config.extensions, m.what):
        conv = conv._replace(owing=conv.owing + 1)
    elif not is_direct(m.what):
        conv = conv._replace(waived=True)
    if m.config.child == "spout" and m.get("id") is not None and m.phase is not SpoutPhase.DEAF:
        conv = conv._replace(emitted=(*conv.emitted, m.get("id")))
    if m.told.kind in (Emits.FREE, Emits.UNTOLD):
        return conv
    task = conv.tasks[m.told.task]
    due = task.due[: m.told.at] + task.due[m.told.at + 1 :]
    return _changed(conv, m.told.task, task._replace(due=due, begun=True))


@BOLT.effect("settle")
def a_tuple_is_settled(m: Case) -> Conv:
    conv, name = m.conv, m.get("id")
    if isinstance(name, (dict, list)) or name not in conv.open:
        return conv
    conv = conv._replace(open=tuple(known for known in conv.open if known != name), settled=conv.settled | {name},
                         waived=False)  # fmt: skip
    kind, number, at = m.settles
    if kind is Settles.FREE:
        return conv._replace(done=conv.done + (not m.config.scripted))
    if number < 0:
        return conv
    task = conv.tasks[number]
    if kind is Settles.RAISED:
        due = tuple(each for each in task.due if each.kind == "emit" or not same(each.id, task.id))
        return _changed(conv, number, task._replace(due=due, raising=False, begun=True))
    if kind is Settles.TOLD:
        due = task.due[:at] + task.due[at + 1 :]
        raising = task.raising and not same(name, task.id)  # what is settled is not failed any more
        return _changed(conv, number, task._replace(due=due, raising=raising, begun=True))
    return conv


@BOLT.effect("sync")
def a_heartbeat_is_answered(m: Case) -> Conv:
    conv = m.conv
    if conv.unanswered:
        late = min(conv.late, conv.unanswered - 1)
        return conv._replace(unanswered=conv.unanswered - 1, late=late, goes_on=conv.goes_on or conv.called)
    return conv._replace(spare=max(0, conv.spare - 1), extras=conv.extras + 1)


@SPOUT.effect("sync")
def a_command_is_over(m: Case) -> Conv:
    conv = m.conv
    if m.phase is SpoutPhase.DEAF:
        return conv._replace(was=SpoutPhase.IDLE)
    if m.phase is not SpoutPhase.BUSY:
        return conv._replace(junk=max(0, conv.junk - 1))
    raised = conv.raising
    tasks = tuple(task._replace(raising=False, due=(), logs=()) for task in conv.tasks if task.seen is not None)
    misuse = None if conv.misuse is Misuse.UNKNOWN_ID else conv.misuse
    return conv._replace(tasks=tasks, misuse=misuse, waived=False,
                         excused=raised or conv.excused)  # fmt: skip


# -- beside the wire ---------------------------------------------------------------------------------------------------


def seen_file(m: Case) -> Conv:
    """A file is in the directory for process ids."""
    name = str(m.what.get("name"))
    return m.conv._replace(files=(*((n, v) for n, v in m.conv.files if n != name), (name, dict(m.what))))


def initialized(m: Case) -> Conv:
    """User code was set up."""
    return m.conv._replace(initialized=True)


def observed(m: Case) -> Conv:
    """User code was called."""
    kind, at = m.shows
    if at < 0 or kind is Shows.OTHER:
        return m.conv
    return _changed(m.conv, at, m.conv.tasks[at]._replace(seen=None, begun=True))


def handed(m: Case) -> Conv:
    """User code was given task ids."""
    conv, at = m.conv, m.list_at
    if at < 0:
        return conv
    return conv._replace(lists=conv.lists[:at] + conv.lists[at + 1 :], passed=conv.passed - (at < conv.passed))


BESIDE: dict[str, Any] = {"file": seen_file, "initialized": initialized, "observed": observed, "task ids": handed}
"""What is seen beside the wire."""
