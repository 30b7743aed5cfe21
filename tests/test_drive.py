"""Whatever an implementation does, a plan ends within its deadline, with what was seen and with a verdict."""

from __future__ import annotations

import contextlib
import resource
import socket
import struct
import threading
import time
from dataclasses import replace

import pytest
from echo import play_in_memory, requirements, setting, shape

from impls.driver import conversation
from impls.driver.drive import PATIENCES, Setting, drive
from impls.driver.link import TcpLink, TcpTransport
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.plan import Plan, Reach, Ref, Say, SendBytes, Wait

PATIENCE_MS = 80.0
SLACK_S = 10.0
"""For a machine that has other things to do; no test waits for it."""


@pytest.fixture
def listen():
    """`listen(handle)` serves each connection with `handle(conn, stop)` in a thread, on a loopback port of its own."""
    stop = threading.Event()
    with contextlib.ExitStack() as stack:
        threads: list[threading.Thread] = []

        def serve(handle):
            door = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
            door.settimeout(0.05)

            def accept():
                while not stop.is_set():
                    with contextlib.suppress(TimeoutError, OSError):
                        conn, _ = door.accept()
                        conn.settimeout(5)
                        threads.append(threading.Thread(target=talk, args=(handle, conn)))
                        threads[-1].start()

            threads.append(threading.Thread(target=accept))
            threads[-1].start()
            return door.getsockname()

        def talk(handle, conn):
            with conn, contextlib.suppress(OSError):
                handle(conn, stop)

        yield serve
        stop.set()
        for thread in threads:
            thread.join(10)


@pytest.fixture
def run(house):
    """Plays steps against an address; the whole must be over within the plan's deadline."""

    def play(address, *steps, patience_ms=PATIENCE_MS):
        where = setting(house, "server", house.reference.server)
        where = replace(where, transport=TcpTransport(lambda: address), patience_ms=patience_ms)
        waits = sum(step.ms for step in steps if isinstance(step, Wait))
        began = time.monotonic()
        played = drive(Plan(steps), where, "q")
        assert time.monotonic() - began < (waits + PATIENCES * patience_ms) / 1000 + SLACK_S
        return played

    return play


def until_told(conn, stop):
    stop.wait(8)


def test_a_server_that_says_nothing_is_blamed_for_it(listen, run, line):
    played = run(listen(until_told), Say(0, line("HELLO")), Say(0, line("BYE")))
    assert (played.judgement.verdict, requirements(played)) == ("fail", ["ECHO-HELLO-02"])
    silence = played.events[-1]
    assert isinstance(silence, Quiet)
    assert silence.final
    assert PATIENCE_MS * 0.9 <= silence.ms <= silence.elapsed


def test_a_server_that_dribbles_has_failed_to_answer(listen, run, line):
    """An octet before each patience is over does not buy an endless plan."""

    def dribble(conn, stop):
        for octet in b"WELCOME" * 8:
            conn.sendall(bytes([octet]))
            if stop.wait(PATIENCE_MS / 1000 / 2):
                return

    played = run(listen(dribble), Say(0, line("HELLO")), Wait(0))
    assert (played.judgement.verdict, requirements(played)) == ("fail", ["ECHO-HELLO-02"])
    assert any(isinstance(event, Fact) and event.name == "octets" for event in played.events)


@pytest.mark.parametrize(
    ("answer_ms", "order"),
    [(20, ["HELLO", "WELCOME", "PUT", "DONE", "PUT", "DONE"]), (9999, ["HELLO", "WELCOME", "PUT", "PUT"])],
    ids=["late", "never"],
)
def test_an_answer_that_is_known_to_be_left_out_is_waited_for_a_little(house, line, answer_ms, order):
    """A tester that did not wait for it at all would speak out of turn; it does not wait with all patience either."""

    class Late(house.mutants.ServerEnd):
        def soon(self, name):
            self.later.append((answer_ms, name))

    silent = setting(house, "server", lambda: house.reference.Host(Late))
    steps = (Say(0, line("HELLO")), Say(0, line("PUT", "a")), Say(0, line("PUT", "b")))
    never = replace(silent, patience_ms=1.0)
    (missed,) = drive(Plan(steps), never, "q").judgement.blamed
    known = replace(silent, set_aside=frozenset({missed.breach.fingerprint, missed.breach.duty}))
    played = drive(Plan(steps), known, "q")
    said = [event.frame.word for event in played.events if isinstance(event, Said)]
    assert said == order
    assert played.judgement.verdict == "pass"
    assert len(played.judgement.known) == 2 * (answer_ms > 50)
    silences = [event.ms for event in played.events if isinstance(event, Quiet) and event.final]
    assert all(50 <= ms < 100 for ms in silences[:-1]), "a quarter of the patience of 200 ms"


