"""What an investigation believes: silences, what comes and goes, what heals with rest, and what there is time for."""

import threading
from dataclasses import replace
from types import SimpleNamespace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Frame, Server, Session
from specs.events import Said
from specs.model import Blame, Breach, Judgement
from specs.plan import Plan, Say, Wait
from strategies.common import Program, programs
from strategies.stomp.writer import PLACES, Writer
from suites import investigate, shrinking
from suites.case import Case
from suites.deadline import Deadline, TimeUp
from suites.hunt import Hunter, Investigated, Property
from suites.investigate import Investigator
from tests.investigating import (
    QUEUE,
    STOMP,
    Later,
    LosesEmpty,
    blamed_on,
    config_for,
    hunting,
    message,
    reported,
    tried,
)
from tests.mutants.kit import server_of


class Deaf(Server):
    """Hears nothing."""

    def open(self) -> Session:
        session = super().open()
        session.send = lambda data: None
        return session


def test_a_plan_is_over_at_the_silence_that_it_is_played_for():
    asked = []
    writer = Writer(config_for(), wire=0)
    writer.connect(0)
    setting = Setting(
        STOMP, config_for(), "server", MemoryTransport(Deaf), 50.0, lambda judgement: not asked.append(judgement)
    )
    assert drive(writer.plan(), setting, "p-").judgement.verdict == "fail"
    assert [judgement.verdict for judgement in asked] == ["fail"]


class Backlog(Server):
    """Takes 3 s for each conversation, one after the other, and whoever is given up stays in the line."""

    free = 0.0

    def open(self) -> Session:
        session = super().open()
        self.free = mine = max(self.free, self.now) + 3000
        take = session.take
        session.take = lambda: take() if self.now >= mine else b""
        return session


def test_who_has_a_backlog_is_only_slow():
    assert not reported(lambda w: w.hang(w.connect(0)), Backlog)


def test_repetitions_end_when_their_time_is_up(monkeypatch):
    now = iter(range(0, 10_000, 40))
    monkeypatch.setattr(investigate.time, "monotonic", lambda: next(now))
    assert len(list(investigate.turns(5))) == 2
    assert len(list(investigate.turns(5, 20.0))) == 1


def test_what_does_not_come_again_costs_less_and_less(monkeypatch):
    """Each suspicion that nothing confirms leaves the next one a smaller share of what all of them may take."""
    given, clock = [], iter(range(0, 10_000, 20))
    monkeypatch.setattr(investigate.time, "monotonic", lambda: float(next(clock)))
    monkeypatch.setattr(investigate.Case, "again", lambda case, plan, **how: None)
    monkeypatch.setattr(investigate.Case, "vanished", lambda *given_: given.append(given_[-1]))
    setting = Setting(STOMP, config_for(), "server", MemoryTransport(Server))
    hunter = Hunter(setting, {}, investigate=Investigator(), report=print)
    prop = Property("none", programs({"none": 1}, head=1, most=1, least=0), lambda *_, **__: Plan(()))
    investigator = Investigator()
    for _ in range(8):
        investigator(hunter, prop, Program((0,), ()), "STOMP-1.2-SUB-05", 0.0)
    assert given[:3] == [30.0, 25.0, 20.0]
    assert given[-1] == investigate.LEAST_S


class Lingers(Session):
    """Is given messages for a while after it has ended."""

    def on_lost_connection(self):
        self.server.later.append((self.server.now + 120, super().on_lost_connection))


class Tidies(Later):
    """Ends what connections leave behind when there is time for it."""


class Never(Tidies):
    """Ends it never."""

    def advance(self, ms):
        Server.advance(self, ms)


def leaves(w):
    """One leaves the queue, another one comes."""
    w.subscribe(w.connect(0), QUEUE, receipt=w.receipt())
    w.disconnect(w.line(0))
    w.subscribe(w.connect(1), QUEUE, receipt=w.receipt())
    w.send(w.line(1), QUEUE, b"x", receipt=w.receipt())
    w.wait()


