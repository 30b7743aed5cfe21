"""What the text of KCL leaves open to hosts: programs that go another way are right, and what is like it is not."""

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.kcl.host import Failed, Host, Hosts, HostSwitches, Session
from specs.kcl.frames import message
from strategies.common import Op, Program
from strategies.kcl import discover, hosting
from tests.kcl_plays import KCL, asks, config_of, judged


@pytest.mark.parametrize("numbers", [(None,), (2, 0), (2, 2), (2, 1, 2)], ids=str)
def test_host_may_refuse_by_itself_what_goes_back_or_has_no_number(numbers):
    found = judged("host", lambda: Hosts(switches=HostSwitches(forward=True)), asks(*numbers))
    assert (found.verdict, found.faults) == ("pass", ())
    alone = judged("host", lambda: Hosts(switches=HostSwitches(forward=False)), asks(*numbers))
    assert (alone.verdict, alone.faults, set(alone.leaned) <= {"K-25"}) == ("pass", (), True)


@pytest.mark.parametrize("profile", ["kcl1-seq", "kcl3"])
@pytest.mark.parametrize(
    ("asked", "named", "blamed"), [(None, 2, False), (None, None, False), (None, 1, True), (1, 2, True)]
)
def test_an_answer_may_name_the_number_that_none_stands_for(profile, asked, named, blamed):
    """K-54: the last one that was delivered."""
    numbers = []

    class Names(Host):
        def send(self, members):
            numbers.extend(record["sequenceNumber"] for record in members.get("records", ()))
            if members["action"] == "checkpoint":
                members = {**members, self.profile.number: None if named is None else numbers[named]}
            super().send(members)

    found = judged("host", lambda: Hosts(host=Names, profile=profile), asks(asked), profile=profile)
    assert ({each.breach.requirement for each in found.faults} == {"KCL-CHECKPOINT-06"}) is blamed, found.faults


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


class SkipsWhatHasNoDigits(Host):
    def checkpoint(self, members):
        number = members.get(self.profile.number)
        if number is None or (isinstance(number, str) and number.isdigit()):
            super().checkpoint(members)


class SkipsNumbers(Host):
    """It is wrong about what is a number."""

    def checkpoint(self, members):
        if members.get(self.profile.number) is None:
            super().checkpoint(members)


@pytest.mark.parametrize("number", ["abc", "12x", "", 1.5, []])
def test_a_line_with_a_number_that_is_none_may_be_skipped(number):
    """Catalogue of invalid inputs, row 11: answered by an error, or skipped; one with a number is answered."""
    found = judged("host", lambda: Hosts(host=SkipsWhatHasNoDigits), asks_for(number))
    assert (found.verdict, found.faults) == ("pass", ())
    wrong = judged("host", lambda: Hosts(host=SkipsNumbers), asks_for("123"))
    assert [blame.breach.requirement for blame in wrong.blamed] == ["KCL-CHECKPOINT-05"]


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


@pytest.mark.parametrize(("text", "verdict"), [(b"\xef\xbb\xbf", "pass"), (b"log: ", "fail")])
def test_a_host_may_pass_over_a_byte_order_mark_and_no_other_text(text, verdict):
    class PassesOver(Host):
        def understood(self, line):
            return super().understood(line.removeprefix(text))

    def write(w):
        w.batch([(b"1", "key")])
        w.junk(text + b'{"action":"status","responseFor":"processRecords"}')
        w.exit(1)

    assert judged("host", lambda: Hosts(host=PassesOver), write).verdict == verdict
    assert judged("host", Hosts, write).verdict == "pass"


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


def test_blank_lines_of_a_host_are_free():
    class Airy(Host):
        def send(self, members):
            self.out += b"\n \n"
            super().send(members)

    found = judged("host", lambda: Hosts(host=Airy), asks(1))
    assert (found.verdict, found.faults, found.leaned.keys()) == ("pass", (), {"K-18"})


@pytest.mark.parametrize(("op", "level"), [("shutdownRequested", "SHOULD"), ("processRecords", None)])
@pytest.mark.parametrize("answered", [None, "initialize"])
def test_what_was_only_told_cannot_fail(op, level, answered):
    """K-44: the text does not know shutdownRequested, and the final action comes in any case."""

    class TakesAny(Host):
        def status(self, members):
            self.done()

    def write(w):
        w.call(op) if op == "shutdownRequested" else w.batch([(b"x", "key")])
        w.say(message("status", responseFor=answered))

    found = judged("host", lambda: Hosts(host=TakesAny, profile="kcl3"), write, profile="kcl3")
    levels = {each.breach.requirement: each.breach.level for each in found.faults}
    assert found.verdict == "fail"
    assert levels == {"KCL-STAT-05" if answered else "KCL-INV-HOST-06": level}


class Waits(Host):
    """The status of something else is passed over."""

    def status(self, members):
        if members.get("responseFor") == self.action:
            self.done()


class Hangs(Waits):
    """The right one is passed over behind it as well."""

    wrong = False

    def status(self, members):
        self.wrong = self.wrong or members.get("responseFor") != self.action
        if not self.wrong:
            self.done()


class Deaf(Waits):
    """The end of its child is passed over behind it."""

    wrong = False

    def status(self, members):
        self.wrong = self.wrong or members.get("responseFor") != self.action
        super().status(members)

    def fail(self, why):
        if not self.wrong:
            super().fail(why)


