"""What Storm's model makes of single conversations of a child: freedoms that were once blamed, and other faults."""

import pytest

from specs.events import Closed, Fact, Quiet
from specs.model import judge
from specs.storm.bundle import context
from specs.storm.frames import Text
from tests.storm_talk import (
    EMITS,
    NEXT,
    SETUP,
    SILENCE,
    STORM,
    SYNC,
    blamed,
    child,
    given,
    judged,
    says,
    scripted,
    settles,
)

NOWHERE = {**SETUP, "pidDir": "/p/nowhere"}
NO_FOLDER = {**SETUP, "pidDir": None}
ODD_TUPLE = Text(b'{"id":"5","comp":"words","stream":"n1","task":1,"tuple":["\xff"]}', "not-utf-8")
ODD_NEXT = Text(b'{"command":"next","x":"\xff"}', "not-utf-8")


@pytest.mark.parametrize(
    ("lacking", "ack", "blames"),
    [
        ("comp", settles("5"), {}),
        ("tuple", settles("5", "fail"), {}),
        ("id", settles(None), {}),
        ("id", settles(""), {}),
        ("id", {"command": "ack"}, {}),
        ("id", settles("None"), {"INV-CHILD-03": "MUST"}),
        ("task", settles("6"), {"INV-CHILD-03": "MUST"}),
    ],
)
def test_a_tuple_that_lacks_a_member_may_be_settled_by_the_id_that_it_has(lacking, ack, blames):
    talk = child("bolt", ("host", given(**{lacking: "left out"})), ("child", ack))
    assert blamed(judged("bolt", *talk)) == blames


def test_who_replaces_octets_has_a_tuple_or_a_command():
    assert blamed(judged("bolt", *child("bolt", ("host", ODD_TUPLE), ("child", settles("5"))))) == {}
    wrong = judged("bolt", *child("bolt", ("host", ODD_TUPLE), ("child", settles("6"))))
    assert blamed(wrong) == {"INV-CHILD-14": "MUST"}
    talk = child("spout", ("host", ODD_NEXT), ("child", EMITS), ("child", {"command": "sync"}))
    assert blamed(judged("spout", *talk, scripted=False)) == {}


def test_a_process_id_without_a_directory():
    pid = ("child", {"pid": 42})
    assert blamed(judged("bolt", *child("bolt", pid, ("exit", 1), setup=NOWHERE))) == {"INV-CHILD-01": "SHOULD"}
    goes_on = judged("bolt", *child("bolt", pid, setup=NOWHERE), SILENCE)
    assert blamed(goes_on)["INV-CHILD-01"] == "MUST"
    assert blamed(judged("bolt", *child("bolt", pid, setup=NO_FOLDER), SILENCE)) == {}
    report = ("child", {"command": "log", "msg": "no such directory"})
    assert blamed(judged("spout", *child("spout", report, ("exit", 1), setup=NOWHERE))) == {}
    assert blamed(judged("spout", *child("spout", setup=NOWHERE), SILENCE)) == {"INV-CHILD-01": "SHOULD"}


@pytest.mark.parametrize("command", [{"command": "nonsense"}, {"id": "1"}])
def test_silence_after_what_is_no_command_is_a_recommendation_missed(command):
    (level,) = blamed(judged("spout", *child("spout", ("host", command)), SILENCE)).values()
    assert level == "SHOULD"


@pytest.mark.parametrize(
    ("files", "blames"),
    [((), {"HS-08": "MUST"}), (("41",), {"HS-08": "MUST"}), (("42",), {}), (("41", "42"), {})],
)
def test_the_file_of_the_process_id_is_there_when_a_child_has_ended(files, blames):
    talk = [*child("bolt", setup=NOWHERE)[:1], says("host", SETUP), says("bolt", {"pid": 42})]
    talk += [Closed(0, "host")]
    talk += [Fact(0, "bolt", "file", {"name": name, "size": 0, "ours": None}) for name in files]
    found = blamed(judged("bolt", *talk, Fact(0, "bolt", "exit", 0)))
    assert {name: level for name, level in found.items() if name != "HS-12"} == blames


