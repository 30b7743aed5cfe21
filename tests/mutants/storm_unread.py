"""Faulty hosts whose child does not read, or says much at once, and a bolt that outlives its STDIN."""

from __future__ import annotations

from typing import Any

from impls.references.storm.child import Bolt
from impls.references.storm.host import Host
from impls.references.storm.hosts import BoltHost, SpoutHost
from strategies.storm.host_writer import Writer
from strategies.storm.writer import Writer as ChildWriter
from tests.mutants.storm_kit import child, host
from tests.mutants.storm_plays import case

PIPE = 1 << 16


class Blocks(Host):
    """Whoever writes more than a pipe holds looks at no clock while nobody reads."""

    def counts(self) -> bool:
        return len(self.out) <= PIPE and super().counts()


@host("host-blocks-in-writing", "INV-HOST-24", case("unread", 1), bare=True, level="SHOULD")
class BlocksBolt(Blocks, BoltHost):
    """A tuple that the bolt does not read holds up the clock."""


@host("host-blocks-in-writing-spout", "INV-HOST-24", case("unread", 1), bare=True, level="SHOULD")
class BlocksSpout(Blocks, SpoutHost):
    """A command that the spout does not read holds up the clock."""


def _many_emits(w: Writer) -> None:
    w.call("next")
    w.wait()
    for n in range(6):
        w.emit([n])
    w.sync()


@host("host-four-lists", "SPOUT-07", _many_emits)
class FourLists(SpoutHost):
    """In one command four emits are answered by task ids."""

    lists = 0

    def send(self, message: Any) -> None:
        self.lists = self.lists + 1 if isinstance(message, list) else 0
        if self.lists <= 4:
            super().send(message)


def _half(w: ChildWriter) -> None:
    w.blurt(b'{"id":"77","comp":"words","stream":"default"', "turn")


@child("bolt-waits-for-the-rest", "END-01", _half, level="SHOULD")
class WaitsForTheRest(Bolt):
    """The end of STDIN inside a message ends nothing: the rest is waited for."""

    def end(self) -> None:
        if not self.lines.midway:
            super().end()