@pytest.mark.parametrize(("each_ms", "least_ms"), [(conversation.READING_MS, 100), (100.0, 700)])
def test_the_patience_grows_with_what_has_to_be_read(house, line, monkeypatch, each_ms, least_ms):
    """HELLO has six octets."""

    class Silent(house.mutants.ServerEnd):
        def send(self, data):
            pass

    monkeypatch.setattr(conversation, "READING_MS", each_ms)
    where = replace(setting(house, "server", lambda: house.reference.Host(Silent)), patience_ms=100.0)
    (silence,) = drive(Plan((Say(0, line("HELLO")),)), where, "q").events[-1:]
    assert silence.final
    assert least_ms <= silence.ms < least_ms + 50


def test_what_nobody_answers_has_to_be_read_before_what_is_answered(house, line, monkeypatch):
    """Of `PUT a` with its newline six octets; that nothing is owed behind the first four shows nothing of them."""

    class Deaf(house.mutants.ServerEnd):
        def soon(self, name):
            pass

    monkeypatch.setattr(conversation, "READING_MS", 100.0)
    where = replace(setting(house, "server", lambda: house.reference.Host(Deaf)), patience_ms=100.0)
    steps = (Say(0, line("HELLO")), SendBytes(0, b"PUT "), SendBytes(0, b"a\n"))
    (silence,) = drive(Plan(steps), where, "q").events[-1:]
    assert silence.final
    assert 700 <= silence.ms < 750


def peak_mb():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize(
    "piece", [b"DONE n\n" * 5000, b"WELCOME\nDONE " + b"n" * 40, b"x" * 65_536], ids=["frames", "garbage", "endless"]
)
def test_a_flood_ends_in_bounded_memory(listen, run, line, piece):
    def flood(conn, stop):
        conn.sendall(b"WELCOME\n")
        while not stop.is_set():
            conn.sendall(piece)

    before = peak_mb()
    played = run(listen(flood), Say(0, line("HELLO")), Wait(50), Say(0, line("PUT", "n")))
    assert played.judgement.verdict == "fail"
    assert peak_mb() - before < 100


def test_a_flood_that_breaks_no_rule_is_inconclusive(listen, house, monkeypatch):
    class Patient:
        """Allows whatever the server says, and waits for more."""

        def initial(self, config):
            return 0

        def step(self, state, event):
            from specs.model import Allow  # noqa: PLC0415

            return [Allow(state, ("R-1",))]

        def owed(self, state, role):
            return ("R-1",)

    def flood(conn, stop):
        while not stop.is_set():
            conn.sendall(b"DONE n\n" * 1000)

    monkeypatch.setattr(conversation, "MAX_EVENTS", 2000)
    protocol = replace(house.protocol, model=Patient())
    address = listen(flood)
    where = Setting(protocol, house.states.Config(), "server", TcpTransport(lambda: address), 1000.0)
    played = drive(Plan((Say(0, house.frames.Line("HELLO")), Wait(0))), where, "q")
    assert played.judgement.verdict == "inconclusive"
    assert "octets in" in played.judgement.why
    assert 2000 < len(played.events) < 2000 + 65_536 / 7 + 10
    assert sum(len(data) for _, _, _, data in played.wire) <= conversation.KEEP_WIRE


def test_the_log_of_the_wire_is_cut_where_it_is_full(house, monkeypatch):
    whole = drive(
        Plan((Say(0, house.frames.Line("HELLO")), Wait(0))), setting(house, "server", house.reference.server), "q"
    )
    octets = [data for _, _, _, data in whole.wire]
    assert len(octets[0]) > 2
    monkeypatch.setattr(conversation, "KEEP_WIRE", 2)
    cut = drive(
        Plan((Say(0, house.frames.Line("HELLO")), Wait(0))), setting(house, "server", house.reference.server), "q"
    )
    assert [data for _, _, _, data in cut.wire] == [octets[0][:2]]


def test_a_line_that_never_ends_is_noise(listen, run, line):
    def endless(conn, stop):
        conn.sendall(b"WELCOME")
        while not stop.is_set():
            conn.sendall(b"E" * 10_000)

    played = run(listen(endless), Say(0, line("HELLO")), Wait(0))
    noise = next(event for event in played.events if isinstance(event, Noise))
    assert (noise.by, noise.why) == ("server", "over-limit")
    assert len(noise.data) <= 4096
    assert requirements(played) == ["ECHO-LINE-01"]


def test_half_a_frame_and_the_end_is_no_frame(listen, run, line):
    def half(conn, stop):
        conn.recv(100)
        conn.sendall(b"WELC")

    played = run(listen(half), Say(0, line("HELLO")), Wait(0))
    assert shape(played) == ["client HELLO", "Fact", "Closed"]
    assert requirements(played) == ["ECHO-BYE-02"]


def abort(conn):
    conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    conn.close()


@pytest.mark.parametrize("how", ["closes", "resets"])
def test_an_end_is_one_event_however_it_comes(listen, run, line, how):
    def leave(conn, stop):
        conn.recv(100)
        conn.sendall(b"WELCOME\n")
        conn.recv(100)
        if how == "resets":
            abort(conn)

    played = run(listen(leave), Say(0, line("HELLO")), Say(0, line("PUT", "n")), Wait(0), Say(0, line("BYE")))
    assert [event for event in played.events if isinstance(event, Closed)] == [Closed(0, "server")]
    assert requirements(played) == ["ECHO-BYE-02"]


