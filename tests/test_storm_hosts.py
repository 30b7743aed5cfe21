"""What Storm's model makes of single conversations of a host: freedoms that were once blamed, and other faults."""

import pytest

from specs.events import Closed, Fact
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
    TIMED,
    blamed,
    given,
    host,
    judged,
    says,
    settles,
    tuples,
    waits,
)

ROWS = [
    ("spout-host", {"command": "nonsense"}, "INV-HOST-12"),
    ("bolt-host", {"nothing": 1}, "INV-HOST-12"),
    ("bolt-host", settles("77"), "INV-HOST-17"),
    ("bolt-host", [7], "INV-HOST-11"),
    ("bolt-host", Text(b"debug", "INV-HOST-04"), "INV-HOST-04"),
]


@pytest.mark.parametrize(("role", "said", "row"), ROWS)
def test_a_host_that_passes_over_what_means_nothing_misses_a_recommendation(role, said, row):
    begin = list(tuples("1")) if role == "bolt-host" else [("call", {"op": "next"}), ("host", {"command": "next"})]
    assert blamed(judged(role, *host(role, *begin, ("child", said)), SILENCE)) == {row: "SHOULD"}
    assert blamed(judged(role, *host(role, *begin, ("child", said), ("failed", {"why": "odd"})))) == {}


def test_a_host_that_passes_over_an_empty_object_for_a_process_id_misses_a_recommendation():
    first, second = tuples("1"), tuples("2")
    started = ("answer", {"op": "start"})
    bolt = host("bolt-host", started, ("child", {}), next(first), pid=False)
    assert blamed(judged("bolt-host", *bolt, SILENCE)) == {"INV-HOST-01": "SHOULD"}
    talk = [*bolt, *host("bolt-host", next(first), next(second), pid=False)[2:]]  # it went on, so it must go on
    assert blamed(judged("bolt-host", *talk, SILENCE)) == {"BOLT-01": "MUST"}
    spout = host("spout-host", started, ("child", {}), ("call", {"op": "next"}), pid=False)
    assert blamed(judged("spout-host", *spout, SILENCE)) == {"INV-HOST-01": "SHOULD"}
    for gave_up in (bolt, talk):
        assert blamed(judged("bolt-host", *gave_up, Fact(0, "bolt-host", "failed", {"why": "no pid"}))) == {}


@pytest.mark.parametrize(
    ("pid", "emits", "rule"),
    [
        ({"pid": 7, "more": 1}, False, "INV-HOST-01"),
        ({"pid": 7, "more": 1}, True, "BOLT-13"),
        ({"pid": 7}, True, "BOLT-13"),
    ],
)
def test_a_host_that_gives_up_a_child_whose_process_id_has_more_beside_it_is_blamed_for_that(pid, emits, rule):
    """Unless something else is open that it may not have borne: that comes without more beside the process id, too."""
    said = [("child", pid), *([("child", {"command": "emit", "tuple": ["x"]})] if emits else [])]
    talk = host("bolt-host", ("answer", {"op": "start"}), *said, ("failed", {"why": "odd"}), pid=False)
    found = judged("bolt-host", *talk)
    assert blamed(found) == {rule: "MUST"}
    rival = "STORM-INV-HOST-01 what_stands_beside_messages_is_no_reason_to_give_up"
    assert (rival in found.faults[0].breach.rivals) is (emits and len(pid) > 1), "one that is known explains it"
    assert emits or found.faults[0].breach.fingerprint == rival


@pytest.mark.parametrize(("heard", "ids", "rules"), [(False, [7], []), (False, [4], []), (True, [7], ["BOLT-15"])])
def test_an_emit_may_come_before_the_task_ids_that_are_told_beside_it(heard, ids, rules):
    told, answer = ("task_ids", {"ids": [4]}), ("answer", {"op": "task_ids"})
    emit = ("child", {"command": "emit", "tuple": ["x"]})
    emitted = ("emit", {"tuple": ["x"], "stream": "default", "anchors": []})
    order = [answer, emit, emitted] if heard else [emit, emitted, answer]
    assert list(blamed(judged("bolt-host", *host("bolt-host", told, *order, ("host", ids)), SILENCE))) == rules


