"""The machines of a client, cell by cell: what they forbid is blamed, and what they allow leads on."""

from __future__ import annotations

from dataclasses import replace

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.pulsar.client_memory import Client
from specs.events import Closed, Fact, Noise
from specs.machine import Never, Unreachable
from specs.model import Allow, judge
from specs.pulsar.client import CLIENT, CONNECTION, ENDPOINT, ClientModel, ClientState
from specs.pulsar.client.machine import COMMANDS, Phase, Stage
from specs.pulsar.client.oddities import Oddity
from specs.pulsar.frames import NOBODY
from specs.pulsar.states import Config
from tests.mutants.pulsar_client_parts import written
from tests.mutants.pulsar_client_rows import broken, odd, spoiled, strays
from tests.mutants.pulsar_kit import PULSAR
from tests.test_pulsar_client_crossings import URL, reported, told
from tests.test_pulsar_crossings import END, flow
from tests.test_pulsar_freedoms import ID, META, TOPIC, hello, said

CONFIG = Config(role="client", profile="modern")
NOW = {**META, "publish_time": 1_700_000_000_000}
DROP = Fact(0, "broker", "drop", None)


def after(*events, config=CONFIG):
    """The state behind events that break nothing."""
    state = ClientState(config)
    for event in events:
        (found,) = ClientModel().step(state, event)
        assert isinstance(found, Allow), found
        state = found.state
    return state


def outcome(state, event):
    (found,) = ClientModel().step(state, event)
    return found


def looked_up(topic, request):
    yield said(0, "client", "LOOKUP", topic=topic, request_id=request)
    yield said(0, "broker", "LOOKUP_RESPONSE", request_id=request, response=1, brokerServiceUrl=URL)


def producer(topic=TOPIC, number=0, request=20):
    return said(0, "client", "PRODUCER", topic=topic, producer_id=number, request_id=request)


def consumer(topic=TOPIC, number=0, request=21):
    return said(0, "client", "SUBSCRIBE", topic=topic, subscription="s", subType=0, consumer_id=number,
                request_id=request)  # fmt: skip


MADE = said(0, "broker", "PRODUCER_SUCCESS", request_id=20, producer_name="p")
HELD = said(0, "broker", "PRODUCER_SUCCESS", request_id=20, producer_name="p", producer_ready=False)
REFUSED = said(0, "broker", "ERROR", request_id=20, error=4, message="no")
TAKEN = said(0, "broker", "CLOSE_PRODUCER", producer_id=0, request_id=NOBODY)


def busy():
    """A client that has something of everything: no command of it would be wrong."""
    yield from (told("connect"), reported(None), told("producer", topic=TOPIC))
    yield from (*hello(0, 19), *looked_up(TOPIC, 1), producer(), MADE, reported("p"))
    yield from (told("subscribe", topic=TOPIC, permits=9), *looked_up(TOPIC, 2), consumer())
    yield from (said(0, "broker", "SUCCESS", request_id=21), reported("c"), flow(0, 0, 4))
    yield said(0, "broker", "MESSAGE", {**META, "sequence_id": 1}, b"m", consumer_id=0, message_id=ID)
    yield from (told("receive", consumer="c", timeout_ms=9), reported({"ref": "r", "payload_hex": b"m".hex()}))
    yield from (told("ack", consumer="c", ref="r"), reported(None))
    yield from (*looked_up(TOPIC + "2", 3), *looked_up(TOPIC + "2", 4), said(0, "broker", "PING"))
    yield told("send", producer="p", payload_hex=b"s".hex())


