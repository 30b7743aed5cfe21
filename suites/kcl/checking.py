"""Whether a record processor, or the testee of a host of them, can be judged. See `suites.check`."""

from __future__ import annotations

import json
from typing import Any

from impls.driver.dialogue import Broken
from impls.driver.drive import Recording
from specs.events import Fact
from specs.kcl.frames import Message
from specs.kcl.states import WIRES, Config
from specs.plan import Plan
from strategies.kcl import discovery
from strategies.kcl.writer import Writer
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look, reference_command

DISTINCT = ("kcl1-seed", "kcl1-seq", "kcl3")
"""Profiles of which each looks another way on the wire: kcl2 looks as kcl3 does."""
FINALS = {"shutdown": {"reason": "ZOMBIE"}, "leaseLost": {}, "shardEnded": {}, "shutdownRequested": {}}


def check(look: Look) -> None:
    """Tell what is to be told of it. Raises CannotCheck, and Broken."""
    if look.impl.role == "host":
        _host(look)
    else:
        look.open()
        _child(look)


def alike(one: str, other: str) -> bool:
    """True for profiles that look the same on the wire."""
    return WIRES[one] == WIRES[other]


def _claim(look: Look, spoken: list[str]) -> None:
    """Which profile to claim, of those in which all went well."""
    profile = look.impl.profile
    if any(alike(profile, each) for each in spoken):
        look.report.good(f'the profile is right: profile = "{profile}"')
    else:
        fits = spoken[-1]
        also = ' ("kcl2" looks the same)' if fits == "kcl3" else ""
        look.report.wrong(f"does not speak the profile {profile} that it claims", f'[impl] profile = "{fits}"{also}')


# --- children ---------------------------------------------------------------------------------------------------------


def _child(look: Look) -> None:
    spoken: list[str] = []
    first: Recording | None = None
    for profile in sorted(DISTINCT, key=lambda each: not alike(each, look.impl.profile)):
        recording = look.play(_life(look.config(profile)), look.config(profile))
        first = first or recording
        if recording.refused:
            raise CannotCheck(recording.refused, "start.command = a command that can be run")
        if recording.judgement.verdict == "pass" and not recording.judgement.faults:
            spoken.append(profile)
        elif recording is first and not any(isinstance(frame, Message) for frame in look.frames(recording)):
            raise look.mute(
                recording,
                "said nothing that can be read to initialize",
                'one line on stdout, flushed: {"action": "status", "responseFor": "initialize"}',
            )
    spoken.sort(key=DISTINCT.index)
    if not spoken:
        assert first is not None
        blame = next((blame.breach.why for blame in first.judgement.faults), "it was not judged")
        look.report.note(f"answers, and its first session is not right in any profile ({blame}): that will be judged")
        return
    look.report.good("answers initialize, processRecords and its end")
    _claim(look, spoken)
    profile = next((each for each in spoken if alike(each, look.impl.profile)), spoken[-1])
    _user_code(look, profile)


def _life(config: Config) -> Plan:
    """A life with records, in which user code checkpoints at the end: the request shows what the number is called."""
    w = Writer(config)
    w.initialize("check")
    w.batch([w.record(b"first"), w.record(b"second")])
    w.answers()
    w.final("TERMINATE")
    w.eof()
    return w.plan()