WANTS = {"command": "emit", "tuple": ["a"]}
TOLD = given(tuple=["wireproof", [{"op": "emit", "tuple": ["a"]}]])
FREEDOMS = {
    "S-8": ("bolt", ("host", given()), ("child", settles("5")), ("child", SYNC)),
    "S-10": ("spout", ("child", {"command": "log", "msg": "ready"}), ("host", {"command": "next"}), ("child", SYNC)),
    "S-23": ("spout", ("host", Text(b"{", "no-json")), ("child", {"command": "log", "msg": "what?"})),
    "S-28": ("bolt", ("host", TOLD), ("observed", {**TOLD, "call": "process"}), ("child", WANTS), ("host", [4, 5]),
             ("observed", {"call": "task_ids", "ids": [5, 4]})),
}  # fmt: skip


@pytest.mark.parametrize("name", FREEDOMS)
def test_what_is_forgiven_is_counted_under_the_name_of_its_reading(name):
    role, *talk = FREEDOMS[name]
    config = STORM.configure(role, "seed", {"scripted": name == "S-28"}, {"serial": True, "noted": True})
    found = judge(STORM.model, config, child(role, *talk), role)
    assert (found.verdict, found.leaned) == ("pass", {name: 1}), found


def test_what_a_reading_does_not_forgive_is_blamed():
    again = child("bolt", ("host", given()), ("child", settles("5")), *[("child", SYNC)] * 3)
    assert blamed(judged("bolt", *again, scripted=False)) == {"BOLT-22": "MUST"}
    late = child("spout", ("host", {"command": "next"}), ("child", SYNC), ("child", {"command": "log", "msg": "late"}))
    assert blamed(judged("spout", *late, scripted=False)) == {"SPOUT-04": "MUST"}


@pytest.mark.parametrize(("told", "said", "wrong"), [(None, "", False), (None, "x", True), ("second", "", True)])
def test_a_stream_that_is_left_empty_is_the_default_one(told, said, wrong):
    """S-5: "leave this empty to emit to the default stream"."""
    step = {"op": "emit", "tuple": ["a"], "task": 4, **({} if told is None else {"stream": told})}
    emit = {"command": "emit", "tuple": ["a"], "task": 4, "stream": said}
    bolt = [("host", given(tuple=["wireproof", [step, {"op": "ack"}]])), ("child", emit), ("child", settles("5"))]
    assert blamed(judged("bolt", *child("bolt", *bolt))) == ({"BOLT-13": "MUST"} if wrong else {})
    told_spout = {**SETUP, "conf": {"wireproof.script": [[step]]}}
    spout = [Fact(0, "spout", "folder", "/p"), says("host", told_spout)]
    spout += [Fact(0, "spout", "file", {"name": "42", "size": 0, "ours": True}), says("spout", {"pid": 42})]
    spout += [says("host", NEXT), says("spout", emit)]
    assert blamed(judged("spout", *spout)) == ({"SPOUT-13": "MUST"} if wrong else {})


@pytest.mark.parametrize("junk", [[], [7], Text(b"{", "no-json")])
def test_a_spout_may_answer_what_is_no_command_when_the_next_one_has_come(junk):
    """Both are on their way at the same time, so nobody can tell which of the two the first sync is for."""
    crossed = [("host", junk), ("host", NEXT), ("child", SYNC)]
    for rest in ([], [("child", EMITS), ("host", [4]), ("child", SYNC)], [("child", SYNC)]):
        assert not blamed(judged("spout", *child("spout", *crossed, *rest), SILENCE)), rest
    late = judged("spout", *child("spout", *crossed, ("child", SYNC), ("child", EMITS)), SILENCE)
    assert "MUST" in blamed(late).values(), "each of the two has had its sync"


def test_without_such_a_thing_a_sync_ends_the_command():
    late = [("host", NEXT), ("child", SYNC), ("child", EMITS)]
    assert blamed(judged("spout", *child("spout", *late), scripted=False)) == {"SPOUT-04": "MUST"}
    answered = [("host", []), ("child", SYNC), *late]
    found = blamed(judged("spout", *child("spout", *answered), scripted=False))
    assert {name for name, level in found.items() if level == "MUST"}, found


