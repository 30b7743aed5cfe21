"""When a test program around a client library is started again, and when it goes on with the next conversation."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from impls.driver.client_harness import LEAVE_S, ClientHarnessLink, ClientHarnessTransport
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