MISUSE = said(0, "broker", "AUTH_CHALLENGE", server_version="x")
EARLY = said(0, "broker", "PING")
CONNECT = next(hello(0))
WAYS = {
    Phase.NEW: [], Phase.UNMADE: [DROP], Phase.ASKED: [CONNECT], Phase.LIVE: [*busy()],
    Phase.SPOILT: [CONNECT, EARLY], Phase.ABORTED: [CONNECT, DROP], Phase.OVER: [*busy(), DROP],
    Phase.WASTED: [CONNECT, EARLY, DROP],
}  # fmt: skip
FIELDS = {
    "UNSUBSCRIBE": {"consumer_id": 0}, "CLOSE_PRODUCER": {"producer_id": 0}, "CLOSE_CONSUMER": {"consumer_id": 0},
    "LOOKUP": {"topic": TOPIC + "3"}, "PARTITIONED_METADATA": {"topic": TOPIC + "3"}, "SEEK": {"consumer_id": 0},
    "GET_LAST_MESSAGE_ID": {"consumer_id": 0}, "CONSUMER_STATS": {"consumer_id": 0},
    "GET_TOPICS_OF_NAMESPACE": {"namespace": "public/default"}, "GET_SCHEMA": {"topic": TOPIC},
    "GET_OR_CREATE_SCHEMA": {"topic": TOPIC, "schema": {"name": "x", "schema_data": b"", "type": 0}},
}  # fmt: skip
ACTIONS = {
    **{kind: said(0, "client", kind, **fields, request_id=90) for kind, fields in FIELDS.items()},
    "PRODUCER": producer(TOPIC + "2", 7, 90), "SUBSCRIBE": consumer(TOPIC + "2", 7, 90),
    "CONNECT": CONNECT, "foreign": said(0, "client", "SUCCESS", request_id=90), "hangs up": Closed(0, "client"),
    "PING": said(0, "client", "PING"), "PONG": said(0, "client", "PONG"), "FLOW": flow(0, 0, 1),
    "SEND": said(0, "client", "SEND", NOW, b"s", producer_id=0, sequence_id=0),
    "ACK": said(0, "client", "ACK", consumer_id=0, ack_type=0, message_id=[ID]),
    "REDELIVER_UNACKNOWLEDGED_MESSAGES": said(0, "client", "REDELIVER_UNACKNOWLEDGED_MESSAGES", consumer_id=0),
    "AUTH_RESPONSE": said(0, "client", "AUTH_RESPONSE", client_version="x"),
    "reverses": Noise(0, "client", (9).to_bytes(4, "little") + bytes(9), "over-limit"),
    "exceeds": Noise(0, "client", (6_000_000).to_bytes(4, "big") + bytes(9), "over-limit"),
    "miscounts": Noise(0, "client", bytes(9), "command-size"), "garbles": Noise(0, "client", bytes(9), "no-command"),
    "CONNECTED": [*hello(0, 19)][1], "misuses": MISUSE, "cuts": DROP,
}  # fmt: skip


def cells(machine):
    return [(phase, action, cell) for phase, action, cell in machine.cells() if not isinstance(cell, Unreachable)]


def named(each):
    return getattr(each, "name", str(each))[:24]


def asked(machine, phase, action, state, event):
    """The outcome of an event by which one cell is asked for."""
    try:
        seen = machine.watch()
        found = outcome(state, event)
    finally:
        machine.asked = None
    assert (phase, action) in seen, sorted((phase.name, action) for phase, action in seen)
    return found


@pytest.mark.parametrize(("phase", "action", "cell"), cells(CONNECTION), ids=named)
def test_a_connection_of_a_client(phase, action, cell):
    state = after(*WAYS[phase])
    assert state.line(0).phase is phase
    if action == "CONNECT" and isinstance(cell, tuple):
        for before, expected in ((state, Phase.ASKED), (after(*WAYS[phase], MISUSE), Phase.SPOILT)):
            assert outcome(before, CONNECT).state.line(0).phase is expected
    found = asked(CONNECTION, phase, action, state, ACTIONS[action])
    if isinstance(cell, Never):
        assert found.requirement == cell.requirements[0], found
    else:
        assert isinstance(found, Allow), found
        assert found.state.line(0).phase in (cell if isinstance(cell, tuple) else (cell,))


def test_every_command_of_a_client_is_tried():
    assert set(COMMANDS) <= ACTIONS.keys()


# -- a producer or consumer --------------------------------------------------------------------------------------------

