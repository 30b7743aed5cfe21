"""Codecs of MessagePack that are legal though unusual, and what beside them is not: see docs/ambiguities.md."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Said
from specs.msgpack.lines import Ask, Line
from tests.msgpack_verdicts import END, verdict


def test_a_codec_that_says_nothing_to_a_message_is_blamed_for_messages():
    ask = Ask(1, "decode", b"\x91\x05", "idl", "M", {"idl": "message M { 1: int x }"}, "value", "ENC-08")
    asked = Said(0, "user", ask)
    assert verdict("codec", asked, END, way="plain", layout="array-1") == ("MPIDL-ENC-08 MUST",)
    zero = Said(0, "codec", Line(b'{"id":1,"ok":{"value":{"x":null}}}'))
    omitted = Said(0, "user", replace(ask, octets=b"\x90", value={"idl": "message M { 1: optional double x }"}))
    assert verdict("codec", omitted, zero, END, way="plain", layout="array-1") == ()


def recoded(sent, got, want, rule=""):
    """What a filter is blamed for that makes `got` of the octets `sent`, both as hex; "ERR" for a refusal."""
    ask = Ask(1, "recode", bytes.fromhex(sent), "filter", "", None, want, rule)
    return verdict("codec", Said(0, "user", ask), Said(0, "codec", Line(got.encode())), END, way="filter")


@pytest.mark.parametrize(
    ("sent", "got", "blamed"),
    [
        ("8101a161", "80", ("MP-FMT-01 MUST",)),  # the pair is lost
        ("8101a161", "8101a162", ("MP-FMT-01 MUST",)),  # the value is another
        ("8101a161", "81a131a161", ()),  # a map whose keys are texts
        ("8101a161", "8101a161", ()),
        ("8101a161", "ERR", ()),
        ("820105c30a", "81c30a", ()),  # there are languages in which 1 equals true
        ("8101058101", "ERR", ()),
        ("82a16b01a16b02", "81a16b02", ()),  # what repeats is free
    ],
)
def test_only_keys_that_repeat_free_a_map(sent, got, blamed):
    assert recoded(sent, got, "either", "12") == blamed


def test_the_octet_that_is_never_used_is_an_error_by_our_reading():
    assert recoded("c1", "c0", "error", "03") == ("MP-FMT-03 ASSUMED",)
    assert recoded("c1", "ERR", "error", "03") == ()


@pytest.mark.parametrize(
    ("got", "blamed"),
    [
        ("d7ffee6b280000000000", ()),  # 10^9 nanoseconds, carried as they came
        ("ERR", ()),
        ("d6ff00000001", ("MP-FMT-09 SHOULD",)),  # they became a second
        ("c0", ("MP-FMT-09 MUST",)),
    ],
)
def test_a_timestamp_that_names_no_moment_is_carried_or_refused(got, blamed):
    assert recoded("d7ffee6b280000000000", got, "either", "09") == blamed


def test_a_codec_does_not_end_while_nobody_talks():
    ask = Ask(1, "recode", b"\x05", "filter")
    asked, told = Said(0, "user", ask), Said(0, "codec", Line(b"05"))
    assert verdict("codec", asked, told, Closed(0, "codec", "eof"), way="filter") == ("MP-FMT-11 MUST",)
    assert verdict("codec", asked, Closed(0, "codec", "eof"), way="filter") == ("MP-FMT-01 MUST",)
    assert verdict("codec", asked, told, Said(0, "codec", Line(b"more")), way="filter") == ("MP-FMT-01 MUST",)
