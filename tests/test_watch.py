"""An implementation in this process that does not return is interrupted: it has crashed, and the run goes on."""

from __future__ import annotations

import contextlib
import signal
import threading
import time

import pytest

from impls.driver import watch
from impls.driver.link import MemoryTransport
from impls.driver.watch import WATCH
from impls.launching.manifest import resolve
from impls.references.stomp.reference import Session
from suites import session as sessions
from suites import started
from suites.head import RunOptions
from suites.properties import properties
from suites.schedule import Share
from tests.mutants.kit import server_of

TICK_S = 0.05


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(watch, "TICK_S", TICK_S)
    before = signal.getsignal(signal.SIGALRM)
    assert WATCH.begin()
    yield
    WATCH.end()
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


class Peer:
    """A server, and its only session."""

    closed = False

    def open(self):
        return self

    def advance(self, ms):
        pass

    def take(self):
        return b""

    def hang_up(self):
        pass

    def send(self, data):
        while True:
            pass


class Stubborn(Peer):
    def send(self, data):
        while True:
            with contextlib.suppress(Exception):
                time.sleep(0.001)


class Asleep(Peer):
    def send(self, data):
        threading.Event().wait()


@pytest.mark.parametrize("peer", [Peer, Stubborn, Asleep])
def test_a_call_that_does_not_return_is_a_crash(watched, peer):
    transport = MemoryTransport(peer)
    link = transport.open()
    assert link.send(b"x") is False
    assert transport.crash.startswith("did not return")
    assert link.take() is None


class Quick(Peer):
    def send(self, data):
        time.sleep(TICK_S / 10)


def test_many_calls_that_return_are_left_alone(watched):
    transport = MemoryTransport(Quick)
    link = transport.open()
    until = time.monotonic() + 2 * watch.TICKS * TICK_S
    while time.monotonic() < until:
        assert link.send(b"x")
    assert transport.crash == ""


def test_our_own_work_is_left_alone(watched):
    until = time.monotonic() + 2 * watch.TICKS * TICK_S
    while time.monotonic() < until:
        pass


def test_elsewhere_than_in_the_main_thread_nothing_is_watched():
    told = []
    thread = threading.Thread(target=lambda: told.append(WATCH.begin()))
    thread.start()
    thread.join()
    assert told == [False]


class Loops(Session):
    """A NACK is never over."""

    def on_NACK(self, frame):
        while True:
            pass


def test_a_run_goes_on_behind_it(tmp_path, monkeypatch):
    monkeypatch.setattr(watch, "TICK_S", TICK_S)
    monkeypatch.setattr(started, "_factory", lambda impl: server_of(Loops))
    (impl,) = (each for each in resolve("reference") if (each.protocol, each.role) == ("stomp", "server"))
    run = sessions.Session(impl, RunOptions(budget_s=4.0, seed=1), tmp_path, "run")
    run.open()
    run.hunt([Share(prop, weight) for prop, weight in properties("stomp", "server")], 4.0, lambda hunter: None)
    run.close()
    fault = run.hunter().faults["STOMP-1.2-ROB-01"]
    assert fault.verdict == "fail"
    assert "it did not return for seconds" in fault.why
    assert len(run.hunter().judged) > 150
    assert run.trouble == ""
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
