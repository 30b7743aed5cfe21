"""What goes on beside the hunt: lanes, where there may be any, and who is blamed when a server dies meanwhile."""

from __future__ import annotations

import itertools
import socket
import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from impls.driver.drive import Recording, Setting
from impls.driver.link import MemoryTransport, TcpTransport
from impls.driver.pipes import PipeTransport
from impls.references.stomp.reference import Server
from specs.model import Judgement
from specs.protocol import find
from strategies.common import programs
from suites import ground
from suites.case import Case
from suites.deadline import Deadline
from suites.ground import Ground
from suites.hunt import Hunter, Investigated, Property
from suites.lanes import SLOW_WIDTH, WIDTH, Lanes, bears

STOMP = find("stomp")


def test_what_lanes_come_to_is_handed_on_where_it_is_collected():
    lanes, here, got = Lanes(2), threading.get_ident(), []
    for number in range(5):
        lanes.submit(lambda number=number: number, lambda found: got.append((found, threading.get_ident())))
    while lanes.pending:
        lanes.wait(5)
        lanes.collect()
    assert sorted(got) == [(number, here) for number in range(5)]


def test_no_more_is_done_at_once_than_there_are_lanes():
    lanes, gate, at_once = Lanes(2), threading.Event(), []
    running = threading.Semaphore(0)

    def work():
        at_once.append(1)
        running.release()
        gate.wait(10)

    for _ in range(5):
        lanes.submit(work, lambda found: None)
    running.acquire()
    running.acquire()
    assert len(at_once) == 2
    assert lanes.pending == 5
    gate.set()
    while lanes.pending:
        lanes.wait(5)
        lanes.collect()
    assert len(at_once) == 5


def test_an_error_in_a_lane_comes_out():
    def fail():
        raise RuntimeError("ours")

    lanes = Lanes()
    lanes.submit(fail, lambda found: None)
    lanes.wait(5)
    with pytest.raises(RuntimeError, match="ours"):
        lanes.collect()


@pytest.fixture
def served():
    """`served(at_once)` is a port where so many connections are served at a time; each is answered one octet."""
    stop = threading.Event()
    doors, threads = [], []

    def serve(at_once):
        door = socket.create_server(("127.0.0.1", 0), backlog=64)
        door.settimeout(0.05)
        doors.append(door)

        def loop():
            while not stop.is_set():
                try:
                    conn, _ = door.accept()
                except TimeoutError:
                    continue
                conn.settimeout(5)
                with conn:
                    if conn.recv(10):
                        conn.sendall(b"!")

        for _ in range(at_once):
            threads.append(threading.Thread(target=loop))
            threads[-1].start()
        return TcpTransport(door.getsockname)

    yield serve
    stop.set()
    for each in (*threads,):
        each.join(10)
    for door in doors:
        door.close()


def asked(transport):
    """Whether a new connection is answered within 300 ms."""
    link = transport.open()
    link.send(b"?")
    transport.wait([link], 300)
    answer = link.take()
    link.close()
    return answer == b"!"


@pytest.mark.parametrize(("at_once", "expected"), [(1, 0), (8, 0), (32, WIDTH)])
def test_who_serves_few_at_a_time_gets_no_lanes(served, at_once, expected):
    transport = served(at_once)
    assert asked(transport)
    assert bears(transport, lambda: asked(transport)) == expected


def test_what_comes_and_goes_alone_is_no_matter_of_who_is_served_beside_it(served):
    """One session in five goes otherwise, alone and beside others; the very first one, too."""
    transport, sessions = served(32), itertools.count()
    assert bears(transport, lambda: asked(transport) and next(sessions) % 5 > 0)


@pytest.mark.parametrize("odd", [1, 4, 8])
def test_what_goes_otherwise_only_beside_others_gets_no_lanes(served, odd):
    """Of the eight that go on at once some go otherwise, and none of those alone."""
    transport, sessions = served(32), itertools.count()
    assert not bears(transport, lambda: asked(transport) and not 1 <= next(sessions) <= odd)


def test_who_is_slow_by_working_gets_no_lanes(served):
    """Each conversation takes 300 ms of the one worker that there is, beside 300 ms for all of them at once."""
    transport, worker = served(32), threading.Lock()

    def works():
        with worker:
            time.sleep(0.3)
        return asked(transport)

    def waits():
        time.sleep(0.3)
        return asked(transport)

    assert bears(transport, waits)
    assert not bears(transport, works)


