"""What comes a second time, or belongs to several at once: names that are used again, transactions and subscriptions
of which one has ended, acknowledgements across subscriptions, and a RECEIPT of DISCONNECT that takes its time.

Source: STOMP 1.2, SUBSCRIBE, UNSUBSCRIBE, ACK, BEGIN, DISCONNECT, RECEIPT; 003_30478fd2f19f0da0.txt L120-212.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Wait
from specs.stomp.states import Config
from strategies.common import Program, programs
from strategies.stomp.desk import HEAD, MODES, QUIET_MS, Ear, Serving
from strategies.stomp.serving import VERSIONS
from strategies.stomp.writer import CRLF

Scene = Callable[[Serving, int, int], None]
ROW = HEAD
"""The place of the head number that chooses the scene."""
OPEN = (9, 5, 17, 9, 5)
"""How many messages are open together, where there are many: one more than tables hold that are small."""
LATE_MS = 1_000
"""How long the RECEIPT of a DISCONNECT is withheld: long enough for who asks again, and nothing is wrong yet."""


def _one_of_three_has_ended(s: Serving, a: int, b: int) -> None:
    """Two transactions are open when the first of them ends, and a third begins."""
    names = [s.called("t", s.fresh()) for _ in range(3)]
    for name in names[:2]:
        _told(s, "begin", name)
    s.send(tx=names[a % 2])
    _told(s, "commit" if a & 2 else "abort", names[0])
    _told(s, "begin", names[2])
    for name in names[1:] if a & 4 else names[:0:-1]:
        s.send(tx=name, receipt=bool(a & 8))
    for name in names[1:] if a & 16 else names[:0:-1]:
        _told(s, "commit" if b & 1 else "abort", name)


def _told(s: Serving, op: str, transaction: str) -> None:
    s.do(op, transaction=transaction)
    s.serve()


def _a_name_again(s: Serving, a: int, b: int) -> None:
    """A transaction that was ended begins once more; nothing of the first one is in it."""
    name = s.called("t", s.fresh())
    ear = s.ear(0, "client-individual" if s.version != "1.0" else "client")
    for turn in range(2):
        _told(s, "begin", name)
        s.send(tx=name)
        if a >> turn & 1:
            s.settle(ear, "ack", 0, name)
        _told(s, "commit" if b >> turn & 1 else "abort", name)


def _across(s: Serving, a: int, b: int) -> None:
    """Messages of several subscriptions, turn by turn, of which a later one is acknowledged first: an acknowledgement
    reaches no other subscription."""
    kinds = ("client", "client-individual") if s.version != "1.0" else ("client", "client")
    ears = [s.subscribe(n, kinds[a >> n & b >> n & 1]) for n in range(2 + b // 16 % 2)]
    for _ in range(1 + b // 32 % 2):
        for ear in ears:
            s.given(ear)
    for ear in ears if a & 24 == 24 else ears[::-1]:
        s.settle(ear, "nack" if a & 32 and s.version != "1.0" else "ack", -1)
    for ear in ears:
        while ear.open:
            s.settle(ear, "ack", 0)


def _a_subscription_again(s: Serving, a: int, b: int) -> None:
    """A subscription ends, and another one of its name begins, in another mode or elsewhere."""
    modes = MODES if s.version != "1.0" else MODES[:2]
    one = s.subscribe(0, modes[a % len(modes)])
    s.given(one)
    s.steps.append(Wait(0))  # what is received while its subscription ends need not come
    one.ended = True
    s.do("unsubscribe", sub=one.name)
    s.serve()
    other = Ear(one.name, s.place(b % 2), modes[(a + 1 + a // 8 % 2) % len(modes)])
    s.ears.append(other)
    s.do("subscribe", destination=other.place, sub=other.name, ack=other.mode)
    s.serve()
    s.steps.append(Wait(0))  # of two subscriptions of one name it is known then which of them a message is for
    s.given(other)
    if other.mode != "auto":
        s.settle(other, "ack", 0)


def _nothing_behind_something(s: Serving, a: int, b: int) -> None:
    """Messages without a body behind others, with a length or without one."""
    ear = s.subscribe(a % 2)
    for n in range(2 + b % 3):
        s.given(ear, b"something" * (1 + (a + n) % 3), form=1 + (b >> n & 1))
        s.given(ear, b"", form=1 + (a >> n & 1), raw=True)


def _a_receive_in_vain(s: Serving, a: int, b: int) -> None:
    """The application waits for a message in vain, once or twice. Those that come when nobody waits are for the next
    ones that do."""
    ear = s.subscribe(a % 2, MODES[b % 2])
    for _ in range(1 + a // 2 % 2):
        s.receive(QUIET_MS)
    places = [s.message(ear, when="now" if n else None) for n in range(1 + b // 2 % 3)]
    s.send(receipt=True)  # what comes before its RECEIPT has been read when that is reported
    for at in places:
        s.receive()
        if ear.mode != "auto":
            ear.open.append(at)


def _given_back(s: Serving, a: int, b: int) -> None:
    """What was acknowledged in a transaction is acknowledged again when that was aborted."""
    ear = s.ear(0, "client-individual" if a & 1 and s.version != "1.0" else "client")
    for _ in range(1 + b % 3):
        s.given(ear)
    name = s.called("t", s.fresh())
    _told(s, "begin", name)
    held = [*ear.open]
    s.settle(ear, "nack" if b & 4 and s.version != "1.0" else "ack", a >> 1, name)
    _told(s, "abort", name)
    ear.open = held
    while ear.open:
        s.settle(ear, "ack", 0)


def _one_message_for_two(s: Serving, a: int, b: int) -> None:
    """Two subscriptions get one message, by one message-id: each delivery is acknowledged by itself. Before 1.1 an ACK
    names no subscription."""
    if s.version == "1.0":
        _across(s, a, b)
        return
    ears = [s.subscribe(0, ("client-individual", "client")[b >> n & 1]) for n in range(2)]
    number = s.fresh()
    for ear in ears if a & 1 else ears[::-1]:
        ear.open.append(s.message(ear, b"one for both", raw=True, like=number))
    for _ in ears:
        s.receive()
    for ear in ears if a & 2 else ears[::-1]:
        s.settle(ear, "nack" if a & 12 == 12 else "ack", 0)


def _neighbours(s: Serving, a: int) -> list[Ear]:
    """Two or three subscriptions, mostly to one destination. In 1.0 a message need not say which of them it is for."""
    apart = s.version == "1.0" or a % 4 == 3
    return [s.subscribe(n if apart else 0, MODES[(a >> 2 + 2 * n) % 3]) for n in range(3 if a % 4 == 2 else 2)]


def _leave(s: Serving, ear: Ear, *, asks: bool) -> None:
    """A subscription ends."""
    ear.ended = True
    s.do("unsubscribe", None, sub=ear.name, **({"receipt": True} if asks else {}))


def _take(s: Serving, held: Sequence[tuple[Ear, int]]) -> None:
    """Messages are received, and acknowledged where that is called for."""
    for ear, at in held:
        s.receive()
        if ear.mode != "auto":
            ear.open.append(at)
    for ear, _ in held:
        if ear.open:
            s.settle(ear, "ack", -1)


def _others_messages_wait(s: Serving, a: int, b: int) -> None:
    """A subscription ends while messages that nobody has received yet wait for others: those stay, also where they are
    of the same destination. What waits for the one that ends may be given or not."""
    ears = _neighbours(s, a)
    leaving = ears.pop(b % len(ears))
    held = [(ear, s.message(ear, form=b)) for _ in range(1 + b // 4 % 2) for ear in ears]
    if b & 16:
        s.message(leaving)
    s.send(receipt=True)  # what comes before its RECEIPT has been read when that is reported
    _leave(s, leaving, asks=bool(b & 32))
    s.serve()
    _take(s, held)


def _a_message_comes_late(s: Serving, a: int, b: int) -> None:
    """A subscription ends, and before the RECEIPT of that messages come which the server had sent already. Those of
    the others go on."""
    ears = _neighbours(s, a)
    leaving = ears.pop(b % len(ears))
    if b & 16:
        s.given(leaving)
        s.steps.append(Wait(0))  # what is received while its subscription ends need not come
    _leave(s, leaving, asks=True)
    held = [(ear, s.message(ear)) for ear in ears[: b // 32 % 2]]
    late = 1 + b // 4 % 2
    for _ in range(late):
        s.message(leaving)
    s.serve()
    _take(s, held)
    s.steps.append(Wait(0))
    for _ in range(late):
        s.receive(QUIET_MS)
    _take(s, [(ear, s.message(ear)) for ear in ears])


def _many_are_open(s: Serving, a: int, b: int) -> None:
    """More messages are open than a small table holds, of one subscription or of two. Each is settled by itself, the
    oldest first or, where that is possible, the newest: whoever takes an older one for it settles it a second time."""
    single = bool(a & 3) and s.version != "1.0"
    ears = [s.subscribe(n, "client-individual" if single else "client") for n in range(1 + a // 4 % 2)]
    for n in range(OPEN[b % len(OPEN)]):
        s.given(ears[n % len(ears)])
    first = 0 if a & 8 or not single else -1
    for ear in ears:
        s.settle(ear, "nack" if a & 48 == 48 and s.version != "1.0" else "ack", first)
        while ear.open:
            s.settle(ear, "ack", first)


SCENES: Sequence[Scene] = (
    _one_of_three_has_ended, _across, _a_subscription_again, _a_name_again, _nothing_behind_something,
    _a_receive_in_vain, _given_back, _one_message_for_two, _others_messages_wait, _a_message_comes_late,
    _many_are_open,
)  # fmt: skip
OF_EACH_VERSION: Sequence[Scene] = (
    _across, _one_message_for_two, _many_are_open, _others_messages_wait, _given_back, _a_subscription_again,
)  # fmt: skip
"""Those about what versions say in different ways: which message is acknowledged, and of which subscription it is."""


def scenes() -> SearchStrategy[Program]:
    """One of the scenes, and how it goes."""
    return programs({"scene": 1}, head=HEAD + 3, most=0, least=0)


def showing(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A session with a scene. Head: as in `serving`; the scene, and two numbers for it."""
    *head, row, a, b = program.head
    s = Serving(config, (head[0], head[1], head[2], head[3]), hurry=hurry)
    s.connect()
    s.serve()
    SCENES[row % len(SCENES)](s, a, b)
    s.given(s.ear(), b"behind")
    s.end()
    return s.plan()