def _user_code(look: Look, profile: str) -> None:
    """Whether the user code around the library does what records tell it, and notes down what it sees."""
    report = look.report
    learnt = discovery.discover(look.asked, lambda found: look.config(profile, found, scripted=None))
    declared = look.impl.facts.get("scripted")
    if not learnt.get("scripted"):
        how = "does not do what records tell it, or notes nothing down in WIREPROOF_OBSERVATIONS"
        remedy = "the steps of docs/testees.md in processRecords, or [kcl] scripted = false"
        if declared:
            report.wrong(f"user code {how}, and the manifest says scripted = true", remedy)
        else:
            report.note(f"user code {how}: only what any processor must do is judged", remedy)
        return
    config = look.config(profile, learnt, scripted=None)
    plan, behind = _steps(config)
    recording = look.play(plan, config)
    facts = [event for event in recording.events if isinstance(event, Fact)]
    notes = [each.value for each in facts if each.name == "observed" and isinstance(each.value, dict)]
    asked = [frame for frame in look.frames(recording) if isinstance(frame, Message) and frame.action == "checkpoint"]
    numbers = [frame.members.get(config.wire.number) for frame in asked]
    words = "".join(str(each.value) for each in facts if each.name == "stderr")
    wrong = []
    if behind in numbers:
        wrong.append("'raise' (drop the batch's later steps)")
    if "wireproof-stderr" not in words:
        wrong.append("'stderr'")
    lacking = {"initialize", "processRecords", "checkpoint"} - {note.get("call") for note in notes}
    if not any(str(note.get("records", [{}])[0:1]).find("data_hex") >= 0 for note in notes if note.get("records")):
        lacking.add("records with data_hex")
    for what in wrong:
        report.wrong(f"user code does not carry out the step {what}", "it as docs/testees.md says, KCL children")
    if lacking:
        report.wrong(f"user code does not note down: {', '.join(sorted(lacking))}", "each call before its first step")
    if not wrong and not lacking:
        report.good("user code does what records tell it, and notes down what it sees")


def _steps(config: Config) -> tuple[Plan, str]:
    """A batch in which user code raises, and the number of a checkpoint that it would ask for behind that."""
    w = Writer(config)
    w.initialize("steps")
    number, behind = (str(w.record(data)["sequenceNumber"]) for data in (b"plain", b"other"))
    told: list[dict[str, Any]] = [{"op": "stderr", "text": "wireproof-stderr\n"}, {"op": "sleep", "ms": 1}]
    w.batch(
        [w.script([*told, {"op": "checkpoint", "at": number}, {"op": "raise"}, {"op": "checkpoint", "at": behind}])]
    )
    w.answers()
    w.final("ZOMBIE")
    w.eof()
    return w.plan(), behind


# --- hosts ------------------------------------------------------------------------------------------------------------


def _host(look: Look) -> None:
    first = contract.lines(look)
    order = sorted(DISTINCT, key=lambda each: not alike(each, look.impl.profile))
    why = ""
    for profile in order:
        testee = first if profile == order[0] else Testee(look, look.dialogue(), [])
        try:
            failed = _session(testee, profile)
        except Broken as error:
            failed = f"it {error.why}"
        if not failed:
            look.report.good("runs a correct child, and answers each call when its callback is over")
            _claim(look, [profile])
            contract.ends(testee)
            return
        why = why or failed
        if look.deadline.left() < contract.ANSWER_S * look.patience:
            break
    raise CannotCheck(f"a session with a correct child fails: {why}", "what carries out these ops, or another profile")


def _session(testee: Testee, profile: str) -> str:
    """A whole session with a child of that profile: what went wrong, or "". Raises Broken."""
    wire, look = WIRES[profile], testee.look
    child = reference_command("impls.references.kcl", "child", "--profile", profile)
    final = wire.finals[0]
    told: list[tuple[str, dict[str, Any]]] = [
        ("start", {"child": child, "env": {}, "shardId": "shardId-check"}),
        ("initialize", {"shardId": "shardId-check"}),
        ("processRecords", {"records": [_record("11", {"op": "checkpoint", "at": "11"})]}),
        ("checkpointer", {"error": "ThrottlingException"}),
        ("processRecords", {"records": [_record("12", {"op": "checkpoint", "at": "12"})]}),
        ("checkpointer", {"error": None}),
        (final, FINALS[final]),
    ]
    attempts: list[Any] = []
    for op, given in told:
        reply = testee.ask(op, **given)
        if reply.error is not None:
            return f"{op} is answered by the error {reply.error!r}"
        if op == "processRecords":
            event = testee.dialogue.event("checkpoint", contract.ANSWER_S * look.patience / 3)
            if event is None:
                return 'no {"event": "checkpoint", "at": …} came for the checkpoint of a child'
            attempts.append(event.get("at"))
    if [str(each) for each in attempts] != ["11", "12"]:
        look.report.wrong(f"tells checkpoints at {attempts}, and they were at 11 and 12", '"at" = the sequence number')
    return ""


def _record(number: str, step: dict[str, Any]) -> dict[str, Any]:
    data = json.dumps({"wireproof": [step]}).encode()
    return {"data_hex": data.hex(), "partitionKey": "key", "sequenceNumber": number}