@pytest.mark.parametrize(("kind", "names"), [(Tidies, []), (Never, ["SUB-05"])])
def test_what_is_left_of_a_connection_may_take_a_message_for_a_while(kind, names):
    assert [blamed_on(fault) for fault in reported(leaves, server_of(Lingers, kind))] == names


def test_what_heals_with_rest_is_no_pass():
    """It was blamed, and is gone when connections follow each other at leisure: not settled, and named."""
    (fault,) = tried(leaves, server_of(Lingers, Tidies))
    assert (blamed_on(fault), fault.verdict, fault.unsettled) == ("SUB-04", "inconclusive", investigate.HEALS)
    assert fault.recording.judgement.verdict == "fail"


def test_a_rest_stands_before_each_connection_that_follows_another():
    def say(conn):
        return Say(conn, conn)

    calm = shrinking.rested(Plan((say(0), say(1), say(0), say(2), Wait(0), say(1), say(3), say(2))))
    rest = Wait(shrinking.REST_MS)
    assert calm.steps == (say(0), say(1), say(0), rest, say(2), Wait(0), say(1), rest, say(3), say(2))
    alone = Plan((say(0), Wait(5), say(0)))
    assert shrinking.rested(alone) == alone
    many = shrinking.rested(Plan(tuple(map(say, range(21)))))
    assert sum(step.ms for step in many.steps if isinstance(step, Wait)) == shrinking.RESTS_MS


@pytest.mark.parametrize(("then", "believed"), [(["x", "x"], False), ([None, "x"], True), (["x", None], True)])
def test_what_comes_and_goes_is_not_forgiven_for_a_rest(monkeypatch, then, believed):
    """The plan fails, then it may or may not, and each time it passes with a rest."""
    monkeypatch.setattr(investigate, "is_silent", lambda seen: True)
    shown, passes = iter(["x", *then]), SimpleNamespace(judgement=SimpleNamespace(verdict="pass"))
    setting = Setting(STOMP, config_for(), "server", MemoryTransport(Server))
    hunter = SimpleNamespace(setting=setting, beside=False, smoke=lambda: None, play=lambda plan, setting: passes)
    case = SimpleNamespace(
        hunter=hunter,
        setting=setting,
        play=hunter.play,
        shown=lambda plan, setting=None: next(shown),
        shown_beside=lambda plan, setting, again, times: (next(shown), []),
        blames=None,
        until=Deadline(),
    )
    plan = Plan((Say(0, 0), Say(1, 1)))
    assert (Investigator()._confirmed(case, plan, ("", "", Blame(BREACH, 0), "")) == (plan, "x", [])) is believed


BREACH = Breach("server", "STOMP-1.2-SEND-04", "it")


@pytest.mark.parametrize("steady", [True, False])
@pytest.mark.parametrize("hasty", [True, False])
@pytest.mark.parametrize("beside", [True, False])
def test_what_counts_only_if_it_is_always_there_is_repeated_while_its_silence_is_waited_for(
    monkeypatch, steady, hasty, beside
):
    """In haste there is no time for one after the other; all of them are under way before one is over."""
    monkeypatch.setattr(investigate, "is_silent", lambda seen: True)
    together = steady and hasty and beside
    everybody, patience = threading.Barrier(3 if together else 1, timeout=10), []
    blame = Blame(replace(BREACH, steady=steady), 0)
    recording = SimpleNamespace(judgement=Judgement("fail", (blame,)), events=[])

    def play(plan, setting, until, *, alone):
        patience.append(setting.patience_ms)
        everybody.wait()
        return recording

    setting = Setting(STOMP, config_for(), "server", MemoryTransport(Server))
    hunter = SimpleNamespace(
        setting=setting,
        beside=beside,
        smoke=lambda: None,
        play=play,
        blamed=lambda r: [(BREACH.requirement, "MUST", blame)],
    )
    case = Case(hunter, None, BREACH.requirement, setting)
    _plan, seen, had = Investigator()._confirmed(case, Plan((Say(0, 0),)), (recording, "MUST", blame, ""), hasty=hasty)
    assert seen[0] is recording
    assert had == [seen, seen] * together
    assert sorted(patience) == [investigate.AGAIN_MS] * len(had) + [investigate.CONFIRM_MS]