def test_acks_may_be_late_but_never_early():
    second = scripted({"op": "ack", "id": "1"}, {"op": "emit", "tuple": [1]}, {"op": "fail"})
    opened = ("host", {**scripted(), "id": "1"})
    late = [("child", EMITS), ("host", [4]), ("child", settles("5", "fail")), ("child", settles("1"))]
    assert blamed(judged("bolt", *child("bolt", opened, ("host", second), *late), SILENCE)) == {}
    early = [("child", settles("5", "fail"))]
    assert blamed(judged("bolt", *child("bolt", opened, ("host", second), *early))) == {"BOLT-26": "MUST"}


def test_an_anchor_that_stands_twice_is_the_same():
    told = scripted({"op": "emit", "tuple": [1], "anchor": True}, {"op": "ack"})
    emit = {**EMITS, "anchors": ["5", "5"]}
    talk = child("bolt", ("host", told), ("child", emit), ("host", [4]), ("child", settles("5")))
    assert blamed(judged("bolt", *talk, SILENCE)) == {}


@pytest.mark.parametrize(("anchor", "blames"), [(7, {}), ("7", {}), (8, {"BOLT-10": "MUST"})])
def test_a_tuple_whose_id_is_a_number_may_be_an_anchor(anchor, blames):
    talk = child(
        "bolt", ("host", given(id=7)), ("child", {**EMITS, "anchors": [anchor]}), ("host", [4]), ("child", settles(7))
    )
    assert blamed(judged("bolt", *talk, SILENCE, scripted=False)) == blames


@pytest.mark.parametrize(("printed", "requirement"), [('{"command":"sync"}\nend\n', "FRAME-08"), ("hello", "SPOUT-04")])
def test_a_sync_that_user_code_printed_is_no_fault_of_what_comes_after_it(printed, requirement):
    """The command ends too early because the print went to the pipe."""
    script = [{"op": "print", "text": printed}, {"op": "emit", "tuple": ["a"]}, {"op": "raise"}]
    setup = {**SETUP, "conf": {"wireproof.script": [script]}}
    talk = [
        Fact(0, "spout", "folder", "/p"), says("host", setup),
        Fact(0, "spout", "file", {"name": "42", "size": 0, "ours": True}), says("spout", {"pid": 42}),
        says("host", {"command": "next"}), Fact(0, "spout", "observed", {"call": "next"}),
        says("spout", {"command": "sync"}), says("spout", {"command": "emit", "tuple": ["a"]}),
    ]  # fmt: skip
    assert list(blamed(judged("spout", *talk))) == [requirement]


@pytest.mark.parametrize(("emits", "last", "rule"), [(1, [], "SPOUT-09"), (2, [], "INV-CHILD-15"), (2, [SYNC], None)])
def test_a_command_in_which_user_code_raises_behind_its_emits_is_answered(emits, last, rule):
    """Once all emits have come it is the error, and no list of task ids, behind which the sync is missing."""
    script = [{"op": "emit", "tuple": ["a"]}, {"op": "emit", "tuple": ["b"]}, {"op": "raise"}]
    setup = {**SETUP, "conf": {"wireproof.script": [script]}}
    talk = [
        Fact(0, "spout", "folder", "/p"), says("host", setup),
        Fact(0, "spout", "file", {"name": "42", "size": 0, "ours": True}), says("spout", {"pid": 42}),
        says("host", NEXT), Fact(0, "spout", "observed", {"call": "next"}),
    ]  # fmt: skip
    for value in ("a", "b")[:emits]:
        talk += [says("spout", {"command": "emit", "tuple": [value]}), says("host", [4])]
        talk += [Fact(0, "spout", "observed", {"call": "task_ids", "ids": [4]})]
    assert list(blamed(judged("spout", *talk, *(says("spout", said) for said in last), SILENCE))) == (
        [] if rule is None else [rule]
    )


