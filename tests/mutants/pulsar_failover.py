"""Faults of a broker: who of many is the master, and who is told."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from impls.references.pulsar.reference import Consumer, Session, Subscription
from strategies.pulsar.writer import Writer
from tests.mutants.pulsar_kit import FAILOVER, mutant

# -- failover ----------------------------------------------------------------------------------------------------------


def masters(*names: str, sends: int = 3, leaves: int | None = None, apart: bool = False) -> Any:
    """Failover consumers with these names, `apart` on a connection each, and messages; then one of them leaves."""

    def play(w: Writer) -> None:
        line = w.line()
        pen = w.pen(line, "t")
        ears = [
            w.ear(w.line(number) if apart else line, "t", "s", FAILOVER, number, name)
            for number, name in enumerate(names)
        ]
        for ear in ears:
            w.flow(ear, 10)
        for _ in range(sends):
            w.send(pen)
        if leaves is not None:
            w.ping(line)
            w.close_ear(ears[leaves])

    return play


@mutant("failover-in-turns", "FAIL-01", masters("a", "b"), accept="FAIL-02 MSG-03")
class FailoverInTurns(Subscription):
    """Pushes to the consumers of a Failover subscription in turns."""

    def eligible(self) -> list[Consumer]:
        """See `Subscription`."""
        return self.consumers if self.kind == FAILOVER else super().eligible()


@mutant("last-by-name", "FAIL-02", masters("a", "b", apart=True), accept="FAIL-01")
class LastByName(Subscription):
    """Makes the last by name the master."""

    def choose_active(self) -> Consumer:
        """See `Subscription`."""
        return max(self.consumers, key=self.sort_name)


@mutant("first-to-come", "FAIL-02", masters("b", "a", apart=True), accept="FAIL-01", history=True)
class FirstToCome(Subscription):
    """Keeps the master that it has, whoever comes."""

    def choose_active(self) -> Consumer:
        """See `Subscription`."""
        return self.active if self.active in self.consumers else super().choose_active()


@mutant(
    "names-in-any-case",
    "FAIL-02",
    masters("B", "a", sends=2),
    accept="FAIL-01",
    history=True,
    unseen="Nobody says in which alphabet names are sorted.",
)
class NamesInAnyCase(Subscription):
    """Sorts names of consumers whatever their case."""

    def sort_name(self, consumer: Consumer) -> bytes:
        """See `Subscription`."""
        return consumer.name.lower().encode()


@mutant(
    "nobody-takes-over", "FAIL-03", masters("a", "b", leaves=0), accept="FAIL-01 FLOW-04 CLC-03 E2E-01", history=True
)
class NobodyTakesOver(Subscription):
    """Chooses no other master when one leaves."""

    def elect(self, joined: Consumer | None) -> None:
        """See `Subscription`."""
        if joined is not None or self.kind != FAILOVER:
            super().elect(joined)


@mutant(
    "taken-over-without-the-rest",
    "FAIL-03",
    masters("a", "b", leaves=0),
    accept="CLC-03 FLOW-04 E2E-01 FAIL-01 CONN-12",
    history=True,
)
class TakenOverWithoutTheRest(Subscription):
    """What the old master did not acknowledge is lost."""

    def release(self, listed: Iterable[int]) -> None:
        """See `Subscription`."""
        if self.kind != FAILOVER:
            super().release(listed)


@mutant("all-are-active", "FAIL-04", masters("a", "b"), profile="modern", accept="FAIL-01")
class AllAreActive(Session):
    """Tells every consumer that it is the active one."""

    def tell_active(self, consumer: Consumer, active: bool) -> None:
        """See `Session`."""
        super().tell_active(consumer, True)


@mutant(
    "nobody-is-told",
    "FAIL-04",
    masters("a", "b"),
    profile="modern",
    accept="FAIL-01",
)
class NobodyIsTold(Session):
    """Tells nobody who is active."""

    def tell_active(self, consumer: Consumer, active: bool) -> None:
        """See `Session`."""
