"""What the text of KCL leaves open: programs that go another way are right, and what is like it is not."""

import json
from dataclasses import replace

import pytest

from impls.driver.drive import Recording, Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.kcl.child import Child, Switches
from impls.references.kcl.host import Host, Hosts, HostSwitches, Session
from impls.references.kcl.memory import Children
from specs.events import Fact, Said
from specs.kcl.frames import Message, Text, message, read
from specs.kcl.states import Numbers
from specs.model import judge
from specs.protocol import find
from strategies.common import Op, Program
from strategies.kcl import discover, hosting, misuse, sessions
from strategies.kcl.writer import ESCAPE, Ways, Writer
from suites.calibration import _slowest
from suites.hunt import Hunter, Investigated, Property

KCL = find("kcl")


def config_of(role, profile="kcl1-seed", **learnt):
    return KCL.configure(role, profile, {"scripted": True}, {"noted": True, **learnt})


def judged(role, make, write, profile="kcl1-seed"):
    config = config_of(role, profile)
    w = Writer(config) if role == "child" else hosting.Writer(config)
    if role == "child":
        w.initialize()
    else:
        w.begin()
        w.status()
    write(w)
    if role == "child":
        w.eof()
    return drive(w.plan(), Setting(KCL, config, role, MemoryTransport(make)), "r-").judgement


def asks(*numbers, error=None, batches=((b"1", b"2", b"3"),)):
    def write(w):
        for data in batches:
            w.checkpointer(error)
            w.batch([(octets, "key") for octets in data])
            for number in numbers:
                w.checkpoint(number if number is None or isinstance(number, list) else w.numbers[number])
                w.wait()
            w.status()
        w.final("TERMINATE")
        w.status()
        w.exit()

    return write


# -- hosts -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("numbers", [(None,), (2, 0), (2, 2), (2, 1, 2)], ids=str)
def test_host_may_refuse_by_itself_what_goes_back_or_has_no_number(numbers):
    found = judged("host", lambda: Hosts(switches=HostSwitches(forward=True)), asks(*numbers))
    assert (found.verdict, found.faults) == ("pass", ())
    alone = judged("host", lambda: Hosts(switches=HostSwitches(forward=False)), asks(*numbers))
    assert (alone.verdict, alone.faults, set(alone.leaned) <= {"K-25"}) == ("pass", (), True)


class HandsOn(Host):
    """What is no number is the checkpointer's affair."""

    def tried(self, number, members):
        return super().tried(number, members) if number is None else self.attempt(str(number))


class EmptyIsNone(Host):
    def tried(self, number, members):
        return self.attempt(self.last) if number == "" else super().tried(number, members)


class FloatIsNone(Host):
    def tried(self, number, members):
        return self.attempt(self.last) if isinstance(number, float) else super().tried(number, members)


@pytest.mark.parametrize(("kind", "wrong"), [(HandsOn, 0), (EmptyIsNone, 0), (FloatIsNone, 1)])
def test_what_a_host_may_try_for_a_number_that_is_none(kind, wrong):
    found = [judged("host", lambda: Hosts(host=kind), asks_for(number)) for number in ("abc", 1.5, "", [], True)]
    blamed = [blame.breach.requirement for judgement in found for blame in judgement.faults]
    assert blamed == ["KCL-INV-HOST-11"] * wrong


def asks_for(number):
    def write(w):
        w.checkpointer("IllegalArgumentException")
        w.batch([(b"data", "key")])
        w.checkpoint(number)
        w.wait()
        w.status()
        w.final("ZOMBIE")
        w.status()
        w.exit()

    return write


def test_host_that_refuses_the_next_number_is_wrong():
    class Refuses(Host):
        def tried(self, number, members):
            return "IllegalArgumentException"

    assert judged("host", lambda: Hosts(host=Refuses), asks(1)).verdict == "fail"