def test_a_spout_may_read_a_list_of_task_ids_with_its_next_command():
    """It need not before that (S-42), and must have when that command is answered."""
    setup = {**SETUP, "conf": {"wireproof.script": [[{"op": "emit", "tuple": ["a"]}], []]}}
    talk = [
        Fact(0, "spout", "folder", "/p"), says("host", setup),
        Fact(0, "spout", "file", {"name": "42", "size": 0, "ours": True}), says("spout", {"pid": 42}),
        says("host", NEXT), Fact(0, "spout", "observed", {"call": "next"}),
        says("spout", {"command": "emit", "tuple": ["a"]}), says("host", [4]), says("spout", SYNC),
    ]  # fmt: skip
    notes = {"noted": True}
    assert blamed(judged("spout", *talk, SILENCE, **notes)) == {}
    called, listed = (Fact(0, "spout", "observed", {"call": call, **more})
                      for call, more in (("next", {}), ("task_ids", {"ids": [4]})))  # fmt: skip
    assert (
        blamed(judged("spout", *talk, says("host", NEXT), listed, called, says("spout", SYNC), SILENCE, **notes)) == {}
    )
    missing = judged("spout", *talk, says("host", NEXT), called, says("spout", SYNC), SILENCE, **notes)
    assert list(blamed(missing)) == ["SPOUT-09"]


@pytest.mark.parametrize(("half", "rule"), [(b"", "END-02"), (b'{"command":"ne', "END-03")])
@pytest.mark.parametrize("printed", [True, False])
def test_what_follows_a_sync_that_user_code_printed_may_come_behind_the_end_of_stdin(half, rule, printed):
    script = [{"op": "print", "text": '{"command":"sync"}\nend\n'}] if printed else []
    setup = {**SETUP, "conf": {"wireproof.script": [script]}}
    talk = [
        Fact(0, "spout", "folder", "/p"), says("host", setup),
        Fact(0, "spout", "file", {"name": "42", "size": 0, "ours": True}), says("spout", {"pid": 42}),
        says("host", {"command": "next"}), Fact(0, "spout", "observed", {"call": "next"}),
        says("spout", {"command": "sync"}),
    ]  # fmt: skip
    talk += [Fact(0, "host", "octets", len(half))] if half else []
    talk += [Closed(0, "host", "eof"), says("spout", {"command": "sync"})]
    found = blamed(judged("spout", *talk))
    assert (rule in found) is (not printed), found


HOUR = Quiet(3_600_000, 3_600_000)


@pytest.mark.parametrize(("command", "rule"), [("next", "HB-09"), ("ack", "SPOUT-19")])
def test_a_spout_that_is_silent_for_an_hour_inside_a_command_fails(command, rule):
    emitted = [
        ("host", {"command": "next"}),
        ("child", {**EMITS, "id": "a"}),
        ("host", [4]),
        ("child", {"command": "sync"}),
    ]
    talk = child("spout", *emitted, ("host", {"command": command, **({"id": "a"} if command == "ack" else {})}))
    assert blamed(judged("spout", *talk, HOUR, says("spout", {"command": "sync"}), scripted=False)) == {rule: "MUST"}
    prompt = judged("spout", *talk, Quiet(3000, 3000), says("spout", {"command": "sync"}), scripted=False)
    assert blamed(prompt) == {}


def test_second_answers_to_heartbeats_do_not_hide_behind_tuples():
    beat = ("host", {"id": "9", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []})
    several = [(by, value) for n in "123456" for by, value in (("host", given(id=n)), ("child", settles(n)))]
    twice = child("bolt", *several, beat, ("child", {"command": "sync"}), ("child", {"command": "sync"}))
    end = [Closed(0, "host", "eof"), Fact(0, "bolt", "exit", 0)]
    assert blamed(judged("bolt", *twice, *end)) == {"HB-04": "MUST"}
    old = [pair for n in "123456" for pair in (*several[2 * int(n) - 2 : 2 * int(n)], ("child", {"command": "sync"}))]
    assert blamed(judged("bolt", *child("bolt", *old, beat, ("child", {"command": "sync"})), *end)) == {}


