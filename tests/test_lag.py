"""`Lagged` never blames a correct peer for what was still on the wire, and still finds faults."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from echo import setting
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from impls.driver.drive import drive
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.lag import MAX_QUEUED, Lag, Lagged
from specs.model import ANYTHING, Allow, Breach, Watcher, judge
from specs.plan import Close, Plan

# -- a correct peer behind slow pipes --------------------------------------------------------------------------------

LONGEST_MS = 40.0
"""The most that octets stay in a pipe: far less than the patience of the run, else silence would prove nothing."""


class Slow:
    """An end of a connection to which octets come late and from which they go late, in any portions."""

    def __init__(self, end, chance):
        self._end, self._chance = end, chance
        self._to, self._from = b"", b""
        self._stalls_ms = 0.0
        self._arrives = False

    @property
    def closed(self):
        return self._end.closed and not self._from

    def send(self, data):
        self._to += data

    def take(self):
        self._move()
        count = self._chance.choice((0, len(self._from), self._chance.randint(0, len(self._from))))
        if self._arrives:
            count, self._arrives = len(self._from), False
        data, self._from = self._from[:count], self._from[count:]
        return data

    def hang_up(self):
        self._end.hang_up()

    def advance(self, ms):
        self._stalls_ms -= ms
        if self._stalls_ms <= 0:
            self._stalls_ms = self._chance.uniform(0, LONGEST_MS)
            self._move(everything=True)
            self._arrives = True

    def _move(self, everything=False):
        count = len(self._to) if everything else self._chance.choice((0, 0, self._chance.randint(0, len(self._to))))
        self._end.send(self._to[:count])
        self._to = self._to[count:]
        self._from += self._end.take()


class SlowHost:
    def __init__(self, host, seed):
        self._host, self._chance, self._ends = host, random.Random(seed), []

    def open(self):
        self._ends.append(Slow(self._host.open(), self._chance))
        return self._ends[-1]

    def advance(self, ms):
        self._host.advance(ms)
        for end in self._ends:
            end.advance(ms)


def play_slowly(house, role, host, program, seed, *, lagged=True):
    where = setting(house, role, lambda: SlowHost(host, seed), lagged=lagged)
    plan = house.plans.interpret(program, where.config, hurry=True)
    if role == "server" and seed % 3 == 0:
        plan = Plan(tuple(step for step in plan.steps if not isinstance(step, Close)))
    return drive(plan, where, "q")


@pytest.mark.parametrize("role", ["server", "client"])
def test_a_correct_peer_is_never_blamed_however_slow_the_wire(house, role):
    verdicts = []

    @settings(max_examples=400, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(program=house.plans.sessions(), seed=st.integers(0, 1 << 20))
    def sound(program, seed):
        played = play_slowly(house, role, getattr(house.reference, role)(seed), program, seed)
        assert played.judgement.verdict in ("pass", "inconclusive"), played.events
        verdicts.append(played.judgement.verdict)

    sound()
    assert verdicts.count("pass") > 0.9 * len(verdicts), "inconclusive is no way to be sound"


def test_without_it_correct_peers_are_blamed(house):
    """Why `Lagged` is needed: the same conversations, judged as if every frame arrived at once."""

    def blamed(pair):
        program, seed = pair
        played = play_slowly(house, "server", house.reference.server(seed), program, seed, lagged=False)
        return played.judgement.verdict == "fail"

    pairs = st.tuples(house.plans.sessions(), st.integers(0, 999))
    limits = settings(max_examples=2000, deadline=None, database=None, phases=[Phase.generate])
    program, seed = find(pairs, blamed, settings=limits, random=random.Random(0))
    played = play_slowly(house, "server", house.reference.server(seed), program, seed)
    assert played.judgement.verdict == "pass"


AMBIGUOUS = {"Scolding": "ECHO-PUT-02"}
"""What it says after octets that are no line may as well have been said before it read them."""


def _pipelined_kill(house, role, mutant):
    extra = (3,) if role == "client" else ()

    def blamed(pair):
        program, seed = pair
        played = play_slowly(house, role, house.reference.Host(mutant, seed, *extra), program, seed)
        return played.judgement.verdict == "fail"

    pairs = st.tuples(house.plans.sessions(), st.integers(0, 999))
    limits = settings(max_examples=300, deadline=None, database=None, phases=[Phase.generate])
    try:
        program, seed = find(pairs, blamed, settings=limits, random=random.Random(0))
    except NoSuchExample:
        return None
    return play_slowly(house, role, house.reference.Host(mutant, seed, *extra), program, seed)


@pytest.mark.parametrize("role", ["server", "client"])
def test_mutants_are_killed_for_what_they_break_in_spite_of_it(house, role):
    mutants = house.mutants.SERVERS if role == "server" else house.mutants.CLIENTS
    for mutant, requirement in mutants.items():
        played = _pipelined_kill(house, role, mutant)
        assert played is not None, mutant.__name__
        (blame,) = played.judgement.blamed
        wanted = {requirement, AMBIGUOUS.get(mutant.__name__)}
        assert wanted & {blame.breach.requirement, *blame.breach.also}, (mutant.__name__, blame)


# -- the rules, one by one -------------------------------------------------------------------------------------------

WRONG = Breach("server", "R-1", "wrong")


class Turns:
    """Inner model. The state is the text of all that was said; the rules are given by what a text ends with."""

    def __init__(self, rules=None, moves=None):
        self.rules, self.moves = rules or {}, moves or {}

    def initial(self, config):
        return ""

    def step(self, state, event):
        word = event.frame if isinstance(event, Said) else f"<{type(event).__name__}>"
        after = state + word
        ending = max((end for end in self.rules if after.endswith(end)), key=len, default=None)
        return [Allow(after)] if ending is None else self.rules[ending](after)

    def drift(self, state):
        return self.moves.get(state, ())

    def owed(self, state, role):
        return ("R-9",) if role == "server" and state.endswith("?") else ()


def mine(word, conn=0):
    return Said(conn, "client", word)


def its(word, conn=0):
    return Said(conn, "server", word)


def lagged(rules=None, moves=None):
    return Lagged(Turns(rules, moves), "client")


def verdict(model, *events):
    return judge(model, None, events, "server")


def no(after):
    return [WRONG]


def test_an_answer_may_come_before_or_behind_what_was_still_on_its_way():
    for order in ("A", "bA", "bcA"):
        rules = {end: no for end in ("A", "bA", "bcA") if end != order}
        rules[order] = lambda after: [Allow(after)]
        assert verdict(lagged(rules), mine("b"), mine("c"), its("A")).verdict == "pass", order
    found = verdict(lagged({"A": no}), mine("b"), mine("c"), its("A"))
    assert (found.verdict, found.blamed[0].breach.requirement, found.blamed[0].at) == ("fail", "R-1", 2)


def test_frames_of_one_connection_are_read_in_order():
    rules = {"A": no, "cA": lambda after: [Allow(after)] if "bc" not in after else [WRONG]}
    assert verdict(lagged(rules), mine("b"), mine("c"), its("A")).verdict == "fail"
    assert verdict(lagged(rules), mine("b"), mine("c", 1), its("A")).verdict == "pass", "of two they need not be"


def test_what_was_read_stays_read():
    rules = {
        "A": no,
        "bA": lambda after: [Allow(after)],
        "B": lambda after: [Allow(after)] if "b" not in after else [WRONG],
    }
    assert verdict(lagged(rules), mine("b"), its("B")).verdict == "pass"
    assert verdict(lagged(rules), mine("b"), its("A"), its("B")).verdict == "fail"


def test_final_silence_is_judged_when_everything_was_read():
    rules = {"<Quiet>": lambda after: [WRONG] if "b" in after else [Allow(after)]}
    assert verdict(lagged(rules), mine("b"), Quiet(5)).verdict == "pass"
    assert verdict(lagged(rules), mine("b"), Quiet(5, 5, final=True)).verdict == "fail"
    rules = {"<Quiet>": lambda after: [WRONG] if "b" not in after else [Allow(after)]}
    assert verdict(lagged(rules), mine("b"), Quiet(5, 5, final=True)).verdict == "pass"


def test_silence_that_is_not_final_says_nothing_of_what_was_read():
    rules = {"<Quiet>": lambda after: [WRONG] if "b" not in after else [Allow(after)], "A": no}
    assert verdict(lagged(rules), mine("b"), Quiet(5)).verdict == "pass"


def test_a_peer_that_closed_reads_no_more_from_there():
    seen = []
    rules = {"A": lambda after: seen.append(after) or [Allow(after)]}
    model = lagged(rules)
    verdict(model, mine("x"), mine("y", 1), Closed(0, "server"), its("A", 1))
    assert seen
    assert not any("<Closed>x" in after or "<Closed>yx" in after for after in seen)
    assert any("<Closed>y" in after for after in seen)


@pytest.mark.parametrize("event", [Noise(0, "client", b"", "x"), Closed(0, "client"), Fact(0, "client", "octets", 1)])
def test_everything_that_we_do_is_on_its_way_first(event):
    word = f"<{type(event).__name__}>"
    rules = {"A": no, f"{word}A": lambda after: [Allow(after)]}
    assert verdict(lagged(rules), event, its("A")).verdict == "pass"
    rules = {f"{word}A": no}
    assert verdict(lagged(rules), event, its("A")).verdict == "pass"


@pytest.mark.parametrize("event", [Noise(0, "server", b"", "x"), Closed(0, "server"), Fact(0, "server", "octets", 1)])
def test_everything_that_the_peer_does_is_judged_at_once(event):
    word = f"<{type(event).__name__}>"
    assert verdict(lagged({word: no}), mine("b"), event).verdict == "fail"


def test_our_own_breach_excuses_only_when_it_may_have_been_read():
    ours = Breach("client", "R-2", "we did wrong")
    model = lagged({"b": lambda after: [ours]})
    assert verdict(model, mine("b")).verdict == "pass"
    found = verdict(lagged({"b": lambda after: [ours], "A": no}), mine("b"), its("A"))
    assert (found.verdict, found.why) == ("inconclusive", "our own side broke the protocol: we did wrong")
    assert verdict(lagged({"b": lambda after: [ours], "A": no}), its("A"), mine("b")).verdict == "fail"
    assert verdict(model, mine("b"), Quiet(1, 1, final=True)).verdict == "inconclusive"


def test_our_own_breach_with_a_stated_consequence_is_judged_on():
    ours = Breach("client", "R-2", "we did wrong", then="sorry")
    rules = {
        "b": lambda after: [ours],
        "sorryA": no,
        "A": no,
        "sorryB": lambda after: [Allow(after, ("R-3",))],
        "B": no,
    }
    assert verdict(lagged(rules), mine("b"), its("A")).verdict == "fail"
    found = verdict(lagged(rules), mine("b"), its("B"))
    assert (found.verdict, found.covered) == ("pass", {"R-3": 1})


def test_a_breach_of_the_peer_that_our_frame_brings_to_light_is_blamed():
    rules = {"b": lambda after: [replace(WRONG, then="t")], "A": no, "tA": lambda after: [Allow(after)]}
    found = verdict(lagged(rules), mine("b"), its("A"))
    assert (found.verdict, found.blamed[0].breach.requirement) == ("fail", "R-1")


def test_anything_may_begin_with_what_is_on_its_way():
    model = lagged({"b": lambda after: [Allow(ANYTHING)], "A": no})
    found = verdict(model, mine("b"), its("A"), its("A"))
    assert (found.verdict, found.blamed) == ("pass", ())
    assert verdict(model, its("A"), mine("b")).verdict == "fail"
    assert verdict(model, mine("b"), Quiet(1, 1, final=True)).excused_from == 1


def test_a_hole_behind_what_is_on_its_way_is_a_hole():
    model = lagged({"b": lambda after: []})
    assert verdict(model, mine("b"), its("A")).verdict == "error"
    assert verdict(lagged({"A": lambda after: []}), mine("b"), its("A")).verdict == "error"


def test_silent_moves_of_the_inner_model_are_tried_between():
    rules = {"A": no, "b!A": lambda after: [Allow(after)], "b!": lambda after: [WRONG]}
    assert verdict(lagged(rules, {"b": ("b!",)}), mine("b"), its("A")).verdict == "pass"
    assert verdict(lagged(rules), mine("b"), its("A")).verdict == "fail"


def test_every_reading_of_the_inner_model_is_kept():
    rules = {"b": lambda after: [Allow("one"), Allow("two")], "A": no, "twoA": lambda after: [Allow(after)]}
    assert verdict(lagged(rules), mine("b"), its("A")).verdict == "pass"


def test_lapses_and_covers_come_through():
    rules = {"A": lambda after: [Allow(after, ("R-3",), (WRONG,))]}
    found = verdict(lagged(rules), mine("b"), its("A"))
    assert (found.verdict, found.covered) == ("pass", {"R-3": 1})
    assert [blame.at for blame in found.lapses] == [1]


def test_a_lapse_that_one_reading_avoids_is_none():
    rules = {"A": lambda after: [Allow(after, lapses=(WRONG,))], "bA": lambda after: [Allow("Ab")]}
    assert verdict(lagged(rules), mine("b"), its("A")).lapses == ()


def test_more_than_the_cap_on_their_way_is_inconclusive():
    """Never a pass and never a fail, and what can be judged before it is."""
    many = [mine("b") for _ in range(MAX_QUEUED + 1)]
    model = lagged({"A": no})
    assert verdict(model, *many[:-1], its("A")).verdict == "fail"
    found = verdict(model, *many, its("A"))
    assert (found.verdict, found.excused_from) == ("inconclusive", MAX_QUEUED)
    assert "on their way" in found.why


def test_too_many_ways_to_have_read_is_inconclusive():
    talk = [mine(str(conn), conn) for conn in range(3) for _ in range(10)]
    found = verdict(lagged(), *talk, its("A"))
    assert found.verdict == "inconclusive"
    assert "too many ways" in found.why


def test_room_is_made_by_answers():
    rules = {"A": no, "bA": lambda after: [Allow("")]}
    talk = [event for _ in range(3 * MAX_QUEUED) for event in (mine("b"), its("A"))]
    assert verdict(lagged(rules), *talk).verdict == "pass"


def test_readings_stay_few_on_several_connections(house):
    """A dozen frames on their way on two connections are still one reading until something is said."""
    protocol = house.protocol
    model = Lagged(protocol.model, "client")
    watcher = Watcher(model, protocol.configure("server", "1", {"puts": 3}, {}), "server")
    line = house.frames.Line
    for conn in (0, 1):
        for frame in (line("HELLO"), *(line("PUT", f"n{i}") for i in range(6))):
            watcher.feed(mine(frame, conn))
    for conn in (0, 1):
        for frame in (line("WELCOME"), *(line("DONE", f"n{i}") for i in range(6))):
            watcher.feed(its(frame, conn))
            assert not watcher.over
            assert len(watcher._readings) <= 4
    assert watcher.judgement().verdict == "pass"


def test_owed_is_what_will_be_due_when_all_was_read():
    model = lagged()
    watcher = Watcher(model, None, "server")
    assert not watcher.owed("server")
    watcher.feed(mine("b?"))
    assert watcher.owed("server")
    assert not watcher.owed("client")
    watcher.feed(its("A"))
    assert not watcher.owed("server"), "in one reading this was the answer"


def test_states_are_values():
    model = lagged()

    def run(*events):
        state = model.initial(None)
        for event in events:
            (outcome,) = model.step(state, event)
            state = outcome.state
        return state

    assert run(mine("b"), mine("c", 1)) == run(mine("c", 1), mine("b"))
    assert run(mine("b"), mine("c")) != run(mine("c"), mine("b"))
    before = run(mine("b"))
    copy = Lag(*before)
    list(model.step(before, its("A")))
    list(model.step(before, mine("c")))
    assert before == copy
