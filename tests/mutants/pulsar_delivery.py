"""Faults of a broker: which messages are pushed, and to whom."""

from __future__ import annotations

from impls.references.pulsar.reference import Session, Subscription
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import EXCLUSIVE, mutant, ready

# -- deliveries --------------------------------------------------------------------------------------------------------


def wide(w: Writer) -> None:
    line = w.line()
    w.ids = 1
    w.flow(w.ear(line, "t", "s", EXCLUSIVE, 12), 5)
    w.send(w.pen(line, "t", 12))


mutant("consumer-ids-of-32-bits", "MSG-01", wide, accept="FLOW-04 FLOW-01 E2E-01")(
    "Keeps 32 bits of consumer ids in MESSAGE.",
    on(Session, "say_message").takes(body=lambda body: {**body, "consumer_id": body["consumer_id"] & 0xFFFFFFFF}),
)


def fifth(w: Writer) -> None:
    ready(w, sends=6)


def alternately(w: Writer) -> None:
    """Messages of two producers in turns, none waited for."""
    _, _, first = ready(w)
    pens = (first, w.pen(w.line(), "t", 1))
    w.settle()
    for n in range(6):
        w.send(pens[n % 2], when="now" if n else "")


@mutant("fifth-left-out", "MSG-03", alternately, accept="FLOW-04 E2E-01", history=True)
class FifthLeftOut(Subscription):
    """Leaves every fifth message out."""

    def next_entry(self) -> int | None:
        at = super().next_entry()
        if at is not None and at == self.fresh and at % 5 == 4:
            self.ack(at)
            return super().next_entry()
        return at


mutant("fourth-twice", "E2E-03", fifth, accept="MSG-03 SUB-07 FLOW-02", history=True)(
    "Pushes every fourth message twice.",
    on(Subscription, "push").after(
        lambda self, consumer, at: consumer.session.deliver(consumer, self.topic.entries[at], 0, []),
        when=lambda at: at % 4 == 3,
    ),
)
