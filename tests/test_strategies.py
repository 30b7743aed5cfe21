"""Plans for STOMP: pure functions of their programs, legal where they should be, full of what is easily confused."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Server
from specs.plan import Close, Ref, Say
from specs.protocol import find
from specs.stomp.frames import Frame, Style, decoder, encode
from specs.stomp.headers import RESERVED, TAG
from specs.stomp.states import MODEST, Sizes
from strategies.common import Op, Program
from strategies.stomp import aimed, crossings, misuse, parade, refusals, repeats, sessions, settling
from strategies.stomp.texts import NAMES, ROOTS, VALUES, twisted
from strategies.stomp.writer import PLACES, REPEAT, Writer
from tests.soak import config_of

STOMP = find("stomp")
CONFIG = config_of(Server())
VERSIONS = st.sampled_from(["1.2", "1.1", "1.0"])
BYTE = st.integers(0, 255)
AIMS = {name: aim for name, aim in vars(aimed).items() if isinstance(aim, aimed.Aim)} | dict(aimed.LAWS)
FAMILIES = {
    **{name: (aim.programs, aim.interpret) for name, aim in AIMS.items()},
    "sessions": (sessions.sessions(sessions.EVERYTHING), sessions.interpret),
    "settling": (settling.settlements(), settling.interpret),
    "refusals": (refusals.refusals(), refusals.interpret),
    "parades": (parade.parades(), parade.interpret),
    "crossings": (crossings.crossings(), crossings.interpret),
}
few = settings(
    max_examples=8, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
)


def judged(plan, server=Server):
    return drive(plan, Setting(STOMP, CONFIG, "server", MemoryTransport(server)), "t-").judgement


@given(st.one_of(st.sampled_from(ROOTS), st.text(min_size=1, max_size=40)), BYTE, VERSIONS, st.booleans())
def test_what_is_twisted_differs_and_is_not_empty(text, number, version, shorter):
    other = twisted(text, number, version, shorter=shorter)
    assert other not in ("", text)
    assert shorter or len(other) >= len(text) or len(other.encode()) >= len(text.encode())


@pytest.mark.parametrize("version", ["1.2", "1.1", "1.0"])
def test_every_text_can_be_written_and_read_again(version):
    roots = [root for root in ROOTS if version == "1.2" or root.strip() == root]
    texts = [*VALUES[version], *(twisted(root, n, version) for root in roots for n in range(40))]
    for name, value in [*(("a", text) for text in texts), *((name, "x") for name in NAMES[version])]:
        octets = encode(Frame("SEND", ((name, value),)), Style(version))
        (read,) = decoder("client", CONFIG, {"version": version}).feed(octets)
        assert read.headers == ((name, value),)
        assert len(name) + len(value) <= Sizes().line


def test_user_headers_are_not_those_of_the_protocol():
    for names in NAMES.values():
        assert not set(names) & {*RESERVED, TAG}


@given(st.lists(st.tuples(BYTE, st.sampled_from(["", "t"])), max_size=8), VERSIONS)
def test_identities_are_free(asked, version):
    writer = Writer(CONFIG, version=version)
    taken = set()
    for number, kind in asked:
        identity = writer.identity(kind, number, taken, sorted(taken))
        assert identity
        assert identity not in taken
        taken.add(identity)


def test_the_plainest_identities_are_plain():
    writer = Writer(CONFIG)
    assert (writer.identity("", 0), writer.identity("t", 0)) == ("0", "t0")


@few
@pytest.mark.parametrize("family", FAMILIES)
@given(data=st.data(), hurry=st.booleans())
def test_correct_servers_pass(family, data, hurry):
    programs, interpret = FAMILIES[family]
    program = data.draw(programs)
    plan = interpret(program, CONFIG, hurry=hurry)
    assert plan == interpret(program, CONFIG, hurry=hurry)
    judgement = judged(plan)
    assert judgement.verdict == "pass", judgement


def test_a_stretch_says_every_entry_of_its_part_of_the_table():
    plan = parade.interpret(Program((0,), (Op("values", (3, 0, 31, 3, 0)), Op("values", (0, 1, 8, 0, 1)))), CONFIG)
    values = [
        value for step in plan.steps if isinstance(step, Say) for name, value in step.frame.headers if name == "h0"
    ]
    assert values == [*VALUES["1.2"][3:35:4], *VALUES["1.2"][256:265]]


def test_small_servers_get_no_entry_that_is_too_long_for_them():
    small = replace(CONFIG, sizes=MODEST)
    everything = tuple(Op(kind, (start, 0, 31, 3, 0)) for kind in parade._SHOWS for start in range(0, 128, 32))
    said = [step.frame for step in parade.interpret(Program((0,), everything), small).steps if isinstance(step, Say)]
    assert said
    for frame in said:
        headers = tuple((name, str(value)) for name, value in frame.headers if not isinstance(value, Ref))
        assert not MODEST.exceeded(replace(frame, headers=headers))


@pytest.mark.parametrize("style", range(64, 72))
def test_the_tag_by_which_a_message_is_known_is_never_repeated(style):
    writer = Writer(CONFIG, wire=127)
    writer.send(writer.line(0), PLACES[0], headers=[("foo", "a")], receipt=("receipt", "r"), style=style & ~2)
    names = [name for name, _ in writer.plan().steps[-1].frame.headers]
    assert style & REPEAT
    assert len(set(names)) < len(names)
    assert names.count(TAG) == 1


@pytest.mark.parametrize("form", [0, 1, 2, 3, 4, 5, 7])
@pytest.mark.parametrize("often", [0, 9, 47, 58, 62])
def test_repetitions_are_legal_and_as_many_as_asked_for(form, often):
    plan = sessions.interpret(Program((0, 0, 0), (Op("again", (0, 0, often, form, 0)),)), CONFIG)
    judgement = judged(plan)
    assert judgement.verdict == "pass", judgement
    said = sum(isinstance(step, Say) for step in plan.steps)
    assert said >= min(repeats.COUNTS[often], repeats.MOST_OPEN)


@pytest.mark.parametrize("way", refusals.WRONG)
@pytest.mark.parametrize("a", range(4))
def test_what_is_wrong_is_refused_by_a_correct_server(way, a):
    """The collector gets what the wrong frame must not have touched."""
    plan = refusals.interpret(Program((0, a, 0, 2, 9, 2), ()), CONFIG, names=(way,))
    assert any(isinstance(step, Close) for step in plan.steps)
    judgement = judged(plan)
    assert judgement.verdict == "pass", judgement
    assert "STOMP-1.2-" + way in judgement.covered


def test_lookalike_destinations_are_different_ones():
    for number in range(40):
        for form in range(0, 8, 2):
            writer = Writer(CONFIG)
            repeats.alike(writer, Op("alike", (0, number, form, number, 0)))
            places = [sub.place for line in writer.lines.values() for sub in line.subs]
            assert len(places) == len(set(places)) == 2 + number % 3


def test_places_of_a_plan_are_known_to_the_declared_families():
    assert {place.name for place in PLACES} == {"queue", "topic"}


@pytest.mark.parametrize("form", range(4))
def test_the_receipt_of_a_frame_before_connect_is_plain(form):
    """How it is escaped nobody knows, E-17; the receipts of other wrong frames have traps in them."""
    names = set()
    for around in range(128, 256):
        for name in ("INV-32", "INV-10"):
            plan = misuse.interpret(Program((0, 0, 0, 0, form, 0, around), ()), CONFIG, names=(name,))
            said = [(step.conn, dict(step.frame.headers)) for step in plan.steps if isinstance(step, Say)]
            names |= {(name, receipt) for _, headers in said if ":" in (receipt := headers.get("receipt", ""))}
    assert {name for name, _ in names} == {"INV-10"}
