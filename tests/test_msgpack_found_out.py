"""What is found out about clients of MessagePack-RPC beforehand, and what our own reader of codecs cannot follow."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Fact, Said
from specs.msgpack.format import encoded
from specs.msgpack.frames import request, response
from specs.msgpack.lines import DEPTH, Ask, Line, answer
from specs.plan import Say
from specs.protocol import find
from strategies.msgpack import discovery
from strategies.msgpack.discovering import SMALL, within
from strategies.msgpack.documents import Dice
from strategies.msgpack.shapes import Shapes
from tests.test_msgpack_mutants import config_for

MSGPACK = find("msgpack")
CONFIG = MSGPACK.configure("client", "core", {name: fact.default for name, fact in MSGPACK.facts.items()}, {})
FIRST, SECOND = Said(0, "client", request(1, "a")), Said(0, "client", request(2, "b"))
ANSWER = Said(0, "server", response(1, None, 1))


@pytest.mark.parametrize(
    ("events", "found"),
    [
        ((FIRST, SECOND, ANSWER), False),
        ((FIRST, ANSWER, SECOND), True),
        ((FIRST, ANSWER), False),  # a call that never leaves is lost, and not kept back
        ((FIRST,), False),
        ((FIRST, Fact(0, "client", "accepted", 2), SECOND, ANSWER), True),  # by another connection
    ],
)
def test_a_client_that_keeps_a_call_back_until_the_one_before_it_is_answered_is_found_out(events, found):
    assert discovery._one_after_the_other(lambda plan, config: (events, None), CONFIG) is found


@pytest.mark.parametrize(
    ("want", "rule", "bad"),
    [("free", DEPTH, ""), ("free", "12", "JSON of great depth"), ("value", "", "JSON of great depth")],
)
def test_only_a_question_that_is_deep_itself_may_be_answered_deeply(want, rule, bad):
    deep = b'{"id": 1, "ok": {"value": ' + b"[" * 50_000 + b"]" * 50_000 + b"}}"
    assert answer(Ask(1, "decode", b"\x91" * 50_000 + b"\xc0", "plain", want=want, rule=rule), Line(deep)).bad == bad


ASK = (Say(0, request(1, "a")),)
SERVER = MSGPACK.configure("server", "core", {name: fact.default for name, fact in MSGPACK.facts.items()}, {})
SAID, ENDED = Said(0, "server", response(1, None, 1)), Closed(0, "server")


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((SAID, ENDED), (SAID, ENDED), True),
        ((SAID, ENDED), (SAID,), False),
        ((SAID,), (SAID, ENDED), False),
        ((ENDED,), (ENDED,), False),  # one that does not answer breaks down, and is judged
        ((SAID, Closed(0, "client")), (SAID, Closed(0, "client")), False),
    ],
)
def test_a_server_that_ends_each_connection_once_it_has_answered_is_found_out(first, second, found):
    plays = iter((first, second))
    assert discovery._brief(lambda plan, config: (next(plays), None), SERVER, ASK) is found


@pytest.mark.parametrize(("most", "declared", "found"), [
    (1 << 20, 0, 0), (1 << 18, 0, SMALL), (1 << 16, 0, SMALL), (1000, 0, 0),
    (1 << 16, 50_000, 50_000), (1 << 20, 50_000, 50_000),
])  # fmt: skip
def test_how_much_a_peer_takes_is_found_out(most, declared, found):
    """MP-17. Who refuses little as well refuses it for another reason, and is judged."""
    config = replace(config_for("server"), size=declared)
    assert within(config, lambda value: len(encoded(value)) <= most) == found


def test_who_refuses_it_once_takes_it():
    answers = iter((False, True, True))
    assert within(config_for("server"), lambda value: next(answers)) == 0


@pytest.mark.parametrize(("small", "most"), [(True, SMALL), (False, 1 << 21)])
def test_messages_for_who_takes_little_are_small(small, most):
    largest = 0
    for number in range(400):
        shapes = Shapes(Dice(number), base=1, defaults=True, nullable=True, aliases=True, small=small)
        largest = max(largest, len(encoded(tuple(shapes.message(Dice(number, 7))))))
    assert SMALL // 8 < largest <= most
    assert small or largest > SMALL