FOUND = [*hello(0, 19), *looked_up(TOPIC, 1), *looked_up(TOPIC, 2), producer()]
STAGES = {
    Stage.ASKED: FOUND, Stage.PENDING: [*FOUND, HELD], Stage.OPEN: [*FOUND, MADE], Stage.LOST: [*FOUND, MADE, TAKEN],
}  # fmt: skip
CLOSES = said(0, "client", "CLOSE_PRODUCER", producer_id=0, request_id=90)
EVENTS = {
    "creates": said(0, "client", "PRODUCER", topic=TOPIC, producer_id=1, request_id=90, producer_name="p"),
    "closes": CLOSES, "answers": MADE, "holds": HELD, "refuses": REFUSED, "takes": TAKEN, "cuts": DROP,
}  # fmt: skip


@pytest.mark.parametrize(("stage", "action", "cell"), cells(ENDPOINT), ids=named)
def test_a_producer_or_consumer_of_a_client(stage, action, cell):
    state = after(*STAGES[stage])
    assert state.endpoints[0].stage is stage
    found = asked(ENDPOINT, stage, action, state, EVENTS[action])
    assert isinstance(found, Allow), found
    assert [end.stage for end in found.state.endpoints] == [cell]


# -- the client itself -------------------------------------------------------------------------------------------------

EXIT = Fact(0, "client", "exit", 1)


@pytest.mark.parametrize(("phase", "action", "cell"), cells(CLIENT), ids=named)
def test_a_client(phase, action, cell):
    oddity = next((each for each in Oddity if each.death == action), Oddity.CHECKSUM if action == "rests" else None)
    state = ClientState(CONFIG)._replace(tried=(oddity,) if oddity else ())
    found = asked(CLIENT, phase, action, state, END if action == "rests" else EXIT)
    if isinstance(cell, Never):
        assert (found.requirement, *found.also) == cell.requirements, found
    else:
        assert oddity.row in found.covers, found


SCENES = (
    *(broken(case, which) for case in range(13) for which in (0, 1)), *(strays(case) for case in range(6)),
    *(spoiled(case, which) for case in range(11) for which in (0, 1)), odd(1), odd(4, 0, 0),
    *(odd(4, which) for which in range(6)), *(odd(4, which, 1) for which in range(3)),
)  # fmt: skip


def test_every_oddity_is_said_by_some_plan_and_survived_by_the_reference():
    said_so = set()
    for scene in SCENES:
        setting = Setting(PULSAR, CONFIG, "client", MemoryTransport(lambda: Client(profile="modern")))
        played = drive(written(*scene)(CONFIG), setting, "o-")
        assert not played.judgement.faults, played.judgement
        state = ClientState(CONFIG)
        for event in played.events:
            (found,) = ClientModel().step(state, event)
            state = found.state
            said_so |= set(getattr(state, "tried", ()))
    assert sorted(each.name for each in set(Oddity) - said_so) == []


@pytest.mark.parametrize("phase", [Phase.LIVE, Phase.OVER])
def test_what_only_a_broker_says_is_blamed(phase):
    assert outcome(after(*WAYS[phase]), ACTIONS["foreign"]).requirement == "PULSAR-VER-02"


def test_a_pong_may_be_read_behind_the_end_of_its_connection():
    events = [*hello(0, 19), said(0, "broker", "PING"), DROP, ACTIONS["PONG"]]
    assert isinstance(outcome(after(*events), END), Allow)
    assert outcome(after(*events), ACTIONS["PONG"]).requirement == "PULSAR-KA-01"


# -- found by soaking --------------------------------------------------------------------------------------------------


def verdict(*events):
    """What a conversation is blamed for, recommendations too."""
    found = judge(PULSAR.model, CONFIG, [*events, END], "client")
    return {blame.breach.requirement for blame in (*found.faults, *found.lapses)}


