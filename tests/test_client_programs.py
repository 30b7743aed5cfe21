"""When a test program around a client library is started again, and when it goes on with the next conversation."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from impls.driver.client_harness import LEAVE_S, ClientHarnessLink, ClientHarnessTransport
from impls.driver.conversation import Conversation, Line
from impls.driver.pipes import Pool

PROGRAM = """
import json, os, socket, sys
peer = None
for line in sys.stdin:
    told = json.loads(line)
    answer = {"ok": os.getpid()}
    if told["op"] == "connect":
        host, port = told["address"].split(":")
        for _ in range(told.get("tries", 0)):
            socket.create_connection((host, int(port))).close()
        if told.get("gives_up"):
            print(json.dumps({"id": told["id"], "error": "it is not there"}), flush=True)
            continue
        peer = socket.create_connection((host, int(port)))
    elif told["op"] == "receive":
        while peer.recv(100):
            pass
        answer = {"error": "the connection has ended"}
    elif told["op"] == "hang":
        while True:
            sys.stdin.buffer.raw.read(1)
    print(json.dumps({"id": told["id"], **answer}), flush=True)
"""


@pytest.fixture
def transport(tmp_path: Path) -> Iterator[ClientHarnessTransport]:
    made = ClientHarnessTransport(Pool("program", [sys.executable, "-c", PROGRAM], dict(os.environ), tmp_path, depth=1))
    yield made
    made.close()


def told(transport: ClientHarnessTransport, *ops: str) -> tuple[ClientHarnessLink, int]:
    """A conversation in which it was connected and then told these, and its process id."""
    link = transport.open()
    assert isinstance(link, ClientHarnessLink)
    link.do("connect", {})
    pid = answered(transport, link)["ok"]
    for op in ops:
        link.do(op, {})
    return link, pid


def closed(transport: ClientHarnessTransport, link: ClientHarnessLink) -> None:
    """End a conversation with a program that takes long to start."""
    transport.pool.warm_s = 2 * LEAVE_S
    link.close()
    transport.pool.warm_s = 0.0


def answered(transport: ClientHarnessTransport, link: ClientHarnessLink) -> Any:
    """The next answer."""
    while True:
        for kind, value in link.facts():
            if kind == "answer":
                return value
        transport.wait([link], 1000.0)


def test_what_ends_with_its_connection_goes_on_with_the_next_conversation(transport: ClientHarnessTransport) -> None:
    link, first = told(transport, "receive", "receive")
    closed(transport, link)
    assert told(transport)[1] == first


def test_what_does_not_end_with_its_connection_is_started_again(transport: ClientHarnessTransport) -> None:
    link, first = told(transport, "hang")
    closed(transport, link)
    assert told(transport)[1] != first


def test_an_answer_that_comes_late_belongs_to_no_later_conversation(transport: ClientHarnessTransport) -> None:
    closed(transport, told(transport, "receive")[0])
    link, pid = told(transport, "wave")
    assert answered(transport, link) == {"op": "wave", "ok": pid}


@pytest.mark.parametrize("tries", [0, 1, 3])
def test_a_connection_that_is_only_tried_is_none(transport: ClientHarnessTransport, tries: int) -> None:
    """A library may see first whether anybody is there: what counts is the connection on which something is said."""
    link = transport.open()
    assert isinstance(link, ClientHarnessLink)
    link.do("connect", {"tries": tries})
    assert "ok" in answered(transport, link)
    assert link.take() == b""
    assert link.send(b"hello")
    link.close()


def test_who_ends_the_only_connection_without_a_word_has_ended_it(transport: ClientHarnessTransport) -> None:
    link = transport.open()
    assert isinstance(link, ClientHarnessLink)
    link.do("connect", {"tries": 1, "gives_up": True})
    while link.take() == b"":
        if "error" in (answered(transport, link) or {}):
            break
    assert link.take() is None
    assert not link.send(b"hello")
    link.close()


def ended(transport: ClientHarnessTransport, *links: ClientHarnessLink) -> None:
    """End conversations, each of which waits for the answer to its disconnect."""
    for link in links:
        link.close()


def test_two_conversations_at_once_are_held_with_two_programs_that_both_go_on(
    transport: ClientHarnessTransport,
) -> None:
    (one, first), (other, second) = told(transport), told(transport)
    assert first != second
    ended(transport, one, other)
    (one, third), (other, fourth) = told(transport), told(transport)
    assert {third, fourth} == {first, second}
    ended(transport, one, one, other)  # who ends one twice does not free its program twice
    pids = [told(transport)[1] for _ in range(3)]
    assert len(set(pids)) == len(pids)


def test_a_thread_gets_the_program_of_an_earlier_conversation_and_the_others_leave_it_free(
    transport: ClientHarnessTransport,
) -> None:
    (one, first), (other, second) = told(transport), told(transport)
    place = one.kept
    ended(transport, one, other)
    with ThreadPoolExecutor(1) as elsewhere, transport.again(place):
        assert elsewhere.submit(told, transport).result()[1] == second
        assert elsewhere.submit(told, transport).result()[1] not in (first, second)
        for _ in range(2):
            link, pid = told(transport)
            assert pid == first
            ended(transport, link)
    assert told(transport)[1] == first  # it is last in, first out again


def test_what_is_started_in_the_place_of_a_program_is_kept_for_the_thread_as_well(
    transport: ClientHarnessTransport,
) -> None:
    link, first = told(transport)
    place = link.kept
    ended(transport, link)
    with ThreadPoolExecutor(1) as elsewhere, transport.again(place):
        link, pid = told(transport, "hang")
        assert pid == first
        ended(transport, link)
        link, second = told(transport)
        assert second != first
        ended(transport, link)
        assert elsewhere.submit(told, transport).result()[1] not in (first, second)
        assert told(transport)[1] == second
    with transport.again(place):  # it is gone
        assert told(transport)[1] not in (first, second)


def test_a_program_that_is_started_in_mid_conversation_is_waited_for_as_well() -> None:
    """What was said on another connection does not show that this one's program is there."""
    talk = object.__new__(Conversation)
    talk._transport = SimpleNamespace(starting_ms=500.0)  # type: ignore[assignment]
    first, second = (Line(SimpleNamespace(), SimpleNamespace(), SimpleNamespace()) for _ in range(2))  # type: ignore[arg-type]
    talk.lines = {0: first}
    assert talk._starting_ms() == 500.0
    first.starting = False
    assert talk._starting_ms() == 0.0
    talk.lines[1] = second
    assert talk._starting_ms() == 500.0
    talk._transport = SimpleNamespace()  # type: ignore[assignment]
    assert talk._starting_ms() == 0.0, "nothing was started for it"
