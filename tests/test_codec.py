"""Decoding does not depend on where octets are cut, holds a bounded number of them, and stops at the first fault."""

from __future__ import annotations

import re
import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from specs.codec import Bad, Decoder, Malformed
from specs.stomp import frames as stomp
from specs.stomp.frames import BEAT, Frame, Style, is_beat

LIMIT = 6


class Small:
    """`l` text LF (until), `s` text then `;;` (search), `n` digit octets (exactly), `e` nothing."""

    END = re.compile(rb";;")

    def frame(self, reader):
        kind = yield from reader.exactly(1)
        if kind == b"l":
            return kind, (yield from reader.until(10, LIMIT))
        if kind == b"s":
            start, end = yield from reader.search(self.END, 1, LIMIT)
            text = bytes(reader.buffer[reader.pos : start])
            reader.pos = end
            return kind, text
        if kind == b"n":
            count = yield from reader.exactly(1)
            return kind, (yield from reader.exactly(count[0] % 8))
        if kind == b"e":
            return kind, b""
        raise Malformed("no-kind")


def cuts(data: bytes, at: list[int]) -> list[bytes]:
    edges = sorted({0, len(data), *(offset % (len(data) + 1) for offset in at)})
    return [data[a:b] for a, b in pairwise(edges)]


def octet_by_octet(data: bytes) -> list[bytes]:
    return [bytes([octet]) for octet in data]


def decode(grammar, pieces) -> tuple[list, Decoder]:
    decoder = Decoder(grammar)
    return [item for piece in pieces for item in decoder.feed(piece)], decoder


def same(one: list, other: list) -> bool:
    """Equal items; of a Bad one may have seen more octets than the other when it was certain."""
    if not one or not other or not isinstance(one[-1], Bad) or not isinstance(other[-1], Bad):
        return one == other
    short, long = sorted((one[-1].data, other[-1].data), key=len)
    return one[:-1] == other[:-1] and one[-1].why == other[-1].why and long.startswith(short)


FRAGMENTS = st.sampled_from(
    [b"labc\n", b"sabc;;", b"s;a;;", b"n3abc", b"n\x00", b"e", b"l", b"s", b"n", b";", b"\n", b"ab", b"x"]
)
SMALL = st.lists(FRAGMENTS | st.binary(max_size=3), max_size=12).map(b"".join)
OFFSETS = st.lists(st.integers(0, 999), max_size=8)


@settings(max_examples=500)
@given(SMALL, OFFSETS)
def test_pieces_do_not_matter(data, at):
    whole, one = decode(Small(), [data])
    for pieces in (octet_by_octet(data), cuts(data, at)):
        items, other = decode(Small(), pieces)
        assert same(items, whole)
        assert other.midway == one.midway
        assert (other.bad is None) == (one.bad is None)


@settings(max_examples=300)
@given(SMALL, SMALL)
def test_one_bad_and_then_silence(data, more):
    items, decoder = decode(Small(), [data])
    assert not any(isinstance(item, Bad) for item in items[:-1])
    if decoder.bad is not None:
        assert items[-1] is decoder.bad
        assert decoder.feed(more) == []
        assert not decoder.midway
        assert data.find(decoder.bad.data) >= 0
    else:
        assert not any(isinstance(item, Bad) for item in items)


@given(SMALL)
def test_bad_begins_where_the_frame_does(data):
    """However the octets came: what was read before is the frames, what was not is the Bad."""
    read = 0
    for pieces in ([data], octet_by_octet(data)):
        items, _ = decode(Small(), pieces)
        if items and isinstance(items[-1], Bad):
            sizes = {b"l": 2, b"s": 3, b"n": 2, b"e": 1}
            read = sum(sizes[kind] + len(text) for kind, text in items[:-1])
            assert data[read:].startswith(items[-1].data)
            assert items[-1].data


@pytest.mark.parametrize(("kind", "end"), [(b"l", b"\n"), (b"s", b";;")])
@pytest.mark.parametrize("size", range(LIMIT + 4))
@pytest.mark.parametrize("pieces", [octet_by_octet, lambda data: [data]], ids=["octets", "whole"])
def test_limit_is_exact_whatever_the_pieces(kind, end, size, pieces):
    items, _ = decode(Small(), pieces(kind + b"a" * size + end))
    if size <= LIMIT:
        assert items == [(kind, b"a" * size)]
    else:
        assert [item.why for item in items] == ["over-limit"]


@pytest.mark.parametrize("kind", [b"l", b"s"])
def test_what_never_ends_is_given_up_within_the_limit(kind):
    decoder = Decoder(Small())
    fed = 0
    while decoder.bad is None:
        decoder.feed(b"a" if fed else kind)
        fed += 1
    assert fed <= 1 + LIMIT + 2
    assert decoder.bad.why == "over-limit"


def test_bad_keeps_few_octets():
    decoder = Decoder(Small())
    (bad,) = decoder.feed(b"x" * (1 << 20))
    assert bad.data == b"x" * Decoder.KEEP


@pytest.mark.parametrize(
    ("octets", "midway"),
    [
        (b"", False),
        (b"l", True),
        (b"labc", True),
        (b"labc\n", False),
        (b"labc\nn", True),
        (b"n\x03", True),
        (b"e", False),
    ],
)
def test_midway_is_true_exactly_inside_a_frame(octets, midway):
    for pieces in ([octets], octet_by_octet(octets)):
        assert decode(Small(), pieces)[1].midway is midway


# -- STOMP ---------------------------------------------------------------------------------------------------------