@pytest.mark.parametrize(("asked", "blamed"), [(True, set()), (False, {"PULSAR-REQ-03"})])
def test_who_goes_on_behind_a_ping_before_connected_has_made_what_it_asked_for(asked, blamed):
    """The client may end the connection at such a PING, or go on: then what it asks for there is not judged."""
    message = said(0, "broker", "MESSAGE", {**META, "sequence_id": 1}, b"m", consumer_id=0, message_id=ID)
    made = [consumer(), said(0, "broker", "SUCCESS", request_id=21)] if asked else []
    given = [flow(0, 0, 4), message, told("receive", consumer="c", timeout_ms=9)]
    rest = [*given, reported({"ref": "r", "payload_hex": b"m".hex()})] if asked else []
    assert blamed == verdict(
        told("connect"), reported(None), EARLY, *hello(0), said(0, "client", "PONG"),
        told("subscribe", topic=TOPIC, permits=9, _key="c"), *made, reported("c"), *rest,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("closed", "sequence", "blamed"),
    [
        (True, 1, set()),
        (True, 0, set()),
        (True, 5, {"PULSAR-SEND-02"}),
        (False, 1, set()),
        (False, 5, {"PULSAR-SEND-02"}),
    ],
)
def test_a_producer_that_was_to_be_closed_when_it_was_lost_goes_on_from_where_it_was(closed, sequence, blamed):
    """What was to be sent before may be sent first, by the same producer or by a new one."""
    sent = [
        said(0, "client", "SEND", {**NOW, "producer_name": "p", "sequence_id": 0}, b"a", producer_id=0, sequence_id=0),
        said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=0, message_id=ID),
    ]  # fmt: skip
    again = {**NOW, "producer_name": "p", "sequence_id": sequence}
    closing = [told("close", producer="p")] if closed else []
    made = (
        producer()
        if closed
        else said(0, "client", "PRODUCER", topic=TOPIC, producer_id=0, request_id=20, producer_name="p")
    )
    assert blamed == verdict(
        told("connect"), reported(None), told("producer", topic=TOPIC, _key="p"), *hello(0), *looked_up(TOPIC, 1),
        producer(), MADE, reported("p"), told("send", producer="p", payload_hex=b"a".hex()), *sent, reported("id"),
        DROP, Closed(0, "client", "eof"), told("send", producer="p", payload_hex=b"b".hex()),
        *closing, *at(1, *hello(1), *looked_up(TOPIC, 1), made, MADE,
            said(0, "client", "SEND", again, b"b", producer_id=0, sequence_id=sequence)),
        *at(1, said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=sequence, message_id=ID)), reported("id"),
        *(reported(None) for _ in closing),
    )  # fmt: skip


@pytest.mark.parametrize(("payload", "blamed"), [(b"a", set()), (b"z", {"PULSAR-FRM-04"})])
def test_a_producer_that_was_to_be_closed_when_it_was_lost_may_send_again_what_had_no_receipt(payload, blamed):
    """Before it is closed, it may come back for that (P-70); nothing else is sent that nobody asked for."""
    first = {**NOW, "producer_name": "p", "sequence_id": 0}
    receipt = said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=0, message_id=ID)
    assert blamed == verdict(
        told("connect"), reported(None), told("producer", topic=TOPIC, _key="p"), *hello(0), *looked_up(TOPIC, 1),
        producer(), MADE, reported("p"), told("send", producer="p", payload_hex=b"a".hex()),
        said(0, "client", "SEND", first, b"a", producer_id=0, sequence_id=0), DROP, Closed(0, "client", "eof"),
        told("close", producer="p"), *at(1, *hello(1), *looked_up(TOPIC, 1), producer(), MADE,
            said(0, "client", "SEND", first, payload, producer_id=0, sequence_id=0), receipt),
        reported("id"), reported(None),
    )  # fmt: skip


def at(number, *events):
    """The same on another connection."""
    return [replace(event, conn=number) for event in events]


@pytest.mark.parametrize(
    ("version", "asked", "blamed"),
    [
        (0, False, set()),
        (6, False, set()),
        (6, True, set()),
        (7, False, {"PULSAR-LOOK-01"}),
        (19, False, {"PULSAR-LOOK-01"}),
    ],
)
def test_a_lookup_is_for_a_broker_that_knows_of_it(version, asked, blamed):
    lookup = looked_up(TOPIC, 1) if asked else ()
    told_first = [told("connect"), reported(None), told("producer", topic=TOPIC, _key="p")]
    assert blamed == verdict(*told_first, *hello(0, version), *lookup, producer(), MADE, reported("p"))