@pytest.mark.parametrize("answered", [None, "initialize"])
@pytest.mark.parametrize(
    ("kind", "then", "verdict"),
    [
        (Host, "", "pass"),
        (Waits, "", "pass"),
        (Waits, "status", "pass"),
        (Waits, "exit", "pass"),
        (Hangs, "status", "fail"),
        (Deaf, "exit", "fail"),
    ],
)
def test_a_host_may_wait_for_the_right_status(kind, then, verdict, answered):
    """K-53."""

    def write(w):
        w.batch([(b"x", "key")])
        w.say(message("status", responseFor=answered))
        if then == "status":
            w.status("processRecords")
        elif then == "exit":
            w.exit()

    found = judged("host", lambda: Hosts(host=kind), write)
    assert found.verdict == verdict, found
    assert ("K-53" in found.leaned) is (kind is Waits and then != "exit")


class SaysNothing(Host):
    """A call whose child went wrong is over like any other, and nobody is told."""

    def fail(self, why):
        super().fail(why)
        self.events[-2:] = [("answer", {"op": self.events[-1][1]["op"], "ok": None})]


@pytest.mark.parametrize(("kind", "blamed"), [(Host, False), (SaysNothing, True)])
def test_who_has_said_that_it_failed_may_answer_the_call_in_any_way(kind, blamed):
    """The answer claims nothing more then (K-42)."""

    def write(w):
        w.batch([(b"data", "key")])
        w.status("initialize")
        w.exit()

    found = judged("host", lambda: Hosts(host=kind, switches=HostSwitches(fails="over")), write)
    assert ("KCL-STAT-05" in str(found.faults)) is blamed
    assert bool(found.faults) is blamed, found.faults


class GivesUpAtOnce(Host):
    """A child that asks for a checkpoint is given up, whenever it does."""

    def checkpoint(self, members):
        raise Failed("a checkpoint is asked for")


def asked_inside(action, profile):
    def make(kind, **switches):
        config = config_of("host", profile)
        w = hosting.Writer(config)
        w.begin()
        if action == "initialize":
            w.checkpoint(None)
        w.status()
        w.batch([(b"data", "key")])
        w.status()
        w.final("ZOMBIE" if action == "leaseLost" else "TERMINATE")
        if action != "initialize":
            w.checkpoint(None)
        w.status()
        w.exit()
        hosts = MemoryTransport(lambda: Hosts(profile, HostSwitches(**switches), host=kind))
        return drive(w.plan(), Setting(KCL, config, "host", hosts), "r-").judgement

    return make


@pytest.mark.parametrize("fails", ["answer", "event", "both", "over"])
@pytest.mark.parametrize(("action", "profile"), [("initialize", "kcl1-seed"), ("leaseLost", "kcl3")])
def test_child_that_asks_where_no_checkpoint_is_allowed_may_be_given_up(action, profile, fails):
    found = asked_inside(action, profile)(Host, windows=True, fails=fails)
    assert (found.verdict, found.faults) == ("pass", ())


def test_child_that_asks_in_its_time_may_not_be_given_up():
    found = asked_inside("shardEnded", "kcl3")(GivesUpAtOnce)
    assert (found.verdict, found.faults[0].breach.requirement) == ("fail", "KCL-PROC-04")


def test_request_inside_initialize_must_not_be_left_without_an_answer():
    class Passes(Host):
        def checkpoint(self, members):
            if self.action != "initialize":
                super().checkpoint(members)

    found = asked_inside("initialize", "kcl1-seed")(Passes)
    assert [blame.breach.requirement for blame in found.faults] == ["KCL-INIT-07"]


def test_answer_behind_a_failure_that_was_said_ends_the_call():
    class SaysSoFirst(Host):
        def answer(self):
            if self.final:
                self.events.append(("failed", {"why": "the child ended"}))
            super().answer()

    found = judged("host", lambda: Hosts(host=SaysSoFirst), asks(None))
    assert (found.verdict, found.faults) == ("pass", ())

    class SaysNoMore(SaysSoFirst):
        def answer(self):
            super().answer()
            if self.final:
                self.events.pop()

    silent = judged("host", lambda: Hosts(host=SaysNoMore), asks(None))
    assert [blame.breach.requirement for blame in silent.faults] == ["KCL-SHUT-13"]


@pytest.mark.parametrize("answers", [True, False])
def test_a_host_may_pass_over_a_second_status_and_wait_for_that_of_its_next_action(answers):
    class PassesOver(Host):
        def hear(self, line):
            if self.action:
                super().hear(line)

    class Counts(PassesOver):
        """It takes the second status for the answer to whatever it says next."""

        told = False

        def hear(self, line):
            self.told = self.told or not self.action
            super().hear(line)

        def send(self, members):
            super().send(members)
            if self.told and self.action:
                self.done()

    def write(w):
        w.batch([(b"1", "key")])
        w.status()
        w.status(now=True)
        w.wait()
        w.final("ZOMBIE")
        w.wait()
        if answers:
            w.status()
        w.exit()

    found = judged("host", lambda: Hosts(host=PassesOver), write)
    assert (found.verdict, found.blamed) == ("pass", ())
    (fault, *_) = judged("host", lambda: Hosts(host=Counts), write).blamed
    assert {"KCL-STAT-06", "KCL-INV-HOST-07"} & {fault.breach.requirement, *fault.breach.also}
