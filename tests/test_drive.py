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
from echo import joined, setting

from impls import drive as driving
from impls.drive import PATIENCES, Setting, drive
from impls.link import LinkError, MemoryGround, TcpGround, TcpLink
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.lag import Lagged
from specs.plan import Blurt, Hang, Plan, Reach, Ref, Say, Wait

PATIENCE_MS = 80.0
SLACK_S = 1.5
"""For a machine that has other things to do; no test waits for it."""


@pytest.fixture(scope="module")
def house():
    with joined() as found:
        yield found


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
        where = replace(where, ground=TcpGround(lambda: address), patience_ms=patience_ms)
        waits = sum(step.ms for step in steps if isinstance(step, Wait))
        began = time.monotonic()
        played = drive(Plan(steps), where, "q")
        assert time.monotonic() - began < (waits + PATIENCES * patience_ms) / 1000 + SLACK_S
        return played

    return play


@pytest.fixture
def line(house):
    return house.frames.Line


def play_in_memory(house, make, *steps, **more):
    return drive(Plan(steps), replace(setting(house, "server", make), **more), "q")


def requirements(played):
    return [blame.breach.requirement for blame in played.judgement.blamed]


def shape(played):
    """Events in short."""
    return [
        f"{event.by} {event.frame.word} {event.frame.name}".strip() if isinstance(event, Said) else type(event).__name__
        for event in played.events
    ]


# -- hostile servers over TCP ----------------------------------------------------------------------------------------


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


def test_a_server_that_is_slow_but_right_is_not_blamed(listen, run, line):
    """Each answer comes within the patience, all of them do not come within the plan's deadline."""

    def slow(conn, stop):
        pending = b""
        while data := conn.recv(100):
            pending += data
            while b"\n" in pending:
                said, _, pending = pending.partition(b"\n")
                if stop.wait(PATIENCE_MS / 1000 * 0.6):
                    return
                conn.sendall(b"WELCOME\n" if said == b"HELLO" else b"DONE %b\n" % said[4:])

    steps = [Say(0, line("HELLO")), *[Say(0, line("PUT", f"n{i}")) for i in range(2 * PATIENCES)]]
    played = run(listen(slow), *steps)
    assert played.judgement.verdict == "inconclusive"
    assert "not over after" in played.judgement.why
    assert played.judgement.covered["ECHO-PUT-01"] > 5


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

        drifts = False

        def initial(self, config):
            return 0

        def step(self, state, event):
            from specs.model import Allow  # noqa: PLC0415

            return [Allow(state, ("R-1",))]

        def drift(self, state):
            return ()

        def owed(self, state, role):
            return ("R-1",)

    def flood(conn, stop):
        while not stop.is_set():
            conn.sendall(b"DONE n\n" * 1000)

    monkeypatch.setattr(driving, "MAX_EVENTS", 2000)
    protocol = replace(house.protocol, model=Patient())
    address = listen(flood)
    where = Setting(protocol, house.states.Config(), "server", TcpGround(lambda: address), 1000.0)
    played = drive(Plan((Say(0, house.frames.Line("HELLO")), Wait(0))), where, "q")
    assert played.judgement.verdict == "inconclusive"
    assert "octets in" in played.judgement.why
    assert 2000 < len(played.events) < 2000 + 65_536 / 7 + 10
    assert sum(len(data) for _, _, _, data in played.wire) <= driving.KEEP_WIRE


def test_the_log_of_the_wire_is_cut_where_it_is_full(house, monkeypatch):
    whole = drive(
        Plan((Say(0, house.frames.Line("HELLO")), Wait(0))), setting(house, "server", house.reference.server), "q"
    )
    octets = [data for _, _, _, data in whole.wire]
    assert len(octets[0]) > 2
    monkeypatch.setattr(driving, "KEEP_WIRE", 2)
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
    ground = TcpGround(lambda: address)
    link = ground.open()
    began = time.monotonic()
    assert not link.send(b"x" * (1 << 25))
    assert not link.send(b"BYE\n")
    assert not link.send(b"BYE\n")
    assert time.monotonic() - began < 0.4 + SLACK_S / 3
    link.close()

    where = replace(setting(house, "server", house.reference.server), ground=ground, patience_ms=PATIENCE_MS)
    played = drive(Plan((Blurt(0, b"x" * (1 << 25)), Say(0, house.frames.Line("BYE")))), where, "q")
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
    link = TcpGround(lambda: address).open()
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


# -- steps, in memory ------------------------------------------------------------------------------------------------


class Log:
    """A server that answers nothing unless told to, and remembers each write."""

    def __init__(self, answers=None):
        self.answers = answers or {}
        self.ends = []

    def open(self):
        self.ends.append(End(self))
        return self.ends[-1]

    def advance(self, ms):
        pass


class End:
    def __init__(self, log):
        self.log, self.writes, self.out, self.closed = log, [], b"", False

    def send(self, data):
        self.writes.append(data)
        self.out += self.log.answers.get(data, b"")

    def take(self):
        data, self.out = self.out, b""
        return data

    def hang_up(self):
        self.closed = True


