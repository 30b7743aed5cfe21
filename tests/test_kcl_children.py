"""What the text of KCL leaves open to children: programs that go another way are right, and what is like it is not."""

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.kcl.child import Child, Switches
from impls.references.kcl.memory import Children, Session
from specs.events import Said
from specs.kcl.frames import Message, Text, message
from specs.lag import Lagged
from specs.model import judge
from strategies.common import Op, Program
from strategies.kcl import discover, misuse, sessions
from strategies.kcl.writer import ESCAPE, Ways, Writer
from tests.kcl_plays import KCL, config_of, judged


def test_child_that_leaves_after_its_last_status_is_blamed_for_that_alone():
    def write(w):
        misuse.ROWS["INV-CHILD-02"](w, 0)

    found = judged("child", lambda: Children(switches=Switches(leaves=True)), write)
    assert {fault.breach.requirement for fault in found.faults} == {"KCL-SHUT-04"}
    assert not found.blamed


@pytest.mark.parametrize(("action", "named"), [("status", "KCL-STAT-03"), ("checkpoint", "KCL-CHECKPOINT-02")])
def test_what_comes_after_the_end_of_stdin_is_named_by_what_it_is(action, named):
    class Speaks(Child):
        def run(self):
            yield from super().run()
            members = {"action": "status", "responseFor": "processRecords"}
            yield from self.say(members if action == "status" else self.request(self.last))

    def write(w):
        w.batch([w.record(b"1")])
        w.answers()

    found = judged("child", lambda: Children(child=Speaks), write)
    assert {fault.breach.requirement for fault in found.blamed} == {named}


@pytest.mark.parametrize(("asks", "told", "rules"), [
    ([], False, set()), ([], True, set()), ([{"op": "checkpoint", "at": None}], False, {"KCL-CHECKPOINT-08"}),
])  # fmt: skip
def test_a_library_may_ask_for_a_checkpoint_that_user_code_did_not_ask_for(asks, told, rules):
    """K-50."""

    class Diligent(Child):
        def status(self, action):
            if action == "processRecords" and not asks:
                yield from self.checkpoint(self.last)
                if told:
                    self.note({"call": "checkpoint", "error": None})
            yield from super().status(action)

        def note(self, observation):
            if told or observation["call"] != "checkpoint":
                super().note(observation)

    def write(w):
        w.batch([w.record(b"1"), *([w.script(asks)] if asks else [])])
        w.answers()

    found = judged("child", lambda: Children("kcl3", child=Diligent), write, "kcl3")
    assert {fault.breach.requirement for fault in found.faults} == rules


@pytest.mark.parametrize(("first", "told", "rules"), [
    ("ThrottlingException", True, set()), ("ThrottlingException", False, {"KCL-CHECKPOINT-08"}),
    (None, True, set()), (None, False, {"KCL-CHECKPOINT-08"}),
])  # fmt: skip
def test_a_library_may_ask_again_by_itself_once_user_code_knows_the_result(first, told, rules):
    """K-50: when user code asked for no more. What user code asked for it must hear of."""

    class Diligent(Child):
        checkpoints = 0

        def status(self, action):
            if action == "processRecords":
                yield from self.checkpoint(None)
            yield from super().status(action)

        def note(self, observation):
            self.checkpoints += observation["call"] == "checkpoint"
            if observation["call"] != "checkpoint" or (told and self.checkpoints == 1):
                super().note(observation)

    def write(w):
        w.batch([w.record(b"1"), w.script([{"op": "checkpoint", "at": None}])])
        w.answers([first, None])

    found = judged("child", lambda: Children("kcl3", child=Diligent), write, "kcl3")
    assert {fault.breach.requirement for fault in found.faults} == rules


REFUSED = "ThrottlingException"