def test_a_host_that_makes_something_of_what_means_nothing_misses_a_recommendation():
    lenient = {"command": "emit", "tuple": ["x"], "task": "4"}
    emitted = ("emit", {"tuple": ["x"], "task": 4})
    talk = host("bolt-host", *tuples("1"), ("child", lenient), emitted)
    assert blamed(judged("bolt-host", *talk)) == {"INV-HOST-14": "SHOULD"}
    lists = host("bolt-host", ("child", {"command": "emit"}), ("host", [4]))
    assert blamed(judged("bolt-host", *lists)) == {"INV-HOST-13": "SHOULD"}
    text_pid = host("bolt-host", ("child", {"pid": "42"}), *tuples("1"), pid=False)
    assert blamed(judged("bolt-host", *text_pid)) == {"HS-18": "SHOULD"}


@pytest.mark.parametrize("lacking", ["comp", "stream", "task", "tuple"])
def test_a_tuple_that_lacks_one_of_its_parts_is_blamed_for_that(lacking):
    call = ("call", {"op": "tuple", **given(tuple=[])})
    assert blamed(judged("bolt-host", *host("bolt-host", call, ("host", given(tuple=[]))))) == {}
    talk = host("bolt-host", call, ("host", given(**{"tuple": [], lacking: "left out"})))
    assert blamed(judged("bolt-host", *talk)) == {"BOLT-02": "MUST"}


def test_a_tuple_that_was_not_named_is_never_settled():
    talk = host("bolt-host", *tuples("1", "2"), ("child", settles("77")), ("ack", {"id": "1"}))
    assert blamed(judged("bolt-host", *talk)) == {"INV-HOST-17": "MUST"}
    twice = (("child", settles("1")), ("ack", {"id": "1"})) * 2
    assert blamed(judged("bolt-host", *host("bolt-host", *tuples("1", "2"), *twice))) == {"INV-HOST-17": "SHOULD"}


def test_the_end_of_a_child_is_never_passed_over():
    talk = host("bolt-host", *tuples("1"))
    ended = [Fact(0, "bolt", "exit", 0), Closed(0, "bolt", "end")]
    assert blamed(judged("bolt-host", *talk, *ended, SILENCE)) == {"END-04": "MUST"}


def test_what_is_logged_as_an_error_may_be_reported_as_one():
    config = STORM.configure("bolt-host", "seed+x-loglevel", {}, {})

    def reported(level):
        said = {"command": "log", "msg": "t1 broken", "level": level}
        seen = ("log", {"msg": "t1 broken", "level": "error" if level == 4 else "warn"})
        talk = host("bolt-host", ("child", said), seen, ("error", {"msg": "ShellLog pid:42 t1 broken"}), *tuples("1"))
        return blamed(judge(STORM.model, config, talk, "bolt-host"))

    assert reported(4) == {}
    assert set(reported(3).values()) == {"MUST"}


@pytest.mark.parametrize(("role", "names_it"), [("bolt-host", "BOLT-21"), ("spout-host", "SPOUT-15")])
def test_a_host_that_ends_its_child_for_a_log_of_another_level_misses_a_recommendation(role, names_it):
    """The text has no levels (S-46). A level that has a name is no reason, nor is one that was noted already."""
    begin = [] if role == "bolt-host" else [("call", {"op": "next"}), ("host", NEXT)]

    def ended(level, *noted, profile="seed+x-loglevel"):
        said = {"command": "log", "msg": "t1 high", **({} if level is None else {"level": level})}
        talk = host(role, *begin, ("child", said), *noted, ("failed", {"why": "odd"}))
        return blamed(judge(STORM.model, STORM.configure(role, profile, {}, {}), talk, role))

    assert ended(7) == ended(-1) == {"EXT-06": "SHOULD"}
    assert ended(4) == ended(0) == ended(None) == {names_it: "MUST"}
    assert ended(7, ("log", {"msg": "t1 high", "level": "error"})) == {"EXT-06": "MUST"}
    assert set(ended(7, ("log", {"msg": "t1 high", "level": "info"})).values()) == {"MUST"}