@pytest.mark.parametrize("step", [{"op": "raise"}, {"op": "print", "text": '{"command": "sync"}\nend\n'}])
@pytest.mark.parametrize(("answers", "rule"), [(1, {}), (2, {"HB-04": "MUST"})])
def test_what_user_code_raises_or_prints_may_be_one_sync(step, answers, rule):
    """A library may say it beside its error; a second answer to a heartbeat does not hide behind it."""
    several = [(by, value) for n in "123456" for by, value in (("host", given(id=n)), ("child", settles(n)))]
    beat = ("host", {"id": "9", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []})
    sync = ("child", {"command": "sync"})
    scripted = ("host", given(id="8", tuple=["wireproof", [step, {"op": "ack"}]]))
    settled = ("child", settles("8", "fail" if step["op"] == "raise" else "ack"))
    talk = child("bolt", *several, beat, *[sync] * answers, scripted, sync, settled)
    end = [Closed(0, "host", "eof"), Fact(0, "bolt", "exit", 1)]
    assert blamed(judged("bolt", *talk, *end)) == rule


@pytest.mark.parametrize(("answers", "found"), [(["ack"], {}), (["fail"], {}), (["ack", "fail"], {"BOLT-08": "MUST"})])
def test_a_tuple_that_user_code_acked_before_it_raised_is_settled_once(answers, found):
    """The error may turn the ack into a fail; it adds no fail to the ack."""
    raises = ("host", scripted({"op": "ack"}, {"op": "raise"}))
    talk = child("bolt", raises, *[("child", settles("5", command)) for command in answers])
    end = [Closed(0, "host", "eof"), Fact(0, "bolt", "exit", 1)]
    assert blamed(judged("bolt", *talk, *end)) == found


def test_a_spout_that_goes_on_after_its_last_sync_misses_a_recommendation():
    talk = child("spout", ("host", {"command": "next"}))
    sync = says("spout", {"command": "sync"})
    end = [Closed(0, "host", "eof"), sync]
    assert blamed(judged("spout", *talk, *end, Fact(0, "spout", "exit", 0), scripted=False)) == {}
    assert blamed(judged("spout", *talk, *end, sync, scripted=False)) == {"END-02": "SHOULD"}


def test_conf_and_context_are_credited_only_where_user_code_was_seen():
    unseen = judged("bolt", *child("bolt", ("host", given())))
    assert not {"STORM-HS-15", "STORM-HS-16"} & unseen.covered.keys()
    sees = Fact(0, "bolt", "observed", {"call": "initialize", "conf": {}, "context": context()})
    seen = judged("bolt", Fact(0, "bolt", "folder", "/p"), says("host", SETUP), sees)
    assert {"STORM-HS-15", "STORM-HS-16"} <= seen.covered.keys()


def test_what_a_spout_does_not_know_is_told_apart_in_what_is_blamed():
    sorts = set()
    for command in ({"command": "nonsense"}, {"id": "1"}):
        (fault,) = judged("spout", *child("spout", ("host", command)), SILENCE).faults
        sorts.add(fault.breach.fingerprint)
    assert len(sorts) == 2


BOLT_SAYS = {
    "pid": {"pid": 42}, "emit": EMITS, "settle": settles("5"), "log": {"command": "log", "msg": "x"},
    "sync": {"command": "sync"}, "report": {"command": "metrics"}, "other": {"command": "x"},
}  # fmt: skip


HOST_SAYS = {
    "tuple": given(), "heartbeat": {"id": "9", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []},
    "list": [4], "nonsense": 7, "command": {"command": "next"},
}  # fmt: skip