@pytest.mark.parametrize(
    ("name", "failing", "pending", "told"),
    [
        ("TXN-11", ["SUB-05"], [], "SUB-05"),
        ("TXN-11", [], ["SUB-05"], "SUB-05"),
        ("TXN-11", ["SUB-04"], ["TXN-11"], ""),
        ("SUB-05", ["TXN-11"], ["SUB-05"], ""),
    ],
)
def test_in_haste_a_missing_duty_has_its_own_name_where_another_conversation_shows_that(name, failing, pending, told):
    """A plan that was not shrunk to its end has much in it that may have nothing to do with what is missing."""
    breach = Breach("server", f"STOMP-1.2-{name}", "it", also=("STOMP-1.2-SUB-05",), duty="STOMP-1.2-SUB-05 message")
    suspects = SimpleNamespace(looks_into=lambda home: home in [f"STOMP-1.2-{each}" for each in pending])
    hunter = SimpleNamespace(failing={f"STOMP-1.2-{each}" for each in failing}, suspects=suspects)
    case = SimpleNamespace(called=f"STOMP-1.2-{name}", hunter=hunter)
    seen = (None, "MUST", Blame(breach, 0), case.called)
    assert Investigator()._may_be(case, seen) == (told and f"STOMP-1.2-{told}")


class BodyOnReceipts(Session):
    """RECEIPT has a body."""

    receipted = False

    def receipt(self, receipt: str) -> None:
        self.receipted = True
        self.emit("RECEIPT", [("receipt-id", receipt), ("content-length", "4")], b"body")


class LosesEmptyToo(LosesEmpty, BodyOnReceipts):
    """A second fault that has nothing to do with the first."""


class LosesBehindReceipts(BodyOnReceipts):
    """A second fault that shows only behind the first."""

    def publish(self, frame: Frame) -> None:
        if not self.receipted:
            super().publish(frame)


def beside(receipts):
    """A message to oneself, with and without receipts."""

    def write(w):
        other, line = w.line(1), w.line()
        w.subscribe(other, PLACES[1], receipt=w.receipt())
        w.subscribe(line, QUEUE, receipt=w.receipt() if receipts else None)
        w.send(line, QUEUE, headers=[("b", "")], receipt=w.receipt() if receipts else None)

    return write


@pytest.mark.parametrize(
    ("part", "receipts", "verdict"),
    [
        (LosesEmptyToo, False, "fail"),
        (LosesEmptyToo, True, "inconclusive"),
        (LosesBehindReceipts, True, "inconclusive"),
    ],
)
def test_what_is_seen_only_behind_a_known_fault_is_suspected(part, receipts, verdict):
    """It counts when a conversation shows it without that fault."""
    found = {blamed_on(fault): fault for fault in tried(beside(receipts), server_of(part), times=3)}
    assert found.pop("RECEIPT-07").verdict == "fail"
    (fault,) = [each for each in found.values() if "which shows in the same way" not in each.unsettled]
    assert fault.verdict == verdict
    words = "it was seen only behind STOMP-1.2-RECEIPT-07, which may have led to it"
    assert fault.unsettled == (words if verdict == "inconclusive" else "")


def until_played(monkeypatch, count):
    """The time of an investigation is up when it has played so many plans."""
    played = []

    class Counting(Deadline):
        def over(self):
            return len(played) > count

    play = Hunter.play
    monkeypatch.setattr(
        Hunter, "play", lambda self, *given, **how: (played.append(given), play(self, *given, **how))[1]
    )
    return Counting()