def test_a_death_with_several_conversations_is_laid_on_the_one_that_brings_it_about_alone(monkeypatch):
    """Two plans are under way when the server dies; played alone, one of them kills it again."""
    dead, both = threading.Event(), threading.Barrier(2)
    played = []

    def drive(plan, setting, fresh):
        played.append(plan)
        if played.count(plan) == 1:
            both.wait(10)
        if plan == "kills":
            dead.set()
        elif played.count(plan) == 1:
            dead.wait(10)
        return SimpleNamespace(events=[], wire=[], judgement=Judgement("fail"), close=lambda: None)

    def settle(recording):
        if not dead.is_set():
            return ""
        dead.clear()
        return "it ended"

    monkeypatch.setattr(ground, "drive", drive)
    monkeypatch.setattr(ground, "replace", lambda thing, **changes: SimpleNamespace(**{**vars_of(thing), **changes}))
    where = SimpleNamespace(role="server", protocol=SimpleNamespace(crash="DIES"), ends=None)
    deadline = Deadline(30)
    place, found = Ground(settle, "w", deadline), {}

    def play(plan):
        found[plan] = place.play(plan, where)

    threads = [threading.Thread(target=play, args=(plan,)) for plan in ("kills", "harmless")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert [blame.breach.requirement for blame in found["kills"].judgement.blamed] == ["DIES"]
    assert found["harmless"].judgement.blamed == ()
    assert played.count("harmless") == 2


@pytest.mark.parametrize(("said_ms", "alone"), [(0.0, [False, True]), (-2000.0, [False, False])])
def test_only_who_had_just_said_something_is_played_again_alone(monkeypatch, said_ms, alone):
    """Who had said nothing for two seconds has not brought the server down: nobody has to stand still meanwhile."""
    taken, ends = [], iter(["it ended"])

    class Crowded(Ground):
        @contextmanager
        def _place(self, *, alone, suspect=None):
            taken.append(alone)
            yield lambda: True

    monkeypatch.setattr(ground, "drive", lambda plan, setting, fresh: Recording(wire=[(said_ms, 0, "sent", b"x")]))
    monkeypatch.setattr(ground, "replace", lambda thing, **changes: SimpleNamespace(**{**vars_of(thing), **changes}))
    Crowded(lambda recording: next(ends, ""), "w", Deadline(30)).play("plan", SimpleNamespace(ends=None))
    assert taken == alone


def test_what_has_brought_it_down_is_played_alone_from_then_on(monkeypatch):
    """The second plan of a property kills; nobody is beside the third, nor beside those that shrink it."""
    died, alone = iter(("", "it ended")), []

    class Watched(Hunter):
        def play(self, plan, setting=None, until=None, *, alone=False):
            taken.append(alone)
            return super().play(plan, setting, until, alone=alone)

    taken = []
    config = STOMP.configure("server", "1.2", {name: fact.default for name, fact in STOMP.facts.items()}, {})
    where = Setting(STOMP, config, "server", MemoryTransport(Server))
    binding = {r.id: r for r in STOMP.requirements.binding("server", "1.2")}

    def look(hunter, prop, program, name, *given):
        case = Case(hunter, prop, name, setting=where)
        alone.append((name, case.shown(STOMP.smoke(config)), taken.pop()))
        return Investigated(None)

    hunter = Watched(where, binding, investigate=look, settle=lambda recording: next(died, ""))
    pursuit = hunter.pursuit(
        Property("smoke", programs({"a": 1}, head=2, most=4), lambda program, config, *, hurry: STOMP.smoke(config))
    )
    for _ in range(3):
        hunter.play_one(pursuit, next(pursuit.draws))
    assert taken == [False, False, True]
    assert alone == [(STOMP.crash, None, True)]


def vars_of(thing):
    """The fields of a judgement or a stand-in."""
    return vars(thing) if hasattr(thing, "__dict__") else {name: getattr(thing, name) for name in thing.__slots__}


def test_nothing_is_played_beside_what_is_played_alone():
    """The one that is alone waits for the others, and the others wait for it."""
    place, order = Ground(lambda recording: "", "w", Deadline()), []
    inside, leave = threading.Event(), threading.Event()

    def other():
        with place._place(alone=False):
            inside.set()
            leave.wait(10)
            order.append("other")

    def alone():
        with place._place(alone=True) as crowd:
            order.append(("alone", crowd()))

    first = threading.Thread(target=other)
    first.start()
    inside.wait(10)
    second = threading.Thread(target=alone)
    second.start()
    until = time.monotonic() + 10
    while not place._alone and time.monotonic() < until:
        time.sleep(0.001)  # that it has come is what we look at
    leave.set()
    first.join(10)
    second.join(10)
    assert order == ["other", ("alone", False)]


def test_a_deadline_stands_still_while_it_is_paused():
    now = [0.0]
    whole = Deadline(10, lambda: now[0])
    part = whole.within(4)
    whole.pause()
    now[0] = 3.0
    assert (whole.left(), part.left()) == (10, 1)
    whole.resume()
    now[0] = 5.0
    assert (whole.left(), part.left()) == (8, 0)
    whole.end()
    assert whole.over()


class Deaf(Server):
    """Says nothing."""

    def open(self):
        session = super().open()
        session.send = lambda data: None
        return session


@pytest.mark.parametrize(("left_s", "blamed"), [(60, True), (0, False)])
def test_a_plan_ends_with_the_run_and_nobody_is_blamed_for_what_is_missing(left_s, blamed):
    facts = {name: fact.default for name, fact in STOMP.facts.items()}
    config = STOMP.configure("server", "1.2", facts, {})
    where = Setting(STOMP, config, "server", MemoryTransport(Deaf))
    recording = Ground(lambda recording: "", "w", Deadline(left_s)).play(STOMP.smoke(config), where)
    assert bool(recording.judgement.faults) is blamed
    assert bool(recording.overflow) is not blamed


@pytest.mark.parametrize("beside", [True, False])
def test_programs_that_are_started_for_each_conversation_are_judged_at_once(beside):
    transport = object.__new__(PipeTransport)
    transport.own = beside
    assert bool(bears(transport)) is beside


def test_more_conversations_are_held_with_a_slow_server(served):
    """It answers after 150 ms, however many ask."""
    transport = served(64)

    def waits():
        time.sleep(0.15)
        return asked(transport)

    assert bears(transport, waits) == SLOW_WIDTH