@pytest.mark.parametrize("kind", ["bolt", "spout"])
def test_every_cell_of_a_machine_can_be_asked_for(kind):
    """Whatever is said in whichever phase, the table has an answer, or nothing is judged."""
    (machine,) = [machine for title, machine in STORM.machines.items() if title.startswith(kind)]
    seen = machine.watch()
    begin = child(kind)
    asked = [*begin, says("host", HOST_SAYS["command"])] if kind == "spout" else begin
    starts = {"NEW": begin[:1], "SETUP": begin[:2], "RUN": begin, "IDLE": begin, "BUSY": asked}
    starts["DEAF"] = [*begin, Closed(0, "host", "eof")]
    for events in starts.values():
        ways = [says(kind, value) for value in BOLT_SAYS.values()] + [
            says("host", value) for value in (*HOST_SAYS.values(), Text(b"x", "no-json"))
        ]
        for event in (*ways, Closed(0, "host", "eof"), Fact(0, kind, "exit", 0), says("host", SETUP)):
            assert judged(kind, *events, event).verdict != "error"
    machine.asked = None
    closed = {(phase, action) for phase, action, _ in machine.unreachable_cells()}
    every = {(phase, action) for phase, action, _ in machine.cells()} - closed
    assert {(phase.name, action) for phase, action in every - seen} <= {("DEAF", "pid"), ("DEAF", "closes")}


def test_a_sync_that_was_printed_and_redirected_does_not_make_the_others_too_few():
    """Found by soaking: one sync for each tuple, and the one that user code prints goes to the log (S-8, S-25)."""
    sync = ("child", {"command": "sync"})
    several = [pair for n in "1234" for pair in (("host", given(id=n)), ("child", settles(n)), sync)]
    beat = ("host", {"id": "9", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []})
    printed = '{"command": "sync"}\nend\n'
    steps = [{"op": "print", "text": printed}, {"op": "print", "text": printed}, {"op": "ack"}]
    scripted = ("host", given(id="8", tuple=["wireproof", steps]))
    logs = ("child", {"command": "log", "msg": printed})
    talk = child("bolt", *several, beat, sync, scripted, logs, logs, ("child", settles("8")))
    end = [Closed(0, "host", "eof"), Fact(0, "bolt", "exit", 0)]
    assert blamed(judged("bolt", *talk, *end)) == {}


@pytest.mark.parametrize(("acked", "rule"), [("12", {}), ("21", {}), ("2", {}), ("22", {"BOLT-08": "MUST"})])
def test_an_emit_may_be_that_of_any_callback_that_was_told_it_in_the_same_words(acked, rule):
    """Found by soaking: two callbacks emit an empty tuple, and the second one is the first to come so far."""
    told = ["wireproof", [{"op": "emit", "tuple": []}, {"op": "ack"}]]
    emit = ("child", {"command": "emit", "tuple": []})
    talk = [("host", given(id=n, tuple=told)) for n in "12"]
    for n in acked:
        talk += [emit, ("host", [7]), ("child", settles(n))]
    assert blamed(judged("bolt", *child("bolt", *talk), Closed(0, "host", "eof"), Fact(0, "bolt", "exit", 0))) == rule


@pytest.mark.parametrize(
    ("before", "behind", "rule"),
    [
        ([("child", settles("1", "fail"))], [], {"INV-CHILD-08": "MUST"}),
        ([("child", settles("1", "fail"))], [("child", settles("2"))], {}),
        ([("child", settles("1"))], [("child", settles("2"))], {}),
        ([], [("child", settles("1"))], {}),  # it has passed the odd list over, and given the next one to its emit
        ([], [], {}),
    ],
)
def test_behind_an_odd_list_the_next_one_is_that_of_the_next_emit_once_the_one_before_is_over(before, behind, rule):
    told = ["wireproof", [{"op": "emit", "tuple": ["x"]}, {"op": "ack"}]]
    emit = ("child", {"command": "emit", "tuple": ["x"]})
    beat = ("host", {"id": "9", "comp": None, "stream": "__heartbeat", "task": -1, "tuple": []})
    talk = [("host", given(id="1", tuple=told)), emit, ("host", ["7"]), *before, beat, ("child", SYNC)]
    talk += [("host", given(id="2", tuple=told)), emit, ("host", [7]), *behind]
    assert blamed(judged("bolt", *child("bolt", *talk), SILENCE)) == rule