def test_while_a_child_does_not_read_nothing_is_owed_and_its_lists_keep_their_order():
    emits = [("call", {"op": "tuple", **given(id="1", tuple=["1"])})]
    for ids in ([4], [5]):
        emits += [("task_ids", {"ids": ids}), ("answer", {"op": "task_ids", "ok": None}), ("child", EMITS)]
        emits += [("emit", {"tuple": EMITS["tuple"]})]
    talk = host("bolt-host", ("answer", {"op": "start", "ok": None}), ("deaf", None), *emits)
    assert blamed(judged("bolt-host", *talk, SILENCE)) == {}
    heard = [*talk, Fact(0, "bolt", "hear", None)]
    assert blamed(judged("bolt-host", *heard, says("bolt-host", [4]), says("bolt-host", [5]))) == {}
    assert blamed(judged("bolt-host", *heard, says("bolt-host", [5]), says("bolt-host", [4]))) == {"BOLT-17": "MUST"}
    assert set(blamed(judged("bolt-host", *heard, SILENCE)).values()) == {"MUST"}


def test_heartbeats_that_a_stopped_child_cannot_pass_on_are_not_missed():
    begin = [Fact(0, "bolt", "start", TIMED), says("bolt-host", {**SETUP, **TIMED}), says("bolt", {"pid": 42})]
    gives_up = Fact(0, "bolt-host", "failed", {"why": "no sign of life"})
    assert blamed(judged("bolt-host", *begin, *waits(3000), gives_up)) == {"HB-01": "MUST"}
    assert blamed(judged("bolt-host", *begin, Fact(0, "bolt", "kill", 19), *waits(3000), gives_up)) == {}
    assert blamed(judged("bolt-host", *begin, Fact(0, "bolt", "kill", 19), *waits(4500), SILENCE)) == {"HB-10": "MUST"}


@pytest.mark.parametrize(("silent_ms", "rules"), [(3000, set()), (100, {"BOLT-24"})])
def test_a_sync_that_answers_nothing_is_no_reason_to_give_up_and_silence_behind_it_is(silent_ms, rules):
    begin = [Fact(0, "bolt", "start", TIMED), says("bolt-host", {**SETUP, **TIMED}), says("bolt", {"pid": 42})]
    begin += [says("bolt", SYNC), Fact(0, "bolt", "kill", 19), *waits(silent_ms)]
    gives_up = Fact(0, "bolt-host", "failed", {"why": "no sign of life"})
    assert blamed(judged("bolt-host", *begin, gives_up)).keys() == rules


def test_a_host_may_have_a_timeout_of_its_own():
    begin = [Fact(0, "bolt", "start", TIMED), says("bolt-host", {**SETUP, **TIMED}), says("bolt", {"pid": 42})]
    config = STORM.configure("bolt-host", "seed", {}, {"timed": False})
    for end in ([SILENCE], [Fact(0, "bolt-host", "failed", {"why": "no sign of life"})]):
        judgement = judge(STORM.model, config, [*begin, *waits(5000), *end], "bolt-host")
        assert blamed(judgement) == {}


def test_a_host_that_cannot_bear_a_direct_emit_is_blamed_for_that_and_not_for_its_anchors():
    emit = {"command": "emit", "tuple": ["x"], "anchors": ["1"], "task": 4}
    talk = host("bolt-host", *tuples("1"), ("child", emit), ("error", {"msg": "no such class"}))
    assert blamed(judged("bolt-host", *talk)) == {"BOLT-14": "MUST"}


def test_a_member_of_conf_that_is_null_may_be_absent():
    told = {"conf": {"a": None, "b": {"c": None, "d": 1}}, "context": context()}
    begin = Fact(0, "bolt", "start", told)
    lean, lost = ({**SETUP, "conf": conf} for conf in ({"b": {"d": 1}}, {"b": {}}))
    assert blamed(judged("bolt-host", begin, says("bolt-host", lean))) == {}
    assert blamed(judged("bolt-host", begin, says("bolt-host", lost))) == {"HS-02": "MUST"}
    sees = {"call": "initialize", "conf": {"b": {"d": 1}}, "context": context()}
    talk = [Fact(0, "bolt", "folder", "/p"), says("host", {**SETUP, **told}), Fact(0, "bolt", "observed", sees)]
    assert blamed(judged("bolt", *talk)) == {}