@pytest.mark.parametrize(("asks", "answers", "told", "rules"), [
    ([0, 0], [None], True, set()),
    ([0, 0, 0], [None], True, set()),
    ([0, 0], [None], False, {"KCL-CHECKPOINT-08"}),  # what user code asked for it must hear of
    ([0, 0, 1], [None, None], True, set()),
    ([0, 1, 0], [None, REFUSED], True, set()),
    ([0, 1, 0, 1], [None, None], True, set()),
    ([0, None, 0], [None, None], True, set()),
    ([None, None], [None], True, {"KCL-REC-08"}),  # nobody named what was made
    ([0, 0], [REFUSED], True, {"KCL-REC-08"}),  # it is not made
    ([0, 1, 0, 1], [None, REFUSED, None], True, {"KCL-REC-08"}),
])  # fmt: skip
def test_a_library_may_know_that_a_checkpoint_is_made(asks, answers, told, rules):
    """K-51: when its number was granted before."""

    class Knows(Child):
        asked, silent = set(), False

        def checkpoint(self, number):
            known, self.silent = number in self.asked, False
            self.asked = {*self.asked, number}
            if known:
                self.silent = not told
                return
            yield from super().checkpoint(number)

        def note(self, observation):
            if not self.silent or observation["call"] != "checkpoint":
                super().note(observation)

    def write(w):
        w.batch([w.record(b"1"), w.record(b"2")])
        w.answers()
        w.batch([w.script([{"op": "checkpoint", "at": None if at is None else w.numbers[at]} for at in asks])])
        w.answers(answers)

    found = judged("child", lambda: Children("kcl3", child=Knows), write, "kcl3")
    assert {fault.breach.requirement for fault in found.faults} == rules


def test_child_without_a_number_of_its_own_may_name_the_last_one():
    class Names(Child):
        def request(self, number):
            return super().request(number or self.last)

    def write(w):
        w.batch([w.record(b"1"), w.script([{"op": "checkpoint", "at": None}])])
        w.answers()

    found = judged("child", lambda: Children("kcl3", child=Names), write, "kcl3")
    assert found.verdict == "pass"
    assert [fault.breach.level for fault in found.faults] == ["SHOULD"]


def test_key_that_is_written_in_ascii_must_arrive():
    class Narrow(Child):
        def record(self, record):
            found = super().record(record)
            return {**found, "partitionKey": found["partitionKey"].encode("ascii", "replace").decode()}

    for bits, blamed in ((0, "KCL-FRAME-12"), (ESCAPE, "KCL-REC-10")):

        def write(w, bits=bits):
            w.batch([w.record(b"x", "é")], Ways(bits, 0))
            w.answers()

        (fault,) = judged("child", lambda: Children(child=Narrow), write).faults
        assert fault.breach.requirement == blamed


@pytest.mark.parametrize(("decodes", "blamed"), [(True, {"KCL-INV-CHILD-06"}), (False, set())])
def test_lenient_base64_is_the_librarys_where_the_manifest_says_so(decodes, blamed):
    class Lenient(Child):
        def record(self, record):
            return {**super().record({**record, "data": ""}), "data": b""}

    config = KCL.configure("child", "kcl1-seed", {"scripted": True, "decodes": decodes}, {"noted": True})
    w = Writer(config)
    w.initialize()
    misuse.ROWS["INV-CHILD-06"](w, 0)
    found = drive(
        w.plan(), Setting(KCL, config, "child", MemoryTransport(lambda: Children(child=Lenient))), "r-"
    ).judgement
    assert {fault.breach.requirement for fault in found.faults} == blamed
    assert found.leaned == ({} if decodes else {"K-40": 1})


def test_request_that_was_hidden_is_still_open_behind_the_known_fault():
    """A child whose request stands behind half a line of user output waits for an answer that never comes. What comes
    next finds it there, and is no second fault; a status that is missing where nothing was asked for is forgiven."""

    class Hides(Child):
        def say(self, members):
            if members["action"] == "checkpoint":
                self.out += self.written(members) + b"\n"
            else:
                yield from super().say(members)

    config = config_of("child")
    where = Setting(KCL, config, "child", MemoryTransport(lambda: Children(child=Hides)))
    w = Writer(config)
    w.initialize()
    w.batch([w.script([{"op": "print", "text": "x"}, {"op": "checkpoint", "at": None}])])
    w.batch([w.record(b"next")])
    w.final("ZOMBIE")
    w.eof()
    (found,) = drive(w.plan(), where, "r-").judgement.blamed
    assert found.breach.requirement == "KCL-FRAME-13"
    known = frozenset({found.breach.fingerprint, found.breach.duty})
    assert {
        blame.breach.requirement for blame in drive(w.plan(), replace(where, set_aside=known), "r-").judgement.faults
    } <= {"KCL-FRAME-13"}