def showing_older(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """A session of an older version than the newest that the client offers, with a scene; where there is none, of its
    own. Head: as in `showing`; the row tells the scene and the version, the newest one of the older first."""
    *head, row, a, b = program.head
    wish = _older(config, row // len(OF_EACH_VERSION))
    s = Serving(config, (head[0] & ~CRLF, head[1], 0, 0), hurry=hurry)
    s.connect(list(dict.fromkeys((wish, config.version))), wish)
    s.version = wish
    OF_EACH_VERSION[row % len(OF_EACH_VERSION)](s, a, b)
    s.given(s.ear(), b"behind")
    s.end()
    return s.plan()


def _older(config: Config, number: int) -> str:
    older = VERSIONS[: VERSIONS.index(config.version)][::-1]
    return older[number % len(older)] if older else config.version


def departures() -> SearchStrategy[Program]:
    """Sessions that end with a RECEIPT that takes its time."""
    return programs({"scene": 1}, head=HEAD, most=0, least=0)


def leaving(program: Program, config: Config, *, hurry: bool = False) -> Plan:
    """Such a session."""
    s = Serving(config, program.head, hurry=hurry)
    s.connect()
    s.serve()
    s.given(s.ear(), b"before")
    s.end(lambda: s.steps.append(Wait(LATE_MS)))
    return s.plan()