@pytest.fixture
def log():
    return Log({b"HELLO\n": b"WELCOME\n"})


def test_cuts_are_separate_writes_and_add_up(house, line, log):
    for cuts in [(1, 3), (3, 3, 5), (0, 6, 99), ()]:
        play_in_memory(house, lambda: log, Say(0, line("HELLO"), cuts))
        writes = log.ends[-1].writes
        assert b"".join(writes) == b"HELLO\n"
        assert len(writes) == len({cut for cut in cuts if 0 < cut < 6}) + 1
        assert all(writes)


def test_join_is_one_write_with_what_follows(house, line, log):
    play_in_memory(
        house,
        lambda: log,
        Say(0, line("HELLO"), when="join"),
        Say(0, line("PUT", "a"), when="join"),
        Say(0, line("PUT", "b"), (3,), when="now"),
    )
    assert log.ends[0].writes == [b"HELLO\nPUT a\nPUT", b" b\n"]


@pytest.mark.parametrize("last", [Wait(0), Wait(5), Hang(0), Say(1, None), None], ids=str)
def test_what_is_held_back_is_sent_before_anything_else_happens(house, line, log, last):
    last = Say(1, line("HELLO")) if isinstance(last, Say) else last
    steps = [Say(0, line("HELLO"), when="join"), Blurt(0, b"PUT a\n", "join"), *([last] if last else [])]
    play_in_memory(house, lambda: log, *steps)
    assert log.ends[0].writes == [b"HELLO\nPUT a\n"]


def test_refs_are_fresh_names_and_what_was_received(house, line, log):
    played = play_in_memory(
        house,
        lambda: log,
        Say(0, line("HELLO")),
        Say(0, line("PUT", Ref("name", 7)), when="now"),
        Blurt(0, (b"PUT ", Ref("name", 8), b"\n"), "now"),
    )
    assert log.ends[0].writes == [b"HELLO\n", b"PUT q7\n", b"PUT q8\n"]
    assert "client PUT q7" in shape(played)
    assert "client PUT q8" in shape(played)
    assert played.skipped == 0


def test_fresh_names_differ_from_run_to_run(house, line, log):
    plan = Plan((Say(0, line("HELLO")), Say(0, line("PUT", Ref("name", 1)))))
    for fresh in ("r1x", "r2x"):
        drive(plan, setting(house, "server", lambda: log), fresh)
    assert [end.writes[1] for end in log.ends] == [b"PUT r1x1\n", b"PUT r2x1\n"]


def test_steps_that_cannot_be_done_are_counted_and_left_out(house, line, log):
    unknown = Ref("put", (5, 0))
    played = play_in_memory(
        house,
        lambda: log,
        Say(0, line("HELLO")),
        Say(0, line("PUT", unknown)),
        Blurt(0, (b"PUT ", unknown)),
        Say(0, line("PUT", unknown), when="now"),
    )
    assert played.skipped == 3
    assert log.ends[0].writes == [b"HELLO\n"]


def test_a_reference_is_waited_for(house, line):
    """What it names may still be on its way, also when the plan is in a hurry."""
    where = setting(house, "client", lambda: house.reference.client(5), lagged=True)
    steps = (
        Say(0, line("WELCOME")),
        *[Say(0, line("DONE", Ref("put", (0, n))), when="now") for n in range(3)],
        Wait(0),
        Hang(0),
    )
    played = drive(Plan(steps), where, "q")
    assert (played.judgement.verdict, played.skipped) == ("pass", 0)
    assert [event for event in shape(played) if "DONE" in event] == [
        event.replace("client PUT", "server DONE") for event in shape(played) if "PUT" in event
    ]


def test_hang_ends_the_connection_and_what_is_left_for_it(house, line, log):
    played = play_in_memory(
        house, lambda: log, Hang(3), Say(0, line("HELLO")), Wait(0), Hang(0), Say(0, line("BYE")), Hang(0)
    )
    assert log.ends[0].closed
    assert len(log.ends) == 1
    assert [event for event in played.events if isinstance(event, Closed)] == [Closed(0, "client", "close")]
    assert played.judgement.verdict == "inconclusive"


def test_octets_of_our_own_are_told_as_what_they_mean(house, log):
    played = play_in_memory(
        house, lambda: log, Blurt(0, b"HEL", "now"), Blurt(0, b"LO\nPUT ", "now"), Blurt(0, b"\xff\n", "now")
    )
    assert [type(event) for event in played.events if getattr(event, "by", "") == "client"] == [Fact, Said, Fact, Noise]
    assert b"".join(log.ends[0].writes) == b"HELLO\nPUT \xff\n"


def test_a_frame_behind_half_a_frame_is_told_as_what_it_becomes(house, line, log):
    played = play_in_memory(house, lambda: log, Blurt(0, b"HELLO\nPUT", "now"), Say(0, line("BYE"), when="now"))
    noise = next(event for event in played.events if isinstance(event, Noise))
    assert noise.data == b"PUTBYE\n"
    assert not any(event == "client BYE" for event in shape(played))


