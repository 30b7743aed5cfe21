"""Short scenes, one behind the other in one conversation: something is open, its neighbour ends, and then it is used.

`crossings.py` draws what stands side by side and meets a certain pair once in a hundred conversations. Here each pair
is a row of a table, and the table is dealt in turn, so that some dozens of conversations see all of it. In a scene a
subscription, a transaction and a receipt have one name, whatever they are. Each scene has destinations of its own.
Source: 003_30478fd2f19f0da0.txt L129-193; STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE, ACK, BEGIN, COMMIT, ABORT, DISCONNECT.
"""

from __future__ import annotations

from collections.abc import Callable

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp import neighbours_more
from strategies.stomp.sessions import version_of
from strategies.stomp.stage import COLLECTOR, Stage
from strategies.stomp.texts import root, twisted
from strategies.stomp.writer import Writer

HEAD = 4
ROW = 1
"""The head number that says which scene comes first."""
SCENES = 4
"""Scenes of one conversation."""


def neighbours() -> SearchStrategy[Program]:
    """A program is its head: nothing else is drawn."""
    return programs({"none": 1}, head=HEAD, most=0, least=0)


def interpret(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Head: the version, which scene comes first, the names, and by how much the next scene is further on. The last two
    also say what is different in scenes that have several forms."""
    version, first, names, step = program.head
    writer = Writer(config, version=version_of(version, config), hurry=hurry)
    rows = (*_ROWS, *neighbours_more.ROWS)
    for nth in range(SCENES):
        scene = rows[(first + nth * (1 + step % 7)) % len(rows)]
        one, other = _names(names + nth if names else 0, writer.version)
        scene(Stage(writer, nth, f"{one}{nth or ''}", f"{other}{nth or ''}", step // 7 + names // 4 + nth))
        writer.wait()
    return writer.plan()


def _names(number: int, version: str) -> tuple[str, str]:
    first = root(number >> 3, version) if number & 1 else ("a", "t", "0", "Ab")[number >> 1 & 3]
    other = twisted(first, number >> 2, version)
    return first, other if other != first else f"{first}2"


_ROWS: list[Callable[[Stage], None]] = []


def _scene(row: Callable[[Stage], None]) -> Callable[[Stage], None]:
    _ROWS.append(row)
    return row


# -- one name for things of several kinds ------------------------------------------------------------------------------


@_scene
def _a_receipt_and_a_subscription(s: Stage) -> None:
    s.hears(s.name)
    s.writer.send(s.line, s.place("queue"), receipt=("receipt", s.name))
    s.sends()


@_scene
def _a_receipt_that_two_ask_for(s: Stage) -> None:
    """Both are read at once."""
    s.hears(s.other)
    s.writer.send(s.line, s.place(), receipt=("receipt", s.name), when="join")
    s.writer.send(s.line, s.place(), receipt=("receipt", s.name), when="now")
    s.writer.features.add("together")


@_scene
def _a_receipt_and_a_transaction(s: Stage) -> None:
    s.hears(s.other)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.writer.send(s.line, s.place("queue"), receipt=("receipt", s.name))
    s.tx("COMMIT", s.name)


@_scene
def _a_transaction_that_commits_and_a_subscription(s: Stage) -> None:
    s.hears(s.name)
    s.tx("BEGIN", s.name)
    for _ in range(5):
        s.sends(kind="queue", tx=s.name)
    s.tx("COMMIT", s.name)
    s.sends()


@_scene
def _a_transaction_that_aborts_and_a_subscription(s: Stage) -> None:
    s.hears(s.name)
    s.tx("BEGIN", s.name)
    for _ in range(3):
        s.sends(kind="queue", tx=s.name)
    s.tx("ABORT", s.name)
    s.sends()


@_scene
def _a_subscription_that_ends_and_a_transaction(s: Stage) -> None:
    s.hears(s.other)
    sub = s.hears(s.name, key="b")
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.writer.unsubscribe(s.line, sub, receipt=s.writer.receipt())
    s.tx("COMMIT", s.name)


# -- transactions ------------------------------------------------------------------------------------------------------


@_scene
def _an_abort_beside_acknowledgements(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    s.tx("BEGIN", s.name, line)
    s.tx("BEGIN", s.other, line)
    s.acks(line, sub, 0, s.name)
    s.sends(line=line, kind="queue", key="b", tx=s.other)
    s.tx("ABORT", s.other, line)
    s.tx("COMMIT", s.name, line)
    s.collects(line)


@_scene
def _a_commit_beside_acknowledgements(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    s.tx("BEGIN", s.name, line)
    s.tx("BEGIN", s.other, line)
    s.acks(line, sub, 1, s.name)
    s.tx("COMMIT", s.other, line)
    s.collects(line)


@_scene
def _a_name_that_was_committed_before(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    s.tx("BEGIN", s.name, line)
    s.sends(line=line, kind="queue", key="b", tx=s.name)
    s.tx("COMMIT", s.name, line)
    s.tx("BEGIN", s.name, line)
    s.acks(line, sub, 0, s.name)
    s.collects(line)


@_scene
def _a_name_that_was_aborted_before(s: Stage) -> None:
    s.hears(s.other)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.tx("ABORT", s.name)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.tx("COMMIT", s.name)
    s.tx("BEGIN", s.name)
    s.tx("COMMIT", s.name)


@_scene
def _three_of_which_the_second_ends(s: Stage) -> None:
    s.hears(s.other)
    names = (s.name, s.other, f"{s.name}3")
    for name in names:
        s.tx("BEGIN", name)
    for name in (*names, names[0]):
        s.sends(tx=name)
    s.tx("ABORT", names[1])
    s.tx("COMMIT", names[2])
    s.tx("COMMIT", names[0])


@_scene
def _an_acknowledgement_that_is_taken_back(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    s.tx("BEGIN", s.name, line)
    s.acks(line, sub, 0, s.name)
    s.acks(line, sub, 1, None)
    s.tx("ABORT", s.name, line)
    s.collects(line)


@_scene
def _an_acknowledgement_that_is_taken_back_and_its_name_again(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    s.tx("BEGIN", s.name, line)
    s.acks(line, sub, 0, s.name)
    s.tx("ABORT", s.name, line)
    s.tx("BEGIN", s.name, line)
    s.tx("COMMIT", s.name, line)
    sub.taken.clear()
    s.acks(line, sub, 0)
    s.collects(line)


@_scene
def _a_subscription_made_while_one_is_open(s: Stage) -> None:
    s.tx("BEGIN", s.name)
    s.sends(kind="queue", key="b", tx=s.name)
    s.hears(s.name)
    s.tx("ABORT", s.name)
    s.sends()


@_scene
def _a_destination_that_is_left_by_one(s: Stage) -> None:
    s.hears(s.other, line=s.elsewhere)
    sub = s.hears(s.name)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.writer.unsubscribe(s.line, sub, receipt=s.writer.receipt())
    s.tx("COMMIT", s.name)


# -- subscriptions -----------------------------------------------------------------------------------------------------


@_scene
def _four_of_which_the_second_ends(s: Stage) -> None:
    subs = [s.hears(name) for name in (s.name, s.other, f"{s.name}3", f"{s.name}4")]
    s.sends()
    s.writer.unsubscribe(s.line, subs[1], receipt=s.writer.receipt())
    s.sends()
    s.hears(s.other, key="b")
    s.sends()


@_scene
def _one_that_ends_beside_one_that_holds(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    s.holds(line, s.name, 3)
    sub = s.hears(s.other, line=line, kind="queue", key="b", mode="client")
    s.writer.unsubscribe(line, sub, receipt=s.writer.receipt())
    s.collects(line)


@_scene
def _two_that_hold_and_one_is_acknowledged(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    one = s.holds(line, s.name, 2)
    s.holds(line, s.other, 2, "b")
    s.acks(line, one, 1)
    s.collects(line, "b")


@_scene
def _two_of_one_topic_and_one_is_acknowledged(s: Stage) -> None:
    one, other = s.hears(s.name, mode="client"), s.hears(s.other, mode="client")
    s.sends()
    s.sends()
    s.writer.wait()
    s.acks(s.line, one, 1)
    s.acks(s.line, other, 0)
    s.acks(s.line, other, 1)


@_scene
def _two_of_one_queue_and_one_is_acknowledged(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    s.hears(s.name, line=line, kind="queue", mode="client")
    other = s.hears(s.other, line=line, kind="queue", mode="client")
    for _ in range(4):
        s.sends(line=line, kind="queue")
    s.writer.wait()
    s.acks(line, other, 1)
    s.collects(line)


@_scene
def _an_acknowledgement_in_a_transaction_and_another_subscription_that_ends(s: Stage) -> None:
    line = s.writer.connect(2 + s.number)
    sub = s.holds(line, s.name, 2)
    other = s.hears(s.other, line=line, key="b")
    s.tx("BEGIN", s.name, line)
    s.acks(line, sub, 0, s.name)
    s.writer.unsubscribe(line, other, receipt=s.writer.receipt())
    s.tx("COMMIT", s.name, line)
    s.collects(line)


# -- connections -------------------------------------------------------------------------------------------------------


@_scene
def _the_same_subscription_elsewhere(s: Stage) -> None:
    s.hears(s.name)
    sub = s.hears(s.name, line=s.elsewhere)
    s.sends()
    s.writer.unsubscribe(s.elsewhere, sub, receipt=s.writer.receipt())
    s.sends()


@_scene
def _the_same_transaction_elsewhere(s: Stage) -> None:
    s.hears(s.other)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    s.tx("BEGIN", s.name, s.elsewhere)
    s.sends(line=s.elsewhere, tx=s.name)
    s.tx("ABORT", s.name, s.elsewhere)
    s.tx("COMMIT", s.name)


@_scene
def _the_same_names_on_one_that_leaves(s: Stage) -> None:
    s.hears(s.name)
    s.tx("BEGIN", s.name)
    s.sends(tx=s.name)
    visitor = s.writer.connect(2 + s.number)
    s.hears(s.name, line=visitor)
    s.tx("BEGIN", s.name, visitor)
    s.sends(line=visitor, tx=s.name)
    s.writer.wait()
    s.writer.disconnect(visitor)
    s.writer.wait()
    s.tx("COMMIT", s.name)


@_scene
def _two_that_hold_and_one_of_them_leaves(s: Stage) -> None:
    visitor = s.writer.connect(2 + s.number)
    s.holds(visitor, s.name, 4, "b")
    mine = s.holds(s.line, s.name, 2)
    s.acks(s.line, mine, 0)
    s.collects(visitor, "b")
    s.acks(s.line, mine, 1)
    s.sends(kind="queue")


@_scene
def _one_that_acknowledges_what_another_holds(s: Stage) -> None:
    line, visitor = s.writer.connect(2 + s.number), s.writer.connect(COLLECTOR + 1 + s.number)
    s.holds(line, s.name, 2)
    handle = s.writer.handle(line, s.name, 0)
    s.writer.say(visitor, "ACK", [*handle, s.writer.receipt()])
    s.writer.wait()
    s.writer.hang(visitor)
    s.collects(line)
