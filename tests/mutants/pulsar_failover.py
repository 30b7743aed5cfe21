"""Faults of a broker: who of many is the master, and who is told."""

from __future__ import annotations

from typing import Any

from impls.references.pulsar.reference import Consumer, Session, Subscription
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
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


mutant("failover-in-turns", "FAIL-01", masters("a", "b"), accept="FAIL-02 MSG-03")(
    "Pushes to the consumers of a Failover subscription in turns.",
    on(Subscription, "eligible").instead(lambda self: self.consumers, when=lambda self: self.kind == FAILOVER),
)
mutant("last-by-name", "FAIL-02", masters("a", "b", apart=True), accept="FAIL-01")(
    "Makes the last by name the master.",
    on(Subscription, "choose_active").instead(lambda self: max(self.consumers, key=self.sort_name)),
)
mutant("first-to-come", "FAIL-02", masters("b", "a", apart=True), accept="FAIL-01", history=True)(
    "Keeps the master that it has, whoever comes.",
    on(Subscription, "choose_active").instead(
        lambda self: self.active, when=lambda self: self.active in self.consumers
    ),
)
mutant(
    "names-in-any-case",
    "FAIL-02",
    masters("B", "a", sends=2),
    accept="FAIL-01",
    history=True,
    unseen="Nobody says in which alphabet names are sorted.",
)(
    "Sorts names of consumers whatever their case.",
    on(Subscription, "sort_name").instead(lambda consumer: consumer.name.lower().encode()),
)
mutant(
    "nobody-takes-over", "FAIL-03", masters("a", "b", leaves=0), accept="FAIL-01 FLOW-04 CLC-03 E2E-01", history=True
)(
    "Chooses no other master when one leaves.",
    on(Subscription, "elect").skips(when=lambda self, joined: joined is None and self.kind == FAILOVER),
)
mutant(
    "taken-over-without-the-rest",
    "FAIL-03",
    masters("a", "b", leaves=0),
    accept="CLC-03 FLOW-04 E2E-01 FAIL-01 CONN-12",
    history=True,
)(
    "What the old master did not acknowledge is lost.",
    on(Subscription, "release").skips(when=lambda self: self.kind == FAILOVER),
)


def fed_twice(w: Writer) -> None:
    """The consumer that stands by is permitted twice, and then it is the master."""
    ears = [w.ear(w.line(at), "t", "s", FAILOVER, at, name) for at, name in enumerate(("a", "b"))]
    for _ in range(2):
        w.flow(ears[1], 2)
    w.close_ear(ears[0])
    pen = w.pen(w.line(), "t")
    for _ in range(4):
        w.send(pen)


mutant(
    "flow-of-the-standby-replaces", "FLOW-03", fed_twice, accept="FLOW-04 FAIL-03 E2E-01 CLC-03 MSG-03", history=True
)(
    "FLOW replaces what is left of a Failover consumer that stands by; that of the master adds.",
    on(Consumer, "grant").before(
        lambda self: setattr(self, "permits", 0),
        when=lambda self: self.subscription.kind == FAILOVER and self.subscription.active is not self,
    ),
)
mutant("all-are-active", "FAIL-04", masters("a", "b"), profile="modern", accept="FAIL-01")(
    "Tells every consumer that it is the active one.", on(Session, "tell_active").takes(active=lambda: True)
)
mutant("nobody-is-told", "FAIL-04", masters("a", "b"), profile="modern", accept="FAIL-01")(
    "Tells nobody who is active.", on(Session, "tell_active").skips()
)