def test_every_connection_is_closed_whatever_happens(house, line, log):
    class Broken(type(house.protocol.model)):
        def step(self, state, event):
            raise RuntimeError("ours")

    where = setting(house, "server", lambda: log)
    where = replace(where, protocol=replace(where.protocol, model=Broken()))
    with pytest.raises(RuntimeError, match="ours"):
        drive(Plan((Say(0, line("HELLO"), when="now"),)), where, "q")
    assert all(end.closed for end in log.ends)


def test_turns_are_waited_for_and_no_longer(house, line):
    """A plan in turns takes the time of the answers, not of the patience."""
    server = house.reference.server(3)
    where = replace(setting(house, "server", lambda: server), patience_ms=10_000.0)
    steps = [Say(0, line("HELLO")), *[Say(0, line("PUT", f"n{i}")) for i in range(20)], Say(0, line("BYE"))]
    played = drive(Plan(tuple(steps)), where, "q")
    assert played.judgement.verdict == "pass"
    said = [event for event in shape(played) if event != "Quiet"]
    puts = [i for i, event in enumerate(said) if "PUT" in event]
    assert len(puts) == 20
    assert all(said[i + 1] == said[i].replace("client PUT", "server DONE") for i in puts)
    assert played.stamps[-1] < 20 * 20


def test_time_that_passes_in_a_turn_is_told(house, line):
    """Before what comes then: an implementation may do on time what the tester's own silence asks for."""
    server = house.reference.server(3)
    steps = [Say(0, line("HELLO")), *[Say(0, line("PUT", f"n{i}")) for i in range(30)]]
    played = play_in_memory(house, lambda: server, *steps)
    told = sum(event.elapsed for event in played.events if isinstance(event, Quiet))
    assert 0 < played.stamps[-1] - told < 20


def test_waits_note_how_long_it_was_silent(house, log):
    played = play_in_memory(house, lambda: log, Wait(130))
    quiet = played.events[0]
    assert isinstance(quiet, Quiet)
    assert not quiet.final
    assert (quiet.ms, quiet.elapsed) == (130, 130)


def test_silence_is_cut_by_what_was_said(house, line):
    class Late(Log):
        now = 0.0

        def advance(self, ms):
            self.now += ms
            if self.now >= 60 and self.ends and not self.ends[0].out and not self.ends[0].closed:
                self.ends[0].out, self.now = b"WELCOME\n", -1000.0

    late = Late()
    played = play_in_memory(house, lambda: late, Say(0, line("HELLO")), Wait(100))
    said = [event.ms if isinstance(event, Quiet) else event for event in shape_of(played)]
    assert said == ["client HELLO", 60, "server WELCOME", 40, 0]


def shape_of(played):
    return [
        event if isinstance(event, Quiet) else text for event, text in zip(played.events, shape(played), strict=True)
    ]


def test_stamps_stand_beside_every_event_and_never_go_back(house, line):
    played = play_in_memory(house, house.reference.server, Say(0, line("HELLO")), Wait(20), Say(0, line("BYE")))
    assert len(played.stamps) == len(played.events)
    assert played.stamps == sorted(played.stamps)


def test_nothing_is_said_after_everything_is_allowed(house, line):
    log = Log({b"HELLO\n": b"DONE x\n"})
    played = play_in_memory(house, lambda: log, Say(0, line("HELLO")), Say(0, line("PUT", "a")), Say(0, line("BYE")))
    assert log.ends[0].writes == [b"HELLO\n"]
    assert requirements(played) == ["ECHO-HELLO-02"]


def test_connections_are_opened_when_first_spoken_on(house, line, log):
    play_in_memory(house, lambda: log, Wait(0), Hang(2), Say(1, line("HELLO")), Say(0, line("HELLO")))
    assert len(log.ends) == 2


def test_a_refused_connection_ends_the_plan(house, line):
    class Shut(MemoryGround):
        def open(self):
            raise LinkError("no more")

    where = replace(setting(house, "server", house.reference.server), ground=Shut(house.reference.server))
    played = drive(Plan((Say(0, line("HELLO")), Say(0, line("BYE")))), where, "q")
    assert (played.refused, shape(played)) == ("no more", ["Fact"])


@pytest.mark.parametrize("lagged", [False, True], ids=["plain", "lagged"])
def test_what_was_driven_can_be_judged_again(house, line, lagged):
    from specs.model import judge  # noqa: PLC0415

    where = setting(house, "server", house.reference.server, lagged=lagged)
    assert isinstance(where.protocol.model, Lagged) is lagged
    played = drive(Plan((Say(0, line("HELLO")), Say(0, line("PUT", "a")), Say(0, line("BYE")))), where, "q")
    assert judge(where.protocol.model, where.config, tuple(played.events), "server") == played.judgement


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