def test_the_host_of_a_spout_may_wait_for_the_sync_alone():
    command = {"command": "next"}
    begin = [Fact(0, "spout", "start", TIMED), says("spout-host", {**SETUP, **TIMED}), says("spout", {"pid": 42})]
    begin += [Fact(0, "spout", "call", {"op": "next"}), says("spout-host", command), *waits(1500)]
    begin += [says("spout", {"command": "log", "msg": "still here"}), *waits(1000)]
    gives_up = Fact(0, "spout-host", "failed", {"why": "no sync"})
    for profile, broken in (("seed", {}), ("seed+x-hb-any-message", {"HB-11": "MUST"})):
        config = STORM.configure("spout-host", profile, {}, {})
        judgement = judge(STORM.model, config, [*begin, gives_up], "spout-host")
        assert blamed(judgement).keys() <= {"HB-11", "SPOUT-15"}
        assert bool(blamed(judgement)) == bool(broken)


def test_a_sign_of_life_as_the_timeout_runs_out_may_not_be_heard_in_time():
    """S-13: the tester itself was held up."""
    config = STORM.configure("bolt-host", "seed+x-hb-any-message+x-hb-timing", {}, {})
    begin = [Fact(0, "bolt", "start", TIMED), says("bolt-host", {**SETUP, **TIMED}), says("bolt", {"pid": 42})]
    beat = says("bolt-host", given(stream="__heartbeat", task=-1, tuple=[], id="9"))
    log = says("bolt", {"command": "log", "msg": "still here"})
    ends = [Fact(0, "bolt-host", "log", {"msg": "still here"}), Fact(0, "bolt-host", "failed", {"why": "timeout"})]
    for ms, later, broken in ((2900, 10, False), (1050, 10, True), (2900, 1450, True)):
        talk = [*begin, beat, *waits(ms), log, *waits(later), *ends]
        assert bool(blamed(judge(STORM.model, config, talk, "bolt-host"))) == broken, (ms, later)


@pytest.mark.parametrize(("answered", "synced", "rules"), [
    (False, False, {}), (True, False, {"SPOUT-15": "MUST"}), (False, True, {"SPOUT-15": "MUST"}),
])  # fmt: skip
def test_what_a_spout_logs_may_be_told_when_the_call_is_over(answered, synced, rules):
    """S-41."""
    answer = [("answer", {"op": "start", "ok": None}), *([("answer", {"op": "next", "ok": None})] if answered else [])]
    talk = host("spout-host", ("call", {"op": "next"}), ("host", NEXT), *answer)
    talk += [says("spout", {"command": "log", "msg": "t1"}), *([says("spout", SYNC)] if synced else [])]
    assert blamed(judged("spout-host", *talk, SILENCE)) == rules
    assert blamed(judged("spout-host", *talk, Fact(0, "spout-host", "log", {"msg": "t1"}), SILENCE)) == {}


def test_an_emit_to_a_task_beyond_32_bits_goes_to_no_other_task():
    emit = ("child", {"command": "emit", "tuple": ["x"], "task": 4294967300})
    talk = host("bolt-host", *tuples("1"), emit, ("emit", {"tuple": ["x"], "task": 4}))
    assert blamed(judged("bolt-host", *talk)) == {"INV-HOST-14": "MUST"}


def test_a_next_without_activate_is_blamed_where_that_is_claimed():
    config = STORM.configure("spout-host", "seed+x-activate", {}, {})
    lively = [("host", {"command": "activate"}), ("child", {"command": "sync"})]
    asked = [("call", {"op": "next"}), ("host", {"command": "next"})]
    assert blamed(judge(STORM.model, config, host("spout-host", *lively, *asked), "spout-host")) == {}
    assert blamed(judge(STORM.model, config, host("spout-host", *asked), "spout-host")) == {"EXT-02": "MUST"}


@pytest.mark.parametrize(("size", "rules"), [(70_000, set()), (60_000, {"SPOUT-13"})])
def test_a_message_that_is_too_long_for_a_host_is_a_failure(size, rules):
    """S-43: 64 KiB must be taken. Where all that was said has shown, it was taken."""
    said = {"command": "emit", "id": "x" * size, "tuple": ["t1"], "stream": "default"}
    begin = host("spout-host", ("call", {"op": "next"}), ("host", {"command": "next"}), ("child", said))
    gave_up = Fact(0, "spout-host", "failed", {"why": "too long"})
    assert blamed(judged("spout-host", *begin, gave_up)).keys() == rules
    shown = {"tuple": ["t1"], "id": "x" * size, "stream": "default"}
    taken = (("emit", shown), ("host", [7]), ("child", SYNC), ("sync", {}))
    after = host("spout-host", *taken, pid=False)[2:]
    assert blamed(judged("spout-host", *begin, *after, gave_up))