def test_number_that_was_granted_need_not_be_tried_again_whatever_trying_would_meet():
    class Remembers(Host):
        def tried(self, number, members):
            if number == getattr(self, "granted_last", None):
                return None
            error = super().tried(number, members)
            if error is None:
                self.granted_last = number
            return error

    def write(w):
        asks(1)(w)

    def again(w):
        w.batch([(b"1", "key")])
        w.checkpoint(w.numbers[0])
        w.wait()
        w.checkpointer("ThrottlingException")
        w.checkpoint(w.numbers[0])
        w.wait()
        w.status()

    def back(w):
        w.batch([(b"1", "key"), (b"2", "key")])
        for number in (w.numbers[1], w.numbers[0]):
            w.checkpoint(number)
            w.wait()
        w.checkpointer("ThrottlingException")
        w.checkpoint(w.numbers[0])
        w.wait()
        w.status()

    for play in (write, again, back):
        assert judged("host", lambda: Hosts(host=Remembers), play).verdict == "pass"


def test_host_may_try_another_child_once_the_first_has_failed():
    class Tries(Host):
        def fail(self, why):
            super().fail(why)
            self.events.append(("connected", None))

    class Doubles(Host):
        def done(self):
            self.events.append(("connected", None))
            super().done()

    def write(w):
        w.batch([(b"1", "key")])
        w.exit(1)

    found = judged("host", lambda: Hosts(host=Tries), write)
    assert (found.verdict, found.leaned) == ("pass", {"K-34": 1})
    (fault,) = judged("host", lambda: Hosts(host=Doubles), write).blamed
    assert fault.breach.requirement == "KCL-PROC-02"


def test_request_that_means_nothing_is_refused_under_any_number():
    def write(w):
        w.batch([(b"1", "key")])
        w.say(message("checkpoint", checkpoint=[]))
        w.status()

    for blank in (True, False):
        assert judged("host", lambda blank=blank: Hosts(switches=HostSwitches(blank=blank)), write).verdict == "pass"


def test_checkpoint_before_any_record_is_tried_under_the_hosts_own_name_for_it():
    class Begins(Host):
        def attempt(self, number):
            self.events.append(("checkpoint", {"at": number or self.last or "TRIM_HORIZON"}))
            return self.error

    play = asks(None, batches=((),))
    assert judged("host", lambda: Hosts("kcl3", host=Begins), play, "kcl3").verdict == "pass"


class OneByOne(Session):
    """Its test program takes no request while a call is open."""

    def __init__(self, host):
        super().__init__(host)
        self.waiting = []

    def do(self, name, value):
        if name == "checkpointer" and self.host.action:
            self.waiting.append((name, value))
            return True
        return super().do(name, value)

    def facts(self):
        while self.waiting and not self.host.action:
            super().do(*self.waiting.pop(0))
        return super().facts()


class OneByOneHosts(Hosts):
    def open(self):
        return OneByOne(self.fresh())


def test_host_whose_program_does_one_thing_after_the_other_is_found_out_and_not_blamed():
    def play(transport):
        def played(plan, config):
            recording = drive(plan, Setting(KCL, config, "host", transport), "ask-")
            return recording.events, recording.judgement

        return discover(played, lambda learnt: config_of("host", **learnt))

    assert play(MemoryTransport(Hosts)) == {"aside": True}
    transport = MemoryTransport(OneByOneHosts)
    learnt = play(transport)
    assert learnt == {"aside": False}
    config = config_of("host", **learnt)
    for n in range(40):
        ops = (Op("checkpoint", (n, n * 7 % 256, n, n, n)), Op("batch"), Op("checkpoint", (0, 255, n, 2, n)))
        plan = hosting.interpret(Program((n, 0, 0, n), ops), config)
        found = drive(plan, Setting(KCL, config, "host", transport), f"s{n}-").judgement
        assert (found.verdict, found.faults) == ("pass", ()), n


# -- children ----------------------------------------------------------------------------------------------------------


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


def test_action_that_came_instead_of_an_answer_may_be_done_later():
    class Queues(Child):
        """It reads on for the answer, and does what came before it afterwards."""

        def __init__(self, *args):
            super().__init__(*args)
            self.waiting = []

        def checkpoint(self, number):
            yield from self.say(self.request(number))
            line = yield from self.next_line()
            if line is not None and json.loads(line)["action"] != "checkpoint":
                self.waiting.append(line)
                line = yield from self.next_line()
            self.result(line)

        def perform(self, action, members):
            yield from super().perform(action, members)
            while self.waiting:
                yield from self.dispatch(self.waiting.pop())

    def write(w):
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.batch([w.record(b"instead")])
        w.say(w.answered("ThrottlingException"))

    assert judged("child", lambda: Children(child=Queues), write).verdict == "pass"


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