def test_a_broker_that_knows_of_lookups_is_asked_where_another_does_not():
    first = [told("connect"), reported(None), told("producer", topic=TOPIC, _key="p"), *hello(0, 7)]
    assert verdict(*first, *at(1, *hello(0, 6), producer(), MADE)) == {"PULSAR-LOOK-01"}
    old = [*first[:3], *hello(0, 6)]  # it may have asked there, and opened another connection for the producer
    assert verdict(*old, *at(1, *hello(0, 12), producer(), MADE), reported("p")) == set()


OTHER = TOPIC + "-other"


@pytest.mark.parametrize(
    ("closed", "sequence", "blamed"),
    [(True, 0, set()), (True, 5, {"PULSAR-SEND-02"}), (False, 0, {"PULSAR-PROD-03"})],
)
def test_the_id_of_a_closed_producer_is_free_for_another_that_counts_from_zero(closed, sequence, blamed):
    def sends(name, number):
        meta = {**NOW, "producer_name": name, "sequence_id": number}
        yield said(0, "client", "SEND", meta, b"a", producer_id=0, sequence_id=number)
        yield said(0, "broker", "SEND_RECEIPT", producer_id=0, sequence_id=number, message_id=ID)

    closing = [
        told("close", producer="p"), said(0, "client", "CLOSE_PRODUCER", producer_id=0, request_id=30),
        said(0, "broker", "SUCCESS", request_id=30), reported(None),
    ] if closed else []  # fmt: skip
    assert blamed == verdict(
        told("connect"), reported(None), told("producer", topic=TOPIC, _key="p"), *hello(0), *looked_up(TOPIC, 1),
        producer(), MADE, reported("p"), told("send", producer="p", payload_hex=b"a".hex()), *sends("p", 0),
        reported("id"), *closing, told("producer", topic=OTHER, _key="q"), *looked_up(OTHER, 2),
        producer(OTHER, request=31), said(0, "broker", "PRODUCER_SUCCESS", request_id=31, producer_name="q"),
        reported("q"), told("send", producer="q", payload_hex=b"a".hex()), *sends("q", sequence), reported("id"),
    )  # fmt: skip


def pushes(number):
    """A message, given to the application."""
    found = {"ledgerId": 5, "entryId": number}
    yield said(0, "broker", "MESSAGE", {**META, "sequence_id": number}, b"m", consumer_id=0, message_id=found)
    yield told("receive", consumer="c", timeout_ms=9)
    yield reported({"ref": f"r{number}", "payload_hex": b"m".hex()})


@pytest.mark.parametrize(
    ("acks", "blamed"),
    [
        ([(1, [3])], set()),
        ([(0, [1]), (0, [2]), (0, [3])], set()),
        ([(0, [3]), (1, [2])], set()),
        ([(0, [3])], {"PULSAR-ACK-13"}),
        ([(0, [1]), (0, [3])], {"PULSAR-ACK-13"}),
        ([], {"PULSAR-ACK-13"}),
    ],
)
def test_all_up_to_a_message_is_acknowledged_by_one_ack_or_by_one_for_each(acks, blamed):
    said_acks = [
        said(
            0, "client", "ACK", consumer_id=0, ack_type=kind, message_id=[{"ledgerId": 5, "entryId": n} for n in names]
        )
        for kind, names in acks
    ]
    assert blamed == verdict(
        told("connect"), reported(None), told("subscribe", topic=TOPIC, permits=9, _key="c"), *hello(0),
        *looked_up(TOPIC, 1), consumer(), said(0, "broker", "SUCCESS", request_id=21), flow(0, 0, 9), reported("c"),
        *pushes(1), *pushes(2), *pushes(3), told("ack", consumer="c", ref="r3", cumulative=True), reported(None),
        *said_acks,
    )  # fmt: skip
