"""Faults of a broker: signs of life, versions, connections that are lost."""

from __future__ import annotations

from collections.abc import Callable

from impls.references.pulsar.reference import Session
from impls.references.pulsar.wire import Message
from specs.pulsar.frames import draft
from strategies.pulsar.writer import Writer
from tests.mutants.faults import on
from tests.mutants.pulsar_kit import mutant, ready


def sends(count: int, topics: int = 1) -> Callable[[Writer], None]:
    """Messages of a producer on each topic, one after the other."""

    def play(w: Writer) -> None:
        pens = [ready(w, topic=topic)[2] if topic == "t" else w.pen(w.line(), topic) for topic in ("t", "tt")[:topics]]
        for number in range(count):
            w.send(pens[number % topics])

    return play


def burst(count: int) -> Callable[[Writer], None]:
    """Messages without waiting."""

    def play(w: Writer) -> None:
        _, _, pen = ready(w)
        w.settle()
        for number in range(count):
            w.send(pen, when="now" if number else "")

    return play


def producers(*names: str, slots: int = 1, topics: int = 1) -> Callable[[Writer], None]:
    """Several producers."""

    def play(w: Writer) -> None:
        w.slots = slots
        for number, name in enumerate(names):
            w.pen(w.line(number), ("t", "tt")[number % topics], number, name)

    return play


# -- versions and signs of life ----------------------------------------------------------------------------------------


def pings(count: int) -> Callable[[Writer], None]:
    """So many PINGs, one after the other."""

    def play(w: Writer) -> None:
        line = w.line()
        for _ in range(count):
            w.ping(line)

    return play


mutant("every-third-ping", "KA-02", pings(3), accept="KA-09", history=True)(
    "Does not answer every third PING.", on(Session, "on_ping").skips(when=lambda calls: calls % 3 == 0)
)
mutant("two-pongs", "KA-02", pings(1))("Answers PING twice.", on(Session, "on_ping").repeats())


def pinged(w: Writer) -> None:
    """A PING between FLOW and the message."""
    line, _, pen = ready(w)
    w.ping(line)
    w.send(pen)


@mutant("ping-takes-permits", "KA-09", pinged, accept="FLOW-04", history=True)
class PingTakesPermits(Session):
    """Forgets all permits when it is PINGed."""

    def on_ping(self, body: Message) -> None:
        super().on_ping(body)
        for consumer in self.consumers.values():
            consumer.permits = 0


def silent(w: Writer) -> None:
    """Two intervals without a word."""
    w.ping(w.line())
    w.wait(w.config.keepalive_ms * 2 + 20_000)


@mutant("no-ping", "KA-03", silent, accept="KA-04")
class NoPing(Session):
    """Never asks whether a client lives."""

    def tick(self) -> None:
        self.next_tick += self.switches.keepalive_ms


mutant("mute-for-ever", "KA-04", silent)(
    "Never gives a silent client up.", on(Session, "tick").before(lambda self: setattr(self, "probed", None))
)


def answered(w: Writer) -> None:
    """Five intervals, each PING answered."""
    line = w.line()
    w.ping(line)
    for _ in range(5):
        w.wait(w.config.keepalive_ms)
        w.say(line, draft("PONG"))


mutant("pong-unheard", "KA-05", answered, accept="KA-06 KA-07", history=True)(
    "Does not take PONG for a sign of life.",
    on(Session, "on_sign_of_life").instead(lambda self: setattr(self, "heard", self.broker.now)),
)
mutant("ping-to-anybody", "VER-01", lambda w: old(w, 0), accept="VER-04 KA-03")(
    "Sends PING to clients of version 0.",
    on(Session, "tick").before(lambda self: setattr(self, "version", max(1, self.version))),
)


def old(w: Writer, version: int) -> None:
    """A client of an old version, and time."""
    w.another(version)
    w.wait(w.config.keepalive_ms + 1000)
    w.wait()


mutant("no-version-is-the-newest", "VER-04", lambda w: old(w, -1), accept="VER-01 KA-03 VER-03")(
    "Takes a client that does not name its version for one of the newest.",
    on(Session, "on_early").takes(body=lambda self, body: {"protocol_version": self.broker.version, **body}),
)


def versions(w: Writer) -> None:
    """A client that is older."""
    w.another(3)
    w.wait()


mutant("own-version", "VER-03", versions, level="SHOULD")(
    "Answers its own version to everybody.", on(Session, "answered_version").instead(lambda self: self.broker.version)
)


# -- connections that end ----------------------------------------------------------------------------------------------


def cut(w: Writer) -> None:
    """A cut, and the same producer and consumer again."""
    w.pen(w.line(), "t", name="p")
    w.ear(w.line(), "t", "s")
    w.hang(0)
    line = w.line(0)
    w.ping(line)
    w.wait(2000)
    w.pen(line, "t", name="p")
    w.ear(line, "t", "s")


mutant("names-survive", "CONN-12", cut, accept="PROD-09 PROD-02", history=True)(
    "Keeps the names of producers whose connection was cut.",
    on(Session, "clean_up").before(lambda self: self.producers.clear()),
)


def cut_with_two(w: Writer) -> None:
    """A cut of two producers, and the second one again."""
    w.pen(w.line(), "t", name="p")
    w.pen(w.line(), "u", 1, name="q")
    w.hang(0)
    line = w.line(0)
    w.ping(line)
    w.wait(2000)
    w.pen(line, "u", 1, name="q")


mutant("second-name-survives", "CONN-12", cut_with_two, accept="PROD-09 PROD-02", history=True)(
    "Frees only the first producer of a connection that was cut.",
    on(Session, "clean_up").before(
        lambda self: [self.producers.pop(number) for number in sorted(self.producers)[1:]],
    ),
)
mutant("consumers-survive", "CONN-12", cut, accept="SUB-05 SUB-01 SUB-12", history=True)(
    "Keeps consumers whose connection was cut.", on(Session, "clean_up").before(lambda self: self.consumers.clear())
)
