"""Whether a bolt, a spout, or the testee of a host of them, can be judged. See `suites.check`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from impls.driver.drive import Recording
from specs.events import Fact
from specs.plan import Plan, TooLong, Wait
from specs.storm.bundle import context
from specs.storm.frames import Message
from specs.storm.states import Config
from strategies.storm import discovery
from strategies.storm.writer import Writer
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look, reference_command

SCRIPT: list[Mapping[str, Any]] = [
    {"op": "emit", "tuple": ["Größe", [1.5, None]]},  # as many values as the stream has fields in the context
    {"op": "log", "msg": "wireproof-log"},
    {"op": "sleep", "ms": 1},
]


def check(look: Look) -> None:
    """Tell what is to be told of it. Raises CannotCheck, and Broken."""
    if look.impl.role in ("bolt-host", "spout-host"):
        _host(look)
    else:
        look.open()
        _child(look)


# --- children ---------------------------------------------------------------------------------------------------------


def _child(look: Look) -> None:
    config = look.config()
    assert look.protocol.smoke is not None
    first = look.play(look.protocol.smoke(config), config)
    if first.refused:
        raise CannotCheck(first.refused, "start.command = a command that can be run")
    if not _values(look, first):
        raise look.mute(
            first,
            "said nothing that can be read to the setup",
            '{"pid": …} and a line "end" on stdout, flushed, once the setup was read',
        )
    look.report.good("says its process id, and answers")
    scripted = _user_code(look)
    used = set(_used(_values(look, first)))
    if scripted:
        used |= set(_used(_values(look, look.play(_steps(config), config))))
    if config.child == "spout" and _activates(look):
        used.add("x-activate")
    _claim(look, used)


def _values(look: Look, recording: Recording) -> list[dict[str, Any]]:
    frames = look.frames(recording)
    return [frame.value for frame in frames if isinstance(frame, Message) and isinstance(frame.value, dict)]


def _used(values: Iterable[dict[str, Any]]) -> Iterable[str]:
    """Extensions that these messages are of."""
    for value in values:
        command = value.get("command")
        if command == "error":
            yield "x-error"
        if command == "metrics":
            yield "x-metrics"
        if command == "log" and "level" in value:
            yield "x-loglevel"
        if command == "emit" and "need_task_ids" in value:
            yield "x-need-task-ids"
        if command == "emit" and isinstance(value.get("anchors"), str):
            yield "x-anchor-string"


def _activates(look: Look) -> bool:
    """True for a spout that answers `activate`."""
    config = look.config("seed+x-activate")
    w = Writer(config)
    w.setup({"topology.name": "activate"})
    w.command("activate")
    w.wait()
    w.eof()
    recording = look.play(w.plan(), config)
    synced = any(value.get("command") == "sync" for value in _values(look, recording))
    return synced and recording.judgement.verdict == "pass"


def _claim(look: Look, used: set[str]) -> None:
    """Which extensions to claim."""
    claimed = set(look.config().extensions)
    missing = sorted(used - claimed - {"x-activate"})
    fits = "+".join(["seed", *sorted(claimed | used)])
    if missing:
        look.report.wrong(f"uses {', '.join(missing)}, which it does not claim", f'[impl] profile = "{fits}"')
    elif used - claimed:
        look.report.note("answers activate, which it does not claim", f'[impl] profile = "{fits}"')
    else:
        look.report.good(f'uses nothing that it does not claim: profile = "{look.impl.profile}"')


def _user_code(look: Look) -> bool:
    """Whether the user code around the library does what it is told, and notes down what it sees."""
    report = look.report

    def play(plan: Plan, config: Any) -> tuple[Any, Any]:
        if any(isinstance(step, Wait) and step.ms > discovery.WAIT_MS // 2 for step in plan.steps):
            raise TooLong  # nothing is judged here: how a bolt goes on while it waits does not matter
        return look.asked(plan, config)

    learnt = discovery.discover(play, lambda found: look.config("", found, scripted=None))
    if not learnt.get("scripted"):
        how = "does not do what it is told, or notes nothing down in WIREPROOF_OBSERVATIONS"
        remedy = "the steps of docs/testees.md in user code, or [storm] scripted = false"
        if look.impl.facts.get("scripted"):
            report.wrong(f"user code {how}, and the manifest says scripted = true", remedy)
        else:
            report.note(f"user code {how}: only what any {look.impl.role} must do is judged", remedy)
        return False
    config = look.config("", learnt, scripted=None)
    recording = look.play(_steps(config), config)
    said = _values(look, recording)
    commands = [value.get("command") for value in said]
    notes = [each.value for each in recording.events if isinstance(each, Fact) and each.name == "observed"]
    calls = {note.get("call") for note in notes if isinstance(note, dict)}
    wrong = [f"'{name}'" for name in _wanted(config) if name not in commands]
    lacking = {"initialize", "process" if config.child == "bolt" else "next"} - calls
    if any(value.get("tuple") == ["late"] for value in said):
        wrong.append("'raise' (drop the rest of the steps)")
    if wrong:
        report.wrong(f"user code does not carry out the step {', '.join(wrong)}", "it as docs/testees.md says, Storm")
    if lacking:
        report.wrong(f"user code does not note down: {', '.join(sorted(lacking))}", "each call before its first step")
    if not wrong and not lacking:
        report.good("user code does what it is told, and notes down what it sees")
    return True


def _wanted(config: Config) -> tuple[str, ...]:
    return ("emit", "log", "ack", "fail") if config.child == "bolt" else ("emit", "log", "sync")


def _steps(config: Config) -> Plan:
    w = Writer(config)
    raises: list[Mapping[str, Any]] = [{"op": "raise"}, {"op": "emit", "tuple": ["late"]}]
    if config.child == "bolt":
        w.setup({"topology.name": "check"})
        w.script([*SCRIPT, {"op": "ack"}])
        w.lists()
        w.script([{"op": "fail"}])
        w.script(raises)
    else:
        emit = {**SCRIPT[0], "id": "m1"}
        w.setup({"topology.name": "check", "wireproof.script": [[emit, *SCRIPT[1:]], raises]})
        w.command("next")
        w.lists()
        w.command("next")
    w.lists()
    w.wait()
    w.eof()
    return w.plan()


# --- hosts ------------------------------------------------------------------------------------------------------------


def _host(look: Look) -> None:
    testee = contract.lines(look)
    config = look.config()
    child = reference_command("impls.references.storm", config.child, "--profile", look.impl.profile)
    steps = [*SCRIPT[:2], *([{"op": "ack"}] if config.child == "bolt" else [])]
    conf: dict[str, Any] = {"topology.name": "check", "wireproof.script": [[{**steps[0], "id": "m1"}, *steps[1:]]]}
    conf |= {"topology.subprocess.timeout.secs": 30, "supervisor.worker.timeout.secs": 30}
    testee.must("start", "starting a correct child", child=child, env={}, conf=conf, context=context())
    testee.must("task_ids", "setting what emits get", ids=[3, 4])
    if config.child == "bolt":
        given = {"comp": "words", "stream": "default", "task": 1, "tuple": ["wireproof", steps]}
        testee.must("tuple", "handing a tuple to a correct child", id="-77", **given)
        _events(testee, "emit", "log", "ack")
    else:
        testee.must("next", "asking a correct child for more")
        emitted = _events(testee, "emit", "log")
        if emitted is not None:
            testee.must("ack", "telling a correct child of an ack", id=emitted.get("id"))
    for event in testee.dialogue.events:
        if event.get("event") in ("failed", "error", "exited"):
            look.report.wrong(f"a correct child is told of as {event['event']}: {str(event)[:120]}", "see its log")
    contract.ends(testee)


def _events(testee: Testee, *names: str) -> dict[str, Any] | None:
    """The events of a correct child, which have to come; the emit among them."""
    found = {name: testee.dialogue.event(name, contract.ANSWER_S * testee.look.patience / 2) for name in names}
    lacking = [name for name, event in found.items() if event is None]
    for name in lacking:
        testee.look.report.wrong(
            f"no event {name!r} came for what a correct child did", f'{{"event": "{name}", …}} as docs/testees.md says'
        )
    if not lacking:
        testee.look.report.good(f"tells what the child does: {', '.join(names)}")
    emitted = found.get("emit")
    if emitted is not None and emitted.get("tuple") != SCRIPT[0]["tuple"]:
        testee.look.report.wrong(f"tells an emit of {emitted.get('tuple')!r}", '"tuple" = the values of the emit')
    return emitted
