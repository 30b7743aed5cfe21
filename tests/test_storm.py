"""Storm's frames, tables, references and properties: the list of docs/add-a-protocol.md."""

import sys
from collections import Counter
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.driver.ndjson import Commands
from impls.driver.pipes import PipeTransport, Pool, environment
from impls.references.storm import child, freedoms, host, hosts
from impls.references.storm.host_memory import Hosts
from impls.references.storm.memory import Children
from impls.references.storm.reference import ALL
from specs.codec import Decoder
from specs.events import Fact, Said
from specs.model import judge
from specs.plan import Ref, Say
from specs.protocol import find
from specs.storm.bundle import context, from_json, resolve, to_json
from specs.storm.frames import Grammar, Message, Style, Text, encode
from specs.storm.states import valid_profile
from specs.storm.values import is_heartbeat, same
from strategies.storm import discover, host_writer
from strategies.storm.texts import VALUES
from tests.drawing import drawn
from tests.properties import properties

STORM = find("storm")
ROOT = Path(__file__).resolve().parent.parent
EXTENDED = "+".join(["seed", *sorted(ALL)])
ROLES = {"bolt": child.Bolt, "spout": child.Spout, "bolt-host": hosts.BoltHost, "spout-host": hosts.SpoutHost}
ASKED_FOR = {"STORM-HB-07", "STORM-HS-12"}
SEEN_RARELY = {"STORM-HB-09", "STORM-INV-CHILD-13", "STORM-SPOUT-19"}
"""Covered by so few draws that a short test need not meet them; their mutants' witnesses do."""


def read(data, size=None):
    decoder = Decoder(Grammar())
    pieces = [data] if size is None else [data[n : n + size] for n in range(0, len(data), size)]
    return [item for piece in pieces for item in decoder.feed(piece)]


@pytest.mark.parametrize(
    "style", [None, Style(3), Style(2, "all", 2), Style(0, "slash", 1, b"\r\n"), Style(0, "ascii")]
)
@pytest.mark.parametrize("size", [None, 1, 7])
def test_values_survive_in_every_style_and_in_any_pieces(style, size):
    frames = [Message({"command": "emit", "tuple": [value]}) for value in VALUES] + [Message([]), Message([1, 2])]
    got = read(b"".join(encode(frame, style) for frame in frames), size)
    assert all(same(sent.value, found.value) for sent, found in zip(frames, got, strict=True))


@pytest.mark.parametrize(
    ("data", "why"),
    [(b"", "empty"), (b"\n \t", "empty"), (b"\xff", "not-utf-8"), (b"{", "no-json"), (b"NaN", "no-json"),
     (b"{}\n{}", "several"), (b"1 2", "several"), (b'{"a":1,"a":2}', "twice"), (b"{}\nend ", "several")],
)  # fmt: skip
def test_what_is_no_message_is_told_apart(data, why):
    assert read(data + b"\nend\n") == [Text(data, why)]


def test_end_is_a_line_of_its_own():
    assert read(b'"end"\n end\nend \nEND\n') == []
    assert read(b'["end"]\nend\n') == [Message(["end"])]


def test_values_are_compared_as_json_has_them():
    assert same(1, 1.0)
    assert same([{"a": None}], [{"a": None}])
    assert not same(1, True)
    assert not same("1", 1)
    assert not same(None, False)
    assert not same([], {})
    assert is_heartbeat({"stream": "__heartbeat", "task": -1})
    assert not is_heartbeat({"stream": "__heartbeat", "task": 4})


def test_frames_survive_json():
    frame = Message({"tuple": [Ref("ids", 3), {"a": [Ref("tuple", 1)]}]}, Ref("command", "next"))
    for value in (frame, Text(b"\xff", "not-utf-8"), Style(1, "all", 2, b"\r\n"), {"of": [frame]}):
        assert from_json(to_json(value)) == value


def test_refs_are_filled_in_or_the_frame_is_not_said():
    memory = STORM.memory(STORM.configure("bolt", "seed", {}, {}), "fresh")
    assert resolve(Message({"pidDir": Ref("folder", "")}), memory) is None
    assert resolve(Message(Ref("ids", 0)), memory) is None
    assert resolve(Message({"name": Ref("name", 1)}), memory) == Message({"name": "fresh1"})