@pytest.mark.parametrize(("number", "lapses"), [("1", 0), ("2", 1)])
def test_numbers_of_a_batch_that_came_too_soon_were_delivered(number, lapses):
    """INV-CHILD-07 lets a child do the batch; then the number of its record is no other number (CHECKPOINT-14)."""
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    talk = [("host", batch), ("child", {"action": "checkpoint", "checkpoint": number})]
    talk += [("host", {"action": "checkpoint", "checkpoint": number}), ("child", _status("processRecords"))]
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    found = judge(KCL.model, config, [Said(0, by, Message(members)) for by, members in talk], "child")
    assert [fault.breach.requirement for fault in found.faults] == ["KCL-CHECKPOINT-14"] * lapses


def _status(action):
    return {"action": "status", "responseFor": action}


def test_line_that_is_no_message_is_no_answer():
    def write(w):
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.say(Text(b"no json", "no-json"))

    for unknown in ("exit", "skip"):
        switches = Switches(unknown=unknown)
        assert judged("child", lambda switches=switches: Children(switches=switches), write).verdict != "fail"


def test_batch_may_be_handed_over_record_by_record():
    def write(w):
        script = w.script([{"op": "checkpoint", "at": None}])
        w.batch([w.record(b"1"), script, w.record(b"3")])
        w.answers([None])
        w.batch([w.record(b"4"), w.record(b"5")])

    class Forgets(Child):
        def called_with(self, records):
            if records[0]["data"] != b"5":
                yield from super().called_with(records)

    class Mixes(Child):
        def process_records(self, records):
            yield from super().process_records(records[::-1])

    def run(child):
        return judged("child", lambda: Children(switches=Switches(singly=True), child=child), write)

    assert run(Child).verdict == "pass"
    assert [fault.breach.requirement for fault in run(Forgets).faults] == ["KCL-REC-10"]
    assert run(Mixes).verdict == "fail"


class Own(Child):
    """User code that notes down what it sees and does something of its own."""

    def obey(self, step):
        yield from self.try_checkpoint(None)


class Mute(Child):
    """User code that does what it is told and notes nothing down."""

    def note(self, observation):
        pass


@pytest.mark.parametrize("profile", ["kcl1-seed", "kcl1-seq", "kcl3"])
@pytest.mark.parametrize(
    ("kind", "facts", "found"),
    [
        (Child, {}, {"scripted": True, "noted": True}),
        (Child, {"scripted": True}, {"noted": True}),
        (Own, {}, {"scripted": False, "noted": True}),
        (Mute, {}, {"scripted": False, "noted": False}),
        (Mute, {"scripted": True}, {"noted": False}),
    ],
)
def test_user_code_is_scripted_when_it_does_what_it_is_told(profile, kind, facts, found):
    def play(plan, config):
        recording = drive(
            plan, Setting(KCL, config, "child", MemoryTransport(lambda: Children(profile, child=kind))), "ask-"
        )
        return recording.events, recording.judgement

    assert discover(play, lambda learnt: KCL.configure("child", profile, facts, learnt)) == found


@pytest.mark.parametrize("retry", [False, True])
def test_user_code_that_notes_nothing_down_is_judged_by_what_it_says(retry):
    config = config_of("child", noted=False)
    transport = MemoryTransport(lambda: Children(switches=Switches(retry=retry), child=Mute))
    covered = set()
    for n in range(150):
        ops = tuple(Op(kind, tuple((n + 1) * k * 37 % 256 for k in range(5))) for kind in sessions.EVEN)
        plan = sessions.interpret(Program((n, 0, 0, n, n), ops), config)
        judgement = drive(plan, Setting(KCL, config, "child", transport), f"m{n}-").judgement
        assert judgement.verdict == "pass", judgement
        covered |= set(judgement.covered)
    assert {"KCL-REC-08", "KCL-CHECKPOINT-11", "KCL-SHUT-05"} <= covered


