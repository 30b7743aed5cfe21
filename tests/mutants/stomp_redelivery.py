"""Faults in what comes again, and in how messages flow."""

from __future__ import annotations

from impls.references.stomp.reference import Broker, Delivery, Queue, Session
from strategies.stomp import writer as plans
from tests.mutants.faults import on
from tests.mutants.kit import QUEUE, acked, mutant, plan

# -- what comes again --------------------------------------------------------------------------------------------------


@mutant("settled-come-again", "ACKMODE-08", acked("client", 1, 0), accept="ACKMODE-04")
class SettledComeAgain(Session):
    """When a connection is lost, everything it was given goes back to the queue, settled or not."""

    def on_lost_connection(self) -> None:
        for delivery in getattr(self, "settled", []):
            self.unacked[delivery.key] = delivery
        super().on_lost_connection()

    def release(self, delivery: Delivery) -> None:
        super().release(delivery)
        self.settled = [*getattr(self, "settled", []), delivery]


mutant("only-last-ack-counts", "ACKMODE-08", acked("client-individual", 2, 0, 1), accept="ACKMODE-04")(
    "When a connection is lost, only its last ACK is remembered.",
    on(SettledComeAgain, "on_lost_connection").before(
        lambda self: setattr(self, "settled", getattr(self, "settled", [])[:-1])
    ),
)


@mutant("unacked-lost", "ACK-02", acked("client", 1), accept="ACKMODE-03")
class UnackedLost(Queue):
    """What a lost connection did not acknowledge of a subscription in client mode is gone, every other time."""

    turn = 0

    def take_back(self, deliveries: list[Delivery], where: str) -> None:
        self.turn += any(delivery.subscription.mode == "client" for delivery in deliveries)
        kept = [each for each in deliveries if self.turn % 2 == 0 or each.subscription.mode != "client"]
        super().take_back(kept, where)


@mutant("only-first-unacked-comes-again", "ACK-02", acked("client", 2), accept="ACKMODE-03")
class OnlyFirstUnackedComesAgain(Broker):
    """Of several unacknowledged messages of a lost connection only the first comes again, in client mode."""

    def take_back(self, deliveries: list[Delivery], where: str) -> None:
        cumulative = [each for each in deliveries if each.subscription.mode == "client"]
        super().take_back([each for each in deliveries if each not in cumulative[1:]], where)


mutant("redelivered-twice", "MSG-10", acked("client", 1), accept="ACK-02")(
    "What a lost connection did not acknowledge comes again twice.",
    on(Queue, "take_back").takes(deliveries=lambda deliveries: [*deliveries, *deliveries]),
)


@plan
def _inherited(w: plans.Writer) -> None:
    """What was sent first comes to the second connection last."""
    first, second = w.line(), w.line(1)
    w.subscribe(first, QUEUE, "client", receipt=w.receipt())
    w.send(first, QUEUE, receipt=w.receipt())
    w.wait()
    heir = w.subscribe(second, QUEUE, "client", receipt=w.receipt())
    w.send(second, QUEUE, receipt=w.receipt())
    w.wait()
    w.hang(first)
    w.wait()
    for nth in range(2):
        w.acknowledge(second, heir, nth, receipt=w.receipt())


@mutant(
    "ack-covers-what-was-sent-earlier",
    "ACKMODE-04",
    _inherited,
    accept="ACK-02 ACKMODE-03 ACKMODE-07 NACK-03",
    switches={"queue_order": "idle-first", "nack": "discard"},
)
class AckCoversWhatWasSentEarlier(Session):
    """A cumulative ACK settles what comes again, though it was delivered after the message that is acknowledged."""

    def settle_upto(self, delivery: Delivery) -> list[Delivery]:
        covered, held = super().settle_upto(delivery), delivery.subscription.unacked.values()
        return [*covered, *(each for each in held if each.message.redelivered and each not in covered)]


# -- flow --------------------------------------------------------------------------------------------------------------


def _many(mode: str, count: int):
    def play(w: plans.Writer) -> None:
        line = w.line()
        w.subscribe(line, QUEUE, mode, receipt=w.receipt())
        for _ in range(count):
            w.send(line, QUEUE)

    return plan(play)


def _stated(w: plans.Writer) -> None:
    line = w.line()
    w.subscribe(line, QUEUE, headers=[("ack", "auto")], receipt=w.receipt())
    for _ in range(11):
        w.send(line, QUEUE)


mutant("auto-stops-at-ten", "ACKMODE-01", plan(_stated), accept="SUB-08")(
    "A subscription in mode auto gets no more than ten messages, as if they waited for an ACK.",
    on(Queue, "choose").takes(
        ready=lambda ready: [each for each in ready if each.mode != "auto" or each.delivered < 10]
    ),
)
mutant("default-is-client", "SUB-08", _many("auto", 2), accept="ACKMODE-01", switches={"prefetch": 1})(
    "Without an ack header a subscription waits for ACKs.",
    on(Session, "on_SUBSCRIBE").takes(
        frame=lambda frame: frame if "ack" in frame.first else frame._replace(first={**frame.first, "ack": "client"})
    ),
)


@plan
def _ack_makes_room(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client", receipt=w.receipt())
    w.send(line, QUEUE)
    w.send(line, QUEUE)
    w.wait()
    w.acknowledge(line, sub, 0, receipt=w.receipt())


@mutant("ack-makes-no-room", "SUB-05", _ack_makes_room, accept="ACKMODE-04 ACK-01", switches={"prefetch": 1})
class AckMakesNoRoom(Session):
    """After an ACK the next message is not delivered until something else happens at the queue."""

    def settle(self, delivery: Delivery, accepted: bool) -> None:
        for each in self.covered_by(delivery):
            self.release(each)


@plan
def _five_rounds(w: plans.Writer) -> None:
    line = w.line()
    sub = w.subscribe(line, QUEUE, "client-individual", receipt=w.receipt())
    for nth in range(5):
        w.send(line, QUEUE)
        w.wait()
        if nth < 4:
            w.acknowledge(line, sub, nth, receipt=w.receipt())


mutant("window-never-refilled", "SUB-05", _five_rounds, accept="ACKMODE-05")(
    "A subscription in mode client-individual gets four messages in all: acknowledged ones go on counting.",
    on(Queue, "choose").takes(
        ready=lambda ready: [each for each in ready if each.mode != "client-individual" or each.delivered < 4]
    ),
)