def test_profiles():
    assert valid_profile("seed")
    assert valid_profile("seed+x-error+x-activate")
    assert not valid_profile("x-error")
    assert not valid_profile("seed+x-nothing")
    assert not valid_profile("seed+x-error+x-error")


def test_our_own_setup_is_right():
    told = {"conf": {"a": 1}, "context": context()}
    started, setup = Fact(0, "bolt", "start", told), Said(0, "bolt-host", Message({**told, "pidDir": "/p"}))
    config = STORM.configure("bolt-host", "seed", {}, {})
    assert judge(STORM.model, config, [started, setup], "bolt-host").verdict == "pass"


def test_ids_of_ops_and_of_events():
    commands = Commands()
    assert b'"id": "77"' in commands.request("tuple", id="77")
    heard = list(commands.feed(b'{"event":"ack","id":"5"}\n{"id":"77","ok":null}\n'))
    assert heard[0].kind == "ack"
    assert heard[0].value == {"id": "5"}
    assert heard[1].value == {"op": "tuple", "ok": None}


def transport_of(role, extensions, number):
    if role in ("bolt", "spout"):
        switches = freedoms.drawn(number) if number else None
        return MemoryTransport(lambda: Children(ROLES[role], extensions, switches))
    switches = replace(host.drawn(number), lax=False) if number else None
    return MemoryTransport(lambda: Hosts(ROLES[role], extensions, switches))


def counts(prop, each):
    return 3 if "big" in prop.name else 6 * each if "invalid_input" in prop.name else each


def played(role, profile, each):
    """The coverage of references with several switches; none of them is ever blamed."""
    extensions = frozenset(profile.split("+")[1:])
    covered = Counter()
    for number, (prop, _) in enumerate(properties("storm", role)):
        transport = transport_of(role, extensions, number)
        config = STORM.configure(role, profile, {"scripted": True}, {})
        learnt = discover(
            partial(asked, role, transport), lambda more: STORM.configure(role, profile, {"scripted": True}, more)
        )
        config = STORM.configure(role, profile, {"scripted": True}, learnt)
        setting = Setting(STORM, config, role, transport)
        for program in drawn(prop.programs, counts(prop, each), number):
            plan = prop.plan(program, config)
            judgement = drive(plan, setting, "t-").judgement
            assert not transport.crash
            assert judgement.verdict == "pass", judgement
            assert {fault.breach.requirement for fault in judgement.faults} <= ASKED_FOR, judgement
            covered.update(judgement.covered)
            covered.update(f.requirement for f in STORM.features if f.name in plan.features)
    return covered


@pytest.mark.parametrize("role", ["bolt-host", "spout-host"])
def test_a_host_that_passes_over_what_means_nothing_misses_recommendations_only(role):
    (prop,) = [prop for prop, _ in properties("storm", role) if "invalid_input" in prop.name]
    config = STORM.configure(role, "seed", {}, {})
    transport = MemoryTransport(lambda: Hosts(ROLES[role], frozenset(), host.HostSwitches(lax=True)))
    missed = set()
    for program in drawn(prop.programs, 150, 1):
        judgement = drive(prop.plan(program, config), Setting(STORM, config, role, transport), "t-").judgement
        assert judgement.verdict != "error", judgement
        for fault in judgement.faults:
            level = fault.breach.level or STORM.requirements[fault.breach.requirement].level
            assert level == "SHOULD", fault
            missed.add(fault.breach.requirement)
    assert len(missed) > 8


@pytest.mark.parametrize("role", ["bolt", "spout"])
@pytest.mark.parametrize("serial", [True, False])
def test_a_reference_ends_with_its_input_while_a_callback_waits_for_task_ids(role, serial):
    one = ROLES[role](switches=freedoms.Switches(drains=True, serial=serial, patient=not serial))
    steps = [{"op": "sleep", "ms": 50}, {"op": "emit", "tuple": [1]}, {"op": "emit", "tuple": [2]}]
    one.understood({"conf": {"wireproof.script": [steps]}, "pidDir": "/p", "context": context()})
    begun = {"id": "5", "comp": "words", "stream": "default", "task": 1, "tuple": ["wireproof", steps]}
    one.understood(begun if role == "bolt" else {"command": "next"})
    one.end()
    assert one.code is None, "what was read is worked on"
    one.advance(50)
    emits = [item.value for item in read(bytes(one.out)) if item.value.get("command") == "emit"]
    assert [emit["tuple"] for emit in emits] == [[1]]
    assert (one.code, one.wakes_in()) == (0, None)