def test_sub_number_of_a_request_may_be_a_number_or_its_digits():
    def run(sub):
        class Subs(Child):
            def request(self, number):
                return {**super().request(number), "subSequenceNumber": sub}

        def write(w):
            w.batch([w.script([{"op": "checkpoint", "at": None}])])
            w.answers([None])

        return judged("child", lambda: Children("kcl1-seq", child=Subs), write, "kcl1-seq").verdict

    assert [run(sub) for sub in (0, 7, "7", None)] == ["pass"] * 4
    assert [run(sub) for sub in ("x", 1.5, [])] == ["fail"] * 3


class Strict(Session):
    """Reads ahead, and ends with an error where a host has not waited."""

    def send(self, data):
        if len([line for line in data.split(b"\n") if line.strip()]) > 1:
            self.child.err += b"two actions at once\n"
            self._running.close()
            self._need, self._code = None, 1
        else:
            super().send(data)


class Forgetful(Session):
    """Takes only the first line of each read."""

    def send(self, data):
        super().send(next(line for line in data.split(b"\n") if line.strip()) + b"\n")


@pytest.mark.parametrize(
    ("kind", "blamed"), [(Session, set()), (Strict, set()), (Forgetful, {("KCL-INV-CHILD-08", "SHOULD")})]
)
def test_actions_that_are_sent_ahead_are_done_in_order_or_refused(kind, blamed):
    """K-46: who reads line by line comes to the second when the first is done; who sees that a host did not wait may
    end with an error that shows; to lose it in silence is neither."""

    class Some(Children):
        session = kind

    def write(w):
        w.batch([w.record(b"1")])
        w.when = "join"
        w.batch([w.record(b"2")])
        w.when = "now"
        w.batch([w.record(b"3")])
        w.wait()

    faults = judged("child", Some, write).faults
    levels = {(fault.breach.requirement, fault.breach.level or "SHOULD") for fault in faults}
    assert levels == blamed


@pytest.mark.parametrize(
    ("named", "faults"),
    [("processRecords", []), ("shutdown", [("KCL-INV-CHILD-08", None)]), ("other", [("KCL-STAT-01", None)])],
)
def test_a_status_that_overtakes_another_is_no_status_with_a_wrong_name(named, faults):
    """High Level Description: a status says that the most recent action is done, and no host sends one before."""
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    talk = [("host", {"action": "initialize", "shardId": "s"}), ("child", _status("initialize")), ("host", batch)]
    talk += [("host", {"action": "shutdown", "reason": "ZOMBIE"}), ("child", _status(named))]
    config = KCL.hasty(KCL.configure("child", "kcl1-seed", {"scripted": False}, {}))
    events = [Said(0, by, Message(members)) for by, members in talk]
    for model in (KCL.model, Lagged(KCL.model, "host")):
        found = judge(model, config, events, "child").faults
        assert [(fault.breach.requirement, fault.breach.level) for fault in found] == faults


@pytest.mark.parametrize("asks", [True, False])
def test_checkpoint_is_a_sign_that_an_action_of_another_profile_is_known(asks):
    class Newer(Child):
        def dispatch(self, line):
            if b"shardEnded" not in line:
                yield from super().dispatch(line)
            elif asks:  # its STDIN ends instead of the answer
                yield from self.checkpoint(self.last)

    def write(w):
        w.batch([w.record(b"1")])
        w.answers()
        w.say(message("shardEnded"))
        w.wait()

    found = judged("child", lambda: Children(child=Newer), write)
    blamed = [fault.breach.requirement for fault in found.faults]
    assert blamed == ([] if asks else ["KCL-INV-CHILD-16"])