@pytest.mark.parametrize(("plans", "settled"), [(1, False), (2, True), (4, True)])
def test_what_has_come_again_when_the_time_is_up_is_reported_as_it_is(monkeypatch, plans, settled):
    """Shrinking, repeating and naming may be cut short; that it was seen twice stands."""
    hunter, prop, _ = hunting(message([("empty", "")]), server_of(LosesEmpty))
    hunter.sound = True
    program = Program((0,), ())
    name = hunter.blamed(hunter.play(prop.plan(program, hunter.setting.config)))[0][0]
    found = hunter.suspects.investigate(hunter, prop, program, name, 0.0, False, until_played(monkeypatch, plans))
    assert (found.fault is not None) is settled
    assert found.unsettled == ("" if settled else investigate.NO_TIME)
    if found.fault is not None:
        assert (found.fault.reproduced, found.fault.verdict) == (2, "fail")


def test_a_silence_that_was_not_believed_when_the_time_is_up_is_no_fault(monkeypatch):
    hunter, prop, _ = hunting(lambda w: w.connect(0), Deaf)
    program = Program((0,), ())
    name = hunter.blamed(hunter.play(prop.plan(program, hunter.setting.config)))[0][0]
    found = hunter.suspects.investigate(hunter, prop, program, name, 0.0, True, until_played(monkeypatch, 1))
    assert found == Investigated(None, investigate.NO_TIME)


def test_less_patience_is_enough_where_answers_come_soon():
    """5 s in a run of 10 s, unless 30 times the slowest answer says that it may need longer."""
    hunter, prop, _ = hunting(lambda w: w.connect(0), Deaf)
    brisk = Investigator.of_budget(10.0)
    for patience_ms, enough_ms in ((300.0, 5_000.0), (1_500.0, 7_500.0), (4_000.0, 10_000.0)):
        setting = replace(hunter.setting, patience_ms=patience_ms)
        case = investigate.Case(hunter, prop, "", setting=setting)
        assert brisk._patient(case).patience_ms == enough_ms
        assert Investigator.of_budget(60.0)._patient(case).patience_ms == 10_000.0


def test_in_haste_a_rest_and_a_long_silence_are_tried_at_once():
    """One wait is enough for both, and the plan is told with the rests that it was played with."""
    hunter, prop, _ = hunting(leaves, server_of(Lingers, Never))
    program = Program((0,), ())
    plan = prop.plan(program, hunter.setting.config)
    name = hunter.blamed(hunter.play(plan))[0][0]
    case = investigate.Case(hunter, prop, name, setting=hunter.setting)
    shown = Investigator()._confirmed(case, plan, hasty=True)
    assert shown is not None
    assert shown[0] == shrinking.rested(plan) != plan
    assert Investigator()._confirmed(case, plan)[0] == plan


def test_a_silence_that_was_just_seen_is_believed_or_not_by_the_next_play(monkeypatch):
    """Where nothing can be left out, a second look with little patience says nothing new, and takes what is left."""
    hunter, prop, _ = hunting(lambda w: w.connect(0), Deaf)
    program, waited = Program((0,), ()), []
    plan = prop.plan(program, hunter.setting.config)
    name = hunter.blamed(hunter.play(plan))[0][0]
    play = investigate.Case.play

    def noted(case, played, setting=None):
        if played == plan:
            waited.append((setting or case.setting).patience_ms)
        return play(case, played, setting)

    monkeypatch.setattr(investigate.Case, "play", noted)
    assert hunter.suspects.investigate(hunter, prop, program, name, 0.0, True, Deadline()).fault is not None
    assert waited[:2] == [hunter.setting.patience_ms, investigate.CONFIRM_MS]