LATE = "import time; time.sleep(0.3); import impls.references.storm.__main__ as m; m.main(['bolt'])"


@pytest.mark.parametrize(
    "prop", [prop for prop, _ in properties("storm", "bolt") if "pipelined" in prop.name], ids=lambda prop: prop.name
)
def test_a_bolt_is_never_hurried_before_its_process_id_has_come(prop):
    pool = Pool("late", [sys.executable, "-c", LATE], environment({"PYTHONPATH": str(ROOT)}, str), ROOT, depth=1)
    config = STORM.configure("bolt", "seed", {"scripted": True}, {})
    transport = PipeTransport(pool)
    try:
        for program in drawn(prop.programs, 2, 5):
            judgement = drive(
                prop.plan(program, config), Setting(STORM, config, "bolt", transport, 5000.0), "t-"
            ).judgement
            assert (judgement.verdict, judgement.faults) == ("pass", ()), judgement
    finally:
        transport.close()


def asked(role, transport, plan, config):
    recording = drive(plan, Setting(STORM, config, role, transport), "ask-")
    return tuple(recording.events), recording.judgement


@pytest.mark.parametrize("role", ROLES)
def test_references_are_never_blamed_and_cover_every_requirement(role):
    covered = played(role, "seed", 25) + played(role, EXTENDED, 25)
    binding = {r.id for p in ("seed", EXTENDED) for r in STORM.requirements.binding(role, p) if not r.untestable}
    assert binding - set(covered) <= SEEN_RARELY


class Forgets(hosts.BoltHost):
    """An ack has no effect."""

    def settle(self, command, name):
        pass


def test_a_tuple_has_as_many_values_as_its_stream_declares():
    prop = next(prop for prop, _ in properties("storm", "bolt") if "heartbeats" in prop.name)
    config = STORM.configure("bolt", "seed", {"scripted": True}, {})
    for program in drawn(prop.programs, 40, 5):
        said = [step.frame.value for step in prop.plan(program, config).steps if isinstance(step, Say)]
        fields = {}
        for message in said:
            if isinstance(message, dict) and "context" in message:
                fields = message["context"].get("source->stream->fields", {})
            elif isinstance(message, dict) and message.get("stream") in fields.get(message.get("comp"), {}):
                assert len(message["tuple"]) == len(fields[message["comp"]][message["stream"]]), message


def test_heartbeats_do_not_make_us_wait_for_an_effect_that_does_not_come():
    config = STORM.configure("bolt-host", "seed", {}, {})
    w = host_writer.Writer(config)
    w.begin()
    w.settle("ack", w.tuple(["x"]))
    w.close()
    transport = MemoryTransport(lambda: Hosts(Forgets, frozenset(), host.HostSwitches(beat_ms=300)))
    recording = drive(w.plan(), Setting(STORM, config, "bolt-host", transport, 1000.0), "f-")
    assert [blame.breach.requirement for blame in recording.judgement.faults] == ["STORM-BOLT-20"]
    assert recording.stamps[-1] < 2_500


def test_a_bolt_that_says_something_wrong_is_not_blamed_for_how_it_reads():
    """With one message at a time it has fewer tuples in its hands, so that such a fault may be gone."""
    (together,) = [feature for feature in STORM.features if feature.name == "together"]
    assert {name for name in STORM.requirements if name not in together.instead_of} <= {
        *(f"STORM-BOLT-{n:02}" for n in (6, 7, 8, 10, 11, 12, 13, 14, 27)), "STORM-HB-04", "STORM-HB-05",
    }  # fmt: skip
    assert "STORM-BOLT-08" not in together.instead_of
    assert {"STORM-BOLT-26", "STORM-HB-06", "STORM-SPOUT-03"} <= together.instead_of
