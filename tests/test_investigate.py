"""The shortest plan of a fault, and what it is blamed on: features, connections and steps that are not needed go."""

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.reference import Frame, Parser, Refused, Server, Session
from specs.plan import Close, Plan, Say, Wait
from strategies.stomp.writer import CUTS, ORDER, Writer
from suites.shrinking import plainer
from tests.investigating import QUEUE, STOMP, LosesEmpty, blamed_on, config_for, hunted, message


class LosesColons(Session):
    """A message with a colon in a user header goes nowhere."""

    def publish(self, frame: Frame) -> None:
        if not any(":" in name + value for name, value in frame.headers):
            super().publish(frame)


class LosesAll(Session):
    """User headers are left out."""

    def pass_through(self, frame: Frame) -> list[tuple[str, str]]:
        return [pair for pair in super().pass_through(frame) if pair[0] in ("k", "content-type")]


class DestinationFirst(Session):
    """The destination of a SEND is only found when nothing stands before it."""

    def on_SEND(self, frame: Frame) -> None:
        if frame.headers[0][0] != "destination":
            raise Refused("no destination")
        super().on_SEND(frame)


class CommitsNothing(Session):
    """COMMIT is receipted and nothing happens."""

    def commit(self, transaction) -> None:
        transaction.work.clear()


class FullAtFive(Server):
    """The sixth connection and all that follow are not answered."""

    def open(self) -> Session:
        session = super().open()
        self.opened = getattr(self, "opened", 0) + 1
        if self.opened > 5:
            session.send = lambda data: None
        return session


class Whole(Parser):
    """What is left of a segment when no whole frame is in it is thrown away."""

    def next(self) -> Frame | None:
        frame = super().next()
        if frame is None:
            self.__init__(self.switches)
        return frame


@pytest.mark.parametrize(
    ("part", "headers", "requirement"),
    [
        (LosesColons, [("a", "x:y")], "ENC-03"),
        (LosesEmpty, [("a", "")], "ENC-08"),
        (LosesAll, [("a", "")], "SEND-04"),
        (LosesAll, [("é:", " x:")], "SEND-04"),
    ],
)
def test_text_is_to_blame_only_if_plainer_text_would_do(part, headers, requirement):
    assert blamed_on(hunted(message(headers), part)) == requirement


def test_cut_frames_are_to_blame_when_whole_ones_would_do():
    fault = hunted(message([], CUTS), Whole, wire=CUTS)
    assert blamed_on(fault) == "FRAME-06"
    assert fault.features == ("cuts",)


def test_order_of_headers_is_to_blame_when_the_usual_one_would_do():
    assert blamed_on(hunted(message([], ORDER), DestinationFirst, wire=ORDER)) == "HDR-04"


def test_what_another_connection_says_is_left_out():
    def write(w):
        other, line = w.line(1), w.line()
        w.subscribe(line, QUEUE, receipt=w.receipt())
        for each in (other, line):
            w.say(each, "BEGIN", [("transaction", "t"), w.receipt()])
        w.send(line, QUEUE, headers=[("transaction", "t")])
        w.say(line, "COMMIT", [("transaction", "t"), w.receipt()])

    fault = hunted(write, CommitsNothing)
    assert blamed_on(fault) == "TXN-03"
    assert {step.conn for step in fault.plan.steps if not isinstance(step, Wait)} == {0}


def test_server_that_is_spoilt_for_good_is_blamed_for_that():
    def write(w):
        for _ in range(6):
            w.hang(w.connect(0))

    fault = hunted(write, FullAtFive)
    assert blamed_on(fault) == "ROB-01"
    assert "earlier conversation" in fault.why


def test_plainer_plans_are_judged_too():
    writer = Writer(config_for(), wire=CUTS | ORDER)
    message([("a:", "é "), ("b", "")], CUTS | ORDER)(writer)
    writer.hang(writer.line())
    plan = writer.plan()
    smaller = list(plainer(plan, STOMP.features))
    assert all(other != plan and len(other.steps) <= len(plan.steps) for other in smaller)
    assert any(len({s.conn for s in other.steps if isinstance(s, Say)}) == 1 for other in smaller)
    assert any(isinstance(step, Close) for other in smaller for step in other.steps)
    for other in smaller:
        assert isinstance(other, Plan)
        judgement = drive(other, Setting(STOMP, config_for(), "server", MemoryTransport(Server)), "p-").judgement
        assert judgement.verdict in ("pass", "inconclusive"), (other, judgement)
        assert judgement.faults == (), (other, judgement)