def test_status_of_what_came_instead_of_an_answer_is_counted_as_forgiven():
    batch = {"action": "processRecords", "records": [{"data": "", "partitionKey": "k", "sequenceNumber": "1"}]}
    talk = [("host", {"action": "initialize", "shardId": "s"}), ("child", _status("initialize")), ("host", batch)]
    talk += [("child", {"action": "checkpoint", "checkpoint": "1"}), ("host", batch)]
    talk += [("child", _status("processRecords"))] * 2
    config = KCL.configure("child", "kcl1-seed", {"scripted": False}, {})
    events = [Said(0, by, Message(members)) for by, members in talk]
    found = judge(KCL.model, config, events, "child")
    assert (found.verdict, found.leaned) == ("pass", {"K-41": 1})
    again = judge(KCL.model, config, [*events, events[-1]], "child")
    assert [fault.breach.requirement for fault in again.faults] == ["KCL-CHECKPOINT-15"], "it is done once"


def _status(action):
    return {"action": "status", "responseFor": action}


def test_line_that_is_no_message_is_no_answer():
    def write(w):
        w.batch([w.script([{"op": "checkpoint", "at": None}])])
        w.say(Text(b"no json", "no-json"))

    for unknown in ("exit", "skip"):
        switches = Switches(unknown=unknown)
        assert judged("child", lambda switches=switches: Children(switches=switches), write).verdict != "fail"


# -- pieces ------------------------------------------------------------------------------------------------------------


def test_numbers_are_values():
    one = Numbers().union(["1", "2"])
    left, right = one.union(["3"]), one.union(["4"])
    assert ("3" in left, "3" in right, "4" in left, "3" in one) == (True, False, False, False)
    assert (list(left), list(right), len(one)) == (["1", "2", "3"], ["1", "2", "4"], 2)
    assert left == Numbers().union(["1", "2", "3"]) != right
    assert (left.place("3"), right.place("4"), one.place("3"), one.place(None)) == (2, 2, -1, -1)


def test_escaped_message_survives_json():
    frame = read(json.dumps({"action": "x", "k": "é"}).encode())
    assert frame.escaped
    again = KCL.from_json(KCL.to_json(frame))
    assert (again, again.escaped) == (frame, True)
    assert not read(b'{"action":"x"}').escaped


def test_answers_beside_the_wire_are_waited_for_as_well():
    events = [
        Fact(0, "child", "start", {}),
        Fact(0, "host", "connected", {}),
        Fact(0, "host", "answer", {}),
        Said(0, "host", message("initialize", shardId="s")),
        Said(0, "child", message("status", responseFor="initialize")),
        Fact(0, "host", "answer", {}),
    ]
    assert _slowest(Recording(events=events, stamps=[0.0, 50.0, 300.0, 310.0, 320.0, 330.0]), "host") == 300.0


def test_what_was_only_slow_is_given_more_time():
    class Slow(Child):
        def status(self, action):
            self.switches = Switches(delay_ms=900)
            yield from super().status(action)

    config = config_of("child")
    binding = {r.id: r for r in KCL.requirements.binding("child", "kcl1-seed") if not r.untestable}
    setting = Setting(KCL, config, "child", MemoryTransport(lambda: Children(child=Slow)), 250.0)
    hunter = Hunter(setting, binding, investigate=lambda *_: Investigated(None))
    prop = Property("one", hosting.sessions(), lambda program, config, hurry: KCL.smoke(config))
    for _ in range(50):  # a hunt may be over before it has begun where the machine is busy
        if hunter.setting.patience_ms < 900:
            hunter.hunt(prop, 0.1)
    assert hunter.setting.patience_ms > 900
    assert not hunter.faults


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


def test_blank_lines_of_a_host_are_free():
    class Airy(Host):
        def send(self, members):
            self.out += b"\n \n"
            super().send(members)

    found = judged("host", lambda: Hosts(host=Airy), asks(1))
    assert (found.verdict, found.faults, found.leaned.keys()) == ("pass", (), {"K-18"})


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