def test_repetitions_that_showed_nothing_are_counted(monkeypatch):
    hunter, prop, _ = hunting(lambda w: w.connect(0), Server)
    shown = iter([None, None, "x"])
    monkeypatch.setattr(investigate.Case, "shown", lambda case, plan: next(shown))
    case = investigate.Case(hunter, prop, "", setting=hunter.setting)
    assert (case.again(Plan(())), case.proof.tried) == ("x", 3)


class BeatsAtTimes(Session):
    """Agrees on heart-beats; only some sessions get them."""

    sessions = 0
    silent = 2

    def agree_on_beats(self, frame):
        super().agree_on_beats(frame)
        type(self).sessions += 1
        self.beats_at_all = type(self).sessions % type(self).silent

    def beat(self):
        if self.beats_at_all:
            super().beat()


class BeatsNever(BeatsAtTimes):
    """Agrees on heart-beats and sends none."""

    silent = 1


def beats(writer):
    writer.connect(0, extra=[("heart-beat", "0,500")])
    writer.wait(4000)


@pytest.mark.parametrize(("part", "verdict"), [(BeatsNever, "fail"), (BeatsAtTimes, "inconclusive")])
def test_what_is_late_counts_only_when_it_is_late_each_time(part, verdict):
    part.sessions = 0
    hunter, prop, found = hunting(beats, server_of(part))
    hunter.sound = True
    hunter.hunt(prop, 0.3)
    fault = next(each for each in found if each.requirement == "STOMP-1.2-HB-04")
    assert fault.verdict == verdict
    assert ("matter of time" in fault.unsettled) == (verdict == "inconclusive")
    assert fault.reproduced < fault.tried or verdict == "fail"


class BeatsAndForgets(Session):
    """No RECEIPT, and heart-beats as agreed."""

    def on_receipt(self, frame: Frame) -> None:
        return None


def test_heart_beats_do_not_keep_a_missing_answer_from_being_missed():
    """They are no silence either: what is told of it is the time since the last one."""
    config = config_for()
    writer = Writer(config, wire=0)
    line = writer.connect(0, extra=[("heart-beat", "0,200")])
    writer.send(line, QUEUE, receipt=writer.receipt())
    writer.wait()
    setting = Setting(STOMP, config, "server", MemoryTransport(server_of(BeatsAndForgets)), 1_000.0)
    recording = drive(writer.plan(), setting, "p-")
    assert [blame.breach.requirement for blame in recording.judgement.faults] == ["STOMP-1.2-RECEIPT-01"]
    silence = recording.events[-1]
    beats = [event for event in recording.events if isinstance(event, Said) and not event.frame.command]
    assert len(beats) >= 2, "each 500 ms"
    assert silence.final
    assert 1 <= silence.ms <= 500
    assert silence.ms <= silence.elapsed
    assert recording.stamps[-1] < 1_500


@pytest.mark.parametrize("known", [True, False])
def test_without_time_for_more_nothing_is_told_that_a_known_fault_may_be(known, monkeypatch):
    """A frame with several marks was not taken, and one of the marks is known to matter."""
    hunter, prop, _ = hunting(message([("k", "v")]), server_of(LosesEmpty))
    breach = Breach("server", "STOMP-1.2-SEND-04", "it", kind="one", rivals=("STOMP-1.2-ENC-08 other",))
    recording = SimpleNamespace(judgement=Judgement("fail", (Blame(breach, 3),)))
    fault = SimpleNamespace(recording=recording, deciding=3)
    hunter.sorts = {"STOMP-1.2-ENC-08 other"} if known else {"STOMP-1.2-ENC-07 other"}

    def cut_short(self, case, *more):
        case.proof.fault = fault
        raise TimeUp

    monkeypatch.setattr(Investigator, "_looked_into", cut_short)
    found = Investigator()(hunter, prop, Program((0,), ()), "STOMP-1.2-SEND-04", 0.0)
    assert (found.fault, bool(found.unsettled)) == ((None, True) if known else (fault, False))
