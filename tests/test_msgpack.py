"""MessagePack: both codecs against each other, the model on the references, and what a reader must bear."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.msgpack import octets as own
from impls.references.msgpack.client import Client
from impls.references.msgpack.codec import Codec
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.reference import Server
from specs.codec import Bad, Malformed
from specs.msgpack import machine, states
from specs.msgpack.changes import changed
from specs.msgpack.format import MAX_DEPTH, WIDEST, decoded, encoded, forms, styled
from specs.msgpack.frames import Frame, decoder, from_json, request, response, shape, to_json
from specs.msgpack.lines import Ask, Line
from specs.msgpack.values import Ext, Float, Map, Text, alike, double, moment, single
from specs.plan import Plan, Ref, Say
from specs.protocol import find
from strategies.common import Op, Program
from strategies.msgpack import misuse, sweeps, values, vectors
from strategies.msgpack.discovery import discover
from tests.drawing import quick
from tests.properties import properties
from tests.soak_msgpack import alarms, config_for

MSGPACK = find("msgpack")
PEERS = {"server": Server, "codec": IdlCodec, "client": Client}
BYTE = st.integers(0, 255)
VALUES = st.one_of(st.builds(values.legal, BYTE, BYTE), st.builds(values.odd, BYTE, BYTE))
few = settings(max_examples=150, deadline=None, database=None, suppress_health_check=list(HealthCheck))


def mirrored(value):
    """The value as the references have it."""
    if isinstance(value, Float):
        return own.Single(value.number) if len(value.octets) == 4 else value.number
    if isinstance(value, Text):
        return own.Odd(value.octets)
    if isinstance(value, Ext):
        return own.Ext(value.code, value.data)
    if isinstance(value, Map):
        return own.Pairs((mirrored(key), mirrored(part)) for key, part in value.pairs)
    return [mirrored(part) for part in value] if isinstance(value, tuple) else value


# -- the format --------------------------------------------------------------------------------------------------------


@few
@given(VALUES, st.integers(0, 300))
def test_every_form_is_read_as_the_same_value(value, style):
    got, _ = decoded(styled(value, style))
    assert alike(value, got)


@few
@given(VALUES)
def test_what_is_written_smallest_is_not_called_wide(value):
    assert decoded(encoded(value))[1] == ()
    assert len(encoded(value)) <= len(styled(value, WIDEST))


@few
@given(VALUES, st.integers(0, 300))
def test_both_codecs_agree(value, style):
    reader = own.Unpacker(max_depth=1000)
    reader.feed(styled(value, style))
    (read,) = reader.values()
    assert repr(read) == repr(mirrored(value))
    again, wide = decoded(own.Packer().pack(read))
    assert wide == ()
    assert alike(value, again)


@few
@given(VALUES, st.integers(0, 300), st.lists(st.integers(1, 9), min_size=1))
def test_pieces_do_not_matter(value, style, sizes):
    data = styled((0, value), style) * 3
    reader, read, at, turn = decoder("server", None, {}), [], 0, 0
    while at < len(data):
        size = sizes[turn % len(sizes)]
        read += reader.feed(data[at : at + size])
        at, turn = at + size, turn + 1
    assert len(read) == 3
    assert all(alike((0, value), frame.body) for frame in read)


@few
@given(VALUES, st.data())
def test_no_beginning_of_a_value_is_one(value, data):
    whole = encoded(value)
    cut = data.draw(st.integers(0, len(whole) - 1))
    with pytest.raises(Malformed, match="truncated"):
        decoded(whole[:cut])


def test_each_first_octet_is_read_or_never_used():
    seen = set()
    for head in range(256):
        try:
            decoded(bytes([head]) + b"\0" * 70_000)
        except Malformed as malformed:
            seen.add((head, malformed.why))
    assert {head for head, why in seen if why == "never-used"} == {0xC1}
    assert {why for _, why in seen} == {"never-used", "trailing"}


@pytest.mark.parametrize(
    "number", [0, 127, 128, 255, 256, 65535, 65536, 2**32, 2**63, 2**64 - 1, -1, -32, -33, -(2**63)]
)
def test_integers_have_a_form_in_every_width_that_holds_them(number):
    found = [head + data for head, data in forms(number)]
    assert len(set(found)) == len(found)
    assert all(decoded(form)[0] == number for form in found)
    assert min(map(len, found)) == len(found[0])


@pytest.mark.parametrize("opener", [b"\x91", b"\x81\xa1k", b"\xdc\x00\x01", b"\x81"])
def test_great_depth_is_refused_at_once(opener):
    with pytest.raises(Malformed, match="too-deep"):
        decoded(opener * 100_000)
    reader = own.Unpacker()
    reader.feed(opener * 100_000)
    with pytest.raises(own.Broken):
        list(reader.values())


def test_the_greatest_depth_can_be_read_compared_and_shown():
    value, _ = decoded(b"\x91" * MAX_DEPTH + b"\x05")
    assert alike(value, value)
    frame = Frame(value)
    assert MSGPACK.describe(frame)


@pytest.mark.parametrize("data", misuse._LIARS)
def test_sizes_that_lie_cost_nothing(data):
    begun = time.process_time()
    reader = decoder("server", None, {})
    read = reader.feed(data)
    assert all(isinstance(item, Bad) for item in read)
    assert time.process_time() - begun < 1.0


def test_timestamps_by_table():
    table = {
        b"\0\0\0\1": (1, 0),
        b"\xff\xff\xff\xff": (2**32 - 1, 0),
        (7 << 34 | 5).to_bytes(8, "big"): (5, 7),
        (999_999_999 << 34 | 2**34 - 1).to_bytes(8, "big"): (2**34 - 1, 999_999_999),
        (3).to_bytes(4, "big") + (-1).to_bytes(8, "big", signed=True): (-1, 3),
        (1_000_000_000 << 34).to_bytes(8, "big"): None,
        b"\0": None,
    }
    assert {data: moment(Ext(-1, data)) for data in table} == table


CONFIG = states.Config("server")


@pytest.mark.parametrize(
    ("sent", "got", "requirement"),
    [
        (1, True, "MP-FMT-04"),
        (2**53 + 1, 2**53, "MP-FMT-04"),
        (double(1.0), 1, "MP-FMT-05"),
        (double(-0.0), double(0.0), "MP-FMT-05"),
        ("a", b"a", "MP-FMT-06"),
        (Text(b"\xff"), None, "MP-FMT-07"),
        (Ext(1, b"a"), None, "MP-FMT-08"),
        (Ext(-1, b"\0\0\0\1"), Ext(-1, b"\0\0\0\2"), "MP-FMT-09"),
        ((1, (2, "x")), (1, (2, "y")), "MP-FMT-01"),
        (Map((("a", 1),)), Map((("a", 2),)), "MP-FMT-04"),
        (single(0.5), double(0.5), None),
        (double(float("nan")), single(float("nan")), None),
        (Map((("a", 1), ("b", 2))), Map((("b", 2), ("a", 1))), None),
        (Ext(-1, b"\0\0\0\1"), Ext(-1, (1).to_bytes(8, "big")), None),
    ],
    ids=str,
)
def test_what_was_changed_is_told_by_its_requirement(sent, got, requirement):
    found = changed(sent, got, CONFIG)
    assert (found and found[0]) == requirement


# -- the model ---------------------------------------------------------------------------------------------------------


def test_the_diagram_shows_every_phase():
    assert all(phase.name in states.diagram() for phase in machine.P)


def config_of(role):
    facts = {"count": "count", "malformed": "close"} if role == "server" else {}
    return config_for(role, MemoryTransport(PEERS[role]), facts)


@pytest.mark.parametrize("role", list(PEERS))
def test_references_are_never_blamed(role):
    for prop, _ in properties("msgpack", role):

        @quick(6)
        @given(prop.programs, st.integers(0, 10_000))
        def keeps(program, number):
            peer = PEERS[role].random(number)
            transport = MemoryTransport(lambda: peer)
            setting = Setting(MSGPACK, config_for(role, transport, {}), role, transport)
            played = drive(prop.plan(program, setting.config), setting, "t-")  # noqa: B023 - within this turn
            assert alarms(played) == []
            assert transport.crash == ""

        keeps()


@pytest.mark.parametrize("role", list(PEERS))
def test_every_requirement_is_covered_on_the_reference(role):
    covered = set()
    config = config_of(role)
    for prop, _ in properties("msgpack", role):

        @quick(25, derandomize=True)
        @given(prop.programs)
        def gather(program):
            plan = prop.plan(program, config)  # noqa: B023 - within this turn
            peer = PEERS[role](**({"order": "last"} if role == "server" else {}))
            covered.update(
                drive(plan, Setting(MSGPACK, config, role, MemoryTransport(lambda: peer)), "t-").judgement.covered
            )
            covered.update(feature.requirement for feature in MSGPACK.features if feature.name in plan.features)

        gather()
    assert {r.id for r in MSGPACK.requirements.binding(role, "core") if not r.untestable} - covered == set()


@pytest.mark.parametrize("way", ["filters", "speaks_json"])
def test_discovery_finds_how_a_codec_is_spoken_to(way):
    class Limited(Codec):
        filters = way == "filters"
        speaks_json = way == "speaks_json"

    config = config_for("codec", MemoryTransport(Limited), {})
    assert config.way == ("filter" if way == "filters" else "plain")


def test_discovery_learns_an_old_server_and_one_number_type():
    old = config_for("server", MemoryTransport(lambda: Server(old_raw=True, one_number=True)), {})
    assert (old.old_raw, old.one_number) == (True, True)
    new = config_for("server", MemoryTransport(Server), {})
    assert (new.old_raw, new.one_number) == (False, False)
    assert not discover.__doc__.isspace()


class Serial(Server):
    """Serves one connection after the other."""

    def __init__(self, **switches):
        super().__init__(**switches)
        self.all = []

    def open(self):
        session = super().open()
        waiting, taken, hung = bytearray(), session.send, session.hang_up

        def send(data):
            waiting.extend(data)
            self.serve()

        def serve():
            taken(bytes(waiting))
            waiting.clear()

        def hang_up():
            hung()
            self.serve()

        session.send, session.serve, session.hang_up = send, serve, hang_up
        self.all.append(session)
        return session

    def serve(self):
        self.all = [session for session in self.all if not session.closed]
        if self.all:
            self.all[0].serve()


def test_a_server_of_one_connection_at_a_time_is_not_blamed():
    transport = MemoryTransport(Serial)
    config = config_for("server", transport, {})
    assert config.serial
    for prop, _ in properties("msgpack", "server"):

        @quick(5)
        @given(prop.programs)
        def keeps(program):
            found = drive(prop.plan(program, config), Setting(MSGPACK, config, "server", MemoryTransport(Serial)), "t-")  # noqa: B023
            assert alarms(found) == []

        keeps()


def test_our_own_misuse_is_no_excuse_for_other_connections():
    plan = Plan((Say(0, Frame(None)), Say(1, request(1, "echo", 1))))

    class Deaf(Server):
        bad = False

        def settle(self):
            if not self.bad:
                super().settle()

        def advance(self, ms):
            self.now += ms

        def open(self):
            session = super().open()
            session.malformed = lambda value: setattr(self, "bad", True)
            return session

    judgement = drive(plan, Setting(MSGPACK, config_of("server"), "server", MemoryTransport(Deaf)), "t-").judgement
    assert [blame.breach.requirement for blame in judgement.blamed] == ["MPRPC-BAD-02"]
    config = MSGPACK.configure("server", "core", {n: f.default for n, f in MSGPACK.facts.items()}, {})
    judgement = drive(plan, Setting(MSGPACK, config, "server", MemoryTransport(Deaf)), "t-").judgement
    assert [blame.breach.requirement for blame in judgement.blamed] == ["MPRPC-BAD-01"]


# -- the bundle --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        request(1, "echo", Map(((1, b"\xff"), ("k", Text(b"\xff")))), Ext(-5, b"x"), double(1.5), None),
        response(Ref("id", "m1"), None, (1, "x")),
        Line(b'{"id":1}'),
        Ask(1, "encode", b"\x05", "plain", "", Ref("value", 1), "either", "08"),
        Ask(1, "encode", b"\x05", "typed", "long", {"$map": [[1, 2]]}),
        {"method": "m", "params_hex": "90", "handle": Ref("handle", "m")},
        {"idl": "message A {}", "behaviour": {"/0/f": {"do": "const", "value": {"text": "t", "map": 1}}}},
        {},
        None,
        7,
    ],
    ids=str,
)
def test_frames_survive_json(frame):
    assert from_json(json.loads(json.dumps(to_json(frame)))) == frame


def test_shapes():
    assert shape((0, 1, "m", ())) == "request"
    assert shape((2, "m", ())) == "notification"
    assert shape((1, None, None, None)) == "response"
    for odd in (
        None,
        (),
        (0, True, "m", ()),
        (False, 1, "m", ()),
        (0, -1, "m", ()),
        (0, 2**32, "m", ()),
        (2, b"m", ()),
    ):
        assert shape(odd) == "odd"


def test_profiles():
    assert all(map(MSGPACK.claims, ("core", "core+def", "core+def+td+ts+meta+if+nosc")))
    assert not any(map(MSGPACK.claims, ("", "def", "core+", "core+x", "core+def+def")))


def test_typed_vectors_name_a_type_for_each_value():
    questions = vectors.Questions(states.Config("codec", way="typed"), hurry=False)
    for value in (1, -1, 2**63, double(1.0), single(1.0), True, "x", b"x", (1, 2), Map((("a", 1),))):
        before = len(questions.steps)
        questions.vector(encoded(value), value)
        assert len(questions.steps) == before + 2
    before = len(questions.steps)
    questions.vector(b"\xc0", None)
    assert len(questions.steps) == before


@pytest.mark.parametrize("deal", range(0, 8 * sweeps.DEALS, 11))
def test_boundaries_are_kept_by_the_references(deal):
    program = Program((deal,), (Op("row"),))
    for role, peer, interpret in (("codec", IdlCodec, sweeps.vectors), ("server", Server, sweeps.calls)):
        config = states.Config(role, way="plain") if role == "codec" else states.Config(role)
        found = drive(interpret(program, config), Setting(MSGPACK, config, role, MemoryTransport(peer)), "b-").judgement
        assert (found.verdict, found.faults) == ("pass", ()), found


def test_every_boundary_is_dealt():
    config = states.Config("codec", way="filter")
    plans = [sweeps.vectors(Program((deal,), (Op("row"),)), config) for deal in range(2 * sweeps.DEALS)]
    asked = {step.frame.octets for plan in plans for step in plan.steps}
    for row in sweeps.ROWS:
        assert encoded(row) in asked
        assert {encoded(value) for value in row} <= asked
