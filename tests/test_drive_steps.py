"""What each step of a plan does, in what order, and what is noted of it; in memory."""

from __future__ import annotations

from dataclasses import replace

import pytest
from echo import play_in_memory, requirements, setting, shape

from impls.driver.drive import PATIENCES, drive
from impls.driver.link import LinkError, MemoryTransport
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.lag import Lagged
from specs.plan import Close, Plan, Ref, Say, SendBytes, Wait


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
    for cuts in [(1, 3), (3, 3, 5), (0, 6, 99), (-1, 2), (-6, -7, 1), ()]:
        play_in_memory(house, lambda: log, Say(0, line("HELLO"), cuts))
        writes = log.ends[-1].writes
        assert b"".join(writes) == b"HELLO\n"
        assert len(writes) == len({cut % 6 for cut in cuts if 0 < abs(cut) < 6}) + 1
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


def test_what_is_joined_is_cut_where_it_asks_for_that(house, line, log):
    """The last piece of one shares a write with the first of the next, also where that is held back itself."""
    steps = [
        Say(0, line("HELLO"), (2, -1), "join"),
        Say(0, line("PUT", "a"), (3,), "join"),
        SendBytes(0, b"PUT b\n", "now"),
    ]
    play_in_memory(house, lambda: log, *steps)
    assert log.ends[0].writes == [b"HE", b"LLO", b"\nPUT", b" a\nPUT b\n"]
    play_in_memory(house, lambda: log, *steps[:2], Wait(5), Say(0, line("PUT", "c"), when="now"))
    assert log.ends[1].writes == [b"HE", b"LLO", b"\nPUT", b" a\n", b"PUT c\n"]


@pytest.mark.parametrize("last", [Wait(0), Wait(5), Close(0), Say(1, None), None], ids=str)
def test_what_is_held_back_is_sent_before_anything_else_happens(house, line, log, last):
    last = Say(1, line("HELLO")) if isinstance(last, Say) else last
    steps = [Say(0, line("HELLO"), when="join"), SendBytes(0, b"PUT a\n", "join"), *([last] if last else [])]
    play_in_memory(house, lambda: log, *steps)
    assert log.ends[0].writes == [b"HELLO\nPUT a\n"]


def test_refs_are_fresh_names_and_what_was_received(house, line, log):
    played = play_in_memory(
        house,
        lambda: log,
        Say(0, line("HELLO")),
        Say(0, line("PUT", Ref("name", 7)), when="now"),
        SendBytes(0, (b"PUT ", Ref("name", 8), b"\n"), "now"),
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
        SendBytes(0, (b"PUT ", unknown)),
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
        Close(0),
    )
    played = drive(Plan(steps), where, "q")
    assert (played.judgement.verdict, played.skipped) == ("pass", 0)
    assert [event for event in shape(played) if "DONE" in event] == [
        event.replace("client PUT", "server DONE") for event in shape(played) if "PUT" in event
    ]


def test_hang_ends_the_connection_and_what_is_left_for_it(house, line, log):
    played = play_in_memory(
        house, lambda: log, Close(3), Say(0, line("HELLO")), Wait(0), Close(0), Say(0, line("BYE")), Close(0)
    )
    assert log.ends[0].closed
    assert len(log.ends) == 1
    assert [event for event in played.events if isinstance(event, Closed)] == [Closed(0, "client", "close")]
    assert played.judgement.verdict == "inconclusive"


def test_octets_of_our_own_are_told_as_what_they_mean(house, log):
    played = play_in_memory(
        house,
        lambda: log,
        SendBytes(0, b"HEL", "now"),
        SendBytes(0, b"LO\nPUT ", "now"),
        SendBytes(0, b"\xff\n", "now"),
    )
    assert [type(event) for event in played.events if getattr(event, "by", "") == "client"] == [Fact, Said, Fact, Noise]
    assert b"".join(log.ends[0].writes) == b"HELLO\nPUT \xff\n"


def test_a_frame_behind_half_a_frame_is_told_as_what_it_becomes(house, line, log):
    played = play_in_memory(house, lambda: log, SendBytes(0, b"HELLO\nPUT", "now"), Say(0, line("BYE"), when="now"))
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


class Slow:
    """A server that thinks for 60 ms about everything."""

    def __init__(self):
        self.now, self.due, self.out, self.closed = 0.0, [], b"", False

    def open(self):
        return self

    def advance(self, ms):
        self.now += ms

    def send(self, data):
        for said in data.splitlines():
            answer = b"WELCOME\n" if said == b"HELLO" else b"DONE %b\n" % said[4:]
            self.due.append((max([self.now, *(at for at, _ in self.due)]) + 60, answer))

    def take(self):
        ready, self.due = [each for each in self.due if each[0] <= self.now], [e for e in self.due if e[0] > self.now]
        return b"".join(answer for _, answer in ready)

    def hang_up(self):
        self.closed = True


def test_a_server_that_is_slow_but_right_is_not_blamed(house, line):
    """Each answer comes within the patience, all of them do not come within the plan's deadline."""
    steps = [Say(0, line("HELLO")), *[Say(0, line("PUT", f"n{i}")) for i in range(2 * PATIENCES)]]
    played = play_in_memory(house, Slow, *steps, patience_ms=100.0)
    assert played.judgement.verdict == "inconclusive"
    assert "not over after" in played.judgement.why
    assert played.judgement.covered["ECHO-PUT-01"] > 5


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
    play_in_memory(house, lambda: log, Wait(0), Close(2), Say(1, line("HELLO")), Say(0, line("HELLO")))
    assert len(log.ends) == 2


def test_a_refused_connection_ends_the_plan(house, line):
    class Shut(MemoryTransport):
        def open(self):
            raise LinkError("no more")

    where = replace(setting(house, "server", house.reference.server), transport=Shut(house.reference.server))
    played = drive(Plan((Say(0, line("HELLO")), Say(0, line("BYE")))), where, "q")
    assert (played.refused, shape(played)) == ("no more", ["Fact"])


@pytest.mark.parametrize("lagged", [False, True], ids=["plain", "lagged"])
def test_what_was_driven_can_be_judged_again(house, line, lagged):
    from specs.model import judge  # noqa: PLC0415

    where = setting(house, "server", house.reference.server, lagged=lagged)
    assert isinstance(where.protocol.model, Lagged) is lagged
    played = drive(Plan((Say(0, line("HELLO")), Say(0, line("PUT", "a")), Say(0, line("BYE")))), where, "q")
    assert judge(where.protocol.model, where.config, tuple(played.events), "server") == played.judgement


def test_a_connection_that_follows_another_begins_with_fresh_decoders():
    """The end of the one before need not have been seen: half a frame of it is no part of the next."""
    from types import SimpleNamespace  # noqa: PLC0415

    from impls.driver.drive import _Drive  # noqa: PLC0415
    from specs.plan import Control  # noqa: PLC0415

    opened = []
    control = SimpleNamespace(do=lambda name, value: True, renewed=lambda: name_of_last[0] == "connect")
    line = SimpleNamespace(link="link", control=control, ended=False)
    driver = SimpleNamespace(
        _protocol=SimpleNamespace(resolve=lambda value, memory: value), _played="server",
        _talk=SimpleNamespace(
            memory=None, out=SimpleNamespace(skipped=0), feed=lambda event: None,
            opened=lambda number, link: opened.append((number, link)),
        ),
    )  # fmt: skip
    for name in ("send", "connect"):
        name_of_last = [name]
        _Drive._beside(driver, Control(3, name, {}, "turn"), line)
    assert opened == [(3, "link")]