@pytest.mark.parametrize("how", ["closes", "resets"])
def test_a_server_that_accepts_and_leaves_at_once(listen, run, line, how):
    played = run(listen(lambda conn, stop: abort(conn) if how == "resets" else None), Say(0, line("HELLO")), Wait(0))
    assert played.judgement.verdict == "fail"
    assert played.events[-1] == Closed(0, "server")


def test_a_connection_that_is_reset_before_it_can_be_used(run, line, monkeypatch):
    """Whether connecting fails then or the first write depends on which thread runs first."""

    def reset(address, timeout):
        raise ConnectionResetError(104, "Connection reset by peer")

    monkeypatch.setattr(socket, "create_connection", reset)
    played = run(("127.0.0.1", 9), Say(0, line("HELLO")), Wait(0))
    assert played.judgement.verdict == "fail"
    assert played.events[-1] == Closed(0, "server")


def test_nobody_listens(run, line):
    with socket.create_server(("127.0.0.1", 0)) as door:
        address = door.getsockname()
    played = run(address, Say(0, line("HELLO")), Say(0, line("BYE")))
    assert "cannot connect to 127.0.0.1" in played.refused
    assert [type(event) for event in played.events] == [Fact]
    assert played.judgement.verdict == "pass"
    assert not played.judgement.covered


def test_a_server_that_does_not_read_is_never_blamed_for_half_a_frame(listen, house, monkeypatch):
    """Once a write was cut short nothing more is written, and nothing waits for the same full pipe twice."""
    monkeypatch.setattr(TcpLink, "SEND_S", 0.2)
    address = listen(until_told)
    transport = TcpTransport(lambda: address)
    link = transport.open()
    began = time.monotonic()
    assert not link.send(b"x" * (1 << 25))
    assert not link.send(b"BYE\n")
    assert not link.send(b"BYE\n")
    assert time.monotonic() - began < 0.4 + SLACK_S / 3
    link.close()

    where = replace(setting(house, "server", house.reference.server), transport=transport, patience_ms=PATIENCE_MS)
    played = drive(Plan((SendBytes(0, b"x" * (1 << 25)), Say(0, house.frames.Line("BYE")))), where, "q")
    assert "took no more octets" in played.overflow


def test_what_came_before_a_failed_write_is_still_read(listen, run, line):
    def last_words(conn, stop):
        conn.recv(100)
        conn.sendall(b"WELCOME\nDONE n\n")

    played = run(
        listen(last_words), Say(0, line("HELLO")), *[Say(0, line("PUT", f"n{i}"), when="now") for i in range(40)]
    )
    assert "server WELCOME" in shape(played)


def test_two_full_pipes_do_not_wait_for_each_other(listen):
    def mirror(conn, stop):
        conn.sendall(b"y" * (1 << 22))
        seen = 0
        while seen < 1 << 22 and (data := conn.recv(65_536)):
            seen += len(data)
        conn.sendall(b"!")

    address = listen(mirror)
    link = TcpTransport(lambda: address).open()
    assert link.send(b"x" * (1 << 22))
    heard = 0
    last = b""
    deadline = time.monotonic() + 5
    while last[-1:] != b"!" and time.monotonic() < deadline:
        last = link.take() or b""
        heard += len(last)
    assert heard == (1 << 22) + 1
    link.close("reset")


def test_the_same_plan_gives_the_same_events_in_memory_and_over_tcp(listen, run, house, line):
    def serve(conn, stop):
        end = house.reference.server().open()
        end.chance.choice = lambda options: options[0]
        while not end.closed and (data := conn.recv(1000)):
            end.send(data)
            conn.sendall(end.take())

    steps = (Say(0, line("HELLO"), (2, 4)), Say(0, line("PUT", Ref("name", 1))), Say(0, line("BYE")))
    over_tcp = run(listen(serve), *steps, patience_ms=1000)
    in_memory = play_in_memory(house, house.reference.server, *steps)
    assert [e for e in shape(over_tcp) if e != "Quiet"] == [e for e in shape(in_memory) if e != "Quiet"]
    assert over_tcp.judgement.verdict == in_memory.judgement.verdict == "pass"


@pytest.mark.parametrize(
    "where", ["", "x", "10.0.0.1:80", "127.0.0.1:", "127.0.0.1:99999", "127.0.0.1:²", "127.0.0.1:1"]
)
def test_an_address_where_nobody_is_leaves_out_what_is_said_there(listen, run, line, where):
    def polite(conn, stop):
        while data := conn.recv(100):
            conn.sendall(b"WELCOME\n" * data.count(b"HELLO"))

    played = run(listen(polite), Say(0, line("HELLO")), Reach(1, where), Say(1, line("HELLO")))
    assert played.judgement.verdict == "pass"
    assert played.skipped == 2