VERSIONS = ("1.0", "1.1", "1.2")
TEXTS = {
    "1.0": st.text("ab9 é東/.-", max_size=5),
    "1.1": st.text("ab9 é東/.-:\n\\c", max_size=5),
    "1.2": st.text("ab9 é東/.-:\n\r\\crn", max_size=5),
}
COMMANDS = st.sampled_from(["SEND", "SUBSCRIBE", "MESSAGE", "ERROR", "RECEIPT", "ACK"])


@st.composite
def spoken(draw, version):
    """A frame that any correct peer may send in a session of `version`."""
    names = TEXTS[version].filter(lambda name: name and name != "content-length")
    headers = draw(st.lists(st.tuples(names, TEXTS[version]), max_size=4))
    body = draw(st.binary(max_size=6))
    if b"\0" in body or draw(st.booleans()):
        headers.insert(draw(st.integers(0, len(headers))), ("content-length", str(len(body))))
    return Frame(draw(COMMANDS), tuple(headers), body)


def beatless(items):
    """Without EOLs between frames: whether they came by themselves is all that a BEAT says."""
    frames = [item for item in items if not (isinstance(item, Frame) and is_beat(item))]
    return [Bad(item.data.lstrip(b"\r\n"), item.why) if isinstance(item, Bad) else item for item in frames]


def grammar(version):
    return stomp.Grammar(version, {"version": version})


@pytest.mark.parametrize("version", VERSIONS)
def test_stomp_frames_survive_the_wire(version):
    eols = st.sampled_from([b"\n", b"\r\n"] if version == "1.2" else [b"\n"])

    @given(spoken(version), eols, st.sampled_from([b"", b"\n", b"\n\n"]))
    def survives(frame, eol, after):
        data = stomp.encode(frame, Style(version, eol, after, after))
        for pieces in ([data], octet_by_octet(data)):
            items, decoder = decode(grammar(version), pieces)
            assert [item for item in items if item != BEAT] == [frame]
            assert not decoder.midway

    survives()


HOSTILE = st.sampled_from(
    [
        b"\x00",
        b"\n",
        b"\r",
        b"\r\n",
        b":",
        b"\\",
        b"\\q",
        b"\\n",
        b"SEND\n",
        b"content-length:2\n",
        b"content-length:\n",
        b"\n\n",
        b"CONNECTED\nversion:1.0\n\n\x00",
        b"CONNECTED\nversion:1.2\n\n\x00",
        b"\xff",
        b"a:b\\cc\n",
        b"MESSAGE\n\nx\x00",
        b"ab",
    ]
)


@pytest.mark.parametrize("version", VERSIONS)
def test_stomp_pieces_do_not_matter(version):
    @settings(max_examples=400)
    @given(st.lists(HOSTILE, max_size=14).map(b"".join), OFFSETS)
    def hold(data, at):
        whole, one = decode(grammar(version), [data])
        for pieces in (octet_by_octet(data), cuts(data, at)):
            items, other = decode(grammar(version), pieces)
            assert same(beatless(items), beatless(whole))
            assert other.midway == one.midway

    hold()


@settings(max_examples=50)
@given(st.lists(spoken("1.2"), min_size=1, max_size=20), OFFSETS)
def test_stomp_streams_come_out_as_they_went_in(frames, at):
    data = b"".join(stomp.encode(frame) for frame in frames)
    assert decode(grammar("1.2"), cuts(data, at))[0] == frames


def test_stomp_head_alone_is_a_frame_begun():
    for head in (b"SEND\n\n", b"SEND\ncontent-length:0\n\n", b"SEND\ncontent-length:3\n\nabc"):
        assert decode(grammar("1.2"), [head])[1].midway
        items, decoder = decode(grammar("1.2"), [head, b"\0"])
        assert len(items) == 1
        assert not decoder.midway


def test_stomp_bad_begins_with_the_command_whatever_the_pieces():
    data = b"SEND\ncontent-length:1\n\nab"
    for pieces in ([data], octet_by_octet(data), [data[:-2], data[-2:]]):
        (bad,), _ = decode(grammar("1.2"), pieces)
        assert bad == Bad(data, "content-length-mismatch")


@pytest.mark.parametrize("head", [b"SEND\n", b"SEND\nname:", b"SEND\ncontent-length:99999999999\n\n", b"SEND\n\n"])
def test_stomp_holds_a_bounded_number_of_octets(head):
    decoder = Decoder(grammar("1.2"))
    decoder.feed(head)
    fed, piece = 0, b"x" * 65_536
    while decoder.bad is None:
        decoder.feed(piece)
        fed += len(piece)
        assert fed <= stomp.MAX_HEAD + stomp.MAX_BODY
    assert decoder.bad.why == "over-limit"


def test_a_thousand_pieces_cost_about_as_much_as_the_whole():
    """Linear, not quadratic: quadratic is some hundred times the price, so a wide bound decides."""
    data = stomp.encode(Frame("SEND", (("destination", "/queue/a"), *[("k", "v" * 100)] * 2000), b"b" * 500_000))
    step = len(data) // 1000
    pieces = [data[at : at + step] for at in range(0, len(data), step)]

    def price(parts):
        best = float("inf")
        for _ in range(5):
            decoder = Decoder(grammar("1.2"))
            began = time.perf_counter()
            items = [item for part in parts for item in decoder.feed(part)]
            best = min(best, time.perf_counter() - began)
            assert len(items) == 1
        return best

    assert price(pieces) < 8 * price([data])
