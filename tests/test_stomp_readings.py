"""Readings of STOMP that no mutant shows, of frames, versions and connections: what is not blamed, or is less grave."""

from __future__ import annotations

from dataclasses import replace

import pytest

from specs.events import Closed, Fact, Quiet, Said
from specs.model import judge
from specs.plan import Plan, Ref, Say, SendBytes
from specs.stomp.features import FEATURES
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config
from tests.stomp_events import QUEUE, STOMP_LEVELS, TOPIC, client, receipted, server, session, verdict

CLAIMS = [
    ("ACK-03", client("ACK", ("message-id", "unknown"), ("subscription", "0"), ("receipt", "r"))),
    ("TXN-08", client("COMMIT", ("transaction", "t"), ("receipt", "r"))),
    ("TXN-01", client("ABORT", ("receipt", "r"))),
    ("SEND-01", client("SEND", ("receipt", "r"), body=b"x")),
    ("SUB-01", client("SUBSCRIBE", ("id", "0"), ("receipt", "r"))),
]


@pytest.mark.parametrize(("requirement", "frame"), CLAIMS, ids=[name for name, _ in CLAIMS])
def test_a_receipt_of_1_0_says_only_that_a_frame_has_come(requirement, frame):
    receipt = server("RECEIPT", ("receipt-id", "r"))
    weaker = {"ACK-03": "INV-09", "TXN-08": "INV-12", "TXN-01": "INV-12"}.get(requirement, requirement)
    assert verdict(*session("1.0"), frame, receipt)[1] == [(weaker, "SHOULD")]
    found, ((name, level),) = verdict(*session("1.1"), frame, receipt)
    assert (found, name) == ("fail", requirement)
    assert level in (None, "MUST")


def test_1_0_leaves_the_body_of_subscribe_free():
    frame = client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "r"), body=b"x")
    receipt = server("RECEIPT", ("receipt-id", "r"))
    for answer in (receipt, server("ERROR", ("message", "no"))):
        assert verdict(*session("1.0"), frame, answer) == ("pass", [])
    assert verdict(*session("1.1"), frame, receipt)[1] == [("INV-31", "SHOULD")]


def test_a_disconnect_with_a_body_may_be_refused():
    """STOMP 1.2, Body: a frame that must have none. One without it gets its RECEIPT before the close."""
    end = Closed(0, "server")
    for version in ("1.1", "1.2"):
        odd = client("DISCONNECT", ("receipt", "r"), body=b"x")
        assert [level for _, level in verdict(*session(version), odd, end)[1] if level != "SHOULD"] == []
        found, names = verdict(*session(version), client("DISCONNECT", ("receipt", "r")), end)
        assert (found, [name for name, _ in names]) == ("fail", ["DISC-03"])


def test_headers_of_1_0_are_ascii():
    frame = client("SEND", ("destination", TOPIC), ("a", "é"), ("receipt", "r"))
    error = server("ERROR", ("message", "no"))
    assert verdict(*session("1.0"), frame, error)[0] == "pass"
    assert verdict(*session("1.1"), frame, error)[0] == "fail"


@pytest.mark.parametrize("name", ["id", "destination"])
def test_going_by_the_last_of_repeated_headers_is_a_recommendation_missed(name):
    values = {"id": ("0", "1"), "destination": (TOPIC, "/topic/u")}
    others = [(key, first) for key, (first, _) in values.items() if key != name]
    taken = {key: first for key, (first, _) in values.items()} | {name: values[name][1]}
    found = verdict(
        *session("1.2"),
        client("SUBSCRIBE", *others, (name, values[name][0]), (name, values[name][1]), ("receipt", "r1")),
        server("RECEIPT", ("receipt-id", "r1")),
        client("SEND", ("destination", taken["destination"]), ("k", "1"), body=b"x"),
        server(
            "MESSAGE",
            ("destination", taken["destination"]),
            ("k", "1"),
            ("message-id", "m"),
            ("subscription", taken["id"]),
            body=b"x",
        ),
    )
    assert [fault for fault, _ in found[1]] == ["REPEAT-01"]


@pytest.mark.parametrize(
    ("lengths", "body", "fault"),
    [
        (("10", "3"), b"0123456789", None),
        (("10", "3"), b"012", ("REPEAT-01", None)),
        (("10", "3"), b"01234", ("BODY-02", None)),
        (("10", "3"), b"abc", ("BODY-02", None)),
        (("10", "10"), b"012", ("BODY-02", None)),
        (("10",), b"012", ("BODY-02", None)),
    ],
)
def test_a_body_by_a_content_length_that_is_not_the_first_is_a_recommendation_missed(lengths, body, fault):
    values = [("content-length", value) for value in lengths]
    subscribe = client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "r"))
    found = verdict(
        *session("1.2"), subscribe, server("RECEIPT", ("receipt-id", "r")),
        client("SEND", ("destination", TOPIC), ("k", "1"), *values, body=b"0123456789"),
        server("MESSAGE", ("destination", TOPIC), ("k", "1"), ("message-id", "m"), ("subscription", "0"),
               ("content-length", str(len(body))), body=body),
    )  # fmt: skip
    assert found[1] == ([fault] if fault else [])


def test_a_plan_is_written_without_its_second_content_length():
    (feature,) = (feature for feature in FEATURES if feature.name == "lengths")
    start, place = b"SEND\ndestination:", Ref("topic", "a")
    blurt = SendBytes(0, (start, place, b"\n", b"content-length:10\n", b"content-length:3\n", b"\n0123456789\0"))
    once = SendBytes(0, (start, place, b"\n", b"content-length:10\n", b"\n0123456789\0"))
    assert feature.without(Plan((blurt,), frozenset({"lengths"}))).steps == (once,)
    assert feature.without(Plan((blurt,))).steps == (blurt,)


@pytest.mark.parametrize(("offered", "found"), [("1.0,2.0", []), ("1.0,1.1", ["CONNECTED-01"])])
def test_a_session_of_1_0_is_told_from_others_by_its_missing_version(offered, found):
    asked = client("CONNECT", ("accept-version", offered), ("host", "/"))
    assert [name for name, _ in verdict(asked, server("CONNECTED"))[1]] == found


def beating(*signs):
    return (
        client("CONNECT", ("accept-version", "1.2"), ("host", "/"), ("heart-beat", "500,0")),
        server("CONNECTED", ("version", "1.2"), ("heart-beat", "0,100")),
        *signs,
        Closed(0, "server"),
    )


def test_a_close_is_laid_on_heart_beats_only_if_time_explains_it():
    pause, half = Quiet(300, 300), Fact(0, "client", "octets", 5)
    sent = client("SEND", ("destination", TOPIC), ("receipt", "r"))
    answer = server("RECEIPT", ("receipt-id", "r"))
    assert verdict(*beating(pause, half, pause, half))[1] == [("HB-10", "MUST")]
    assert verdict(*beating(pause, sent, answer, half, half)) == ("pass", [])  # why, other conversations tell
    assert verdict(*beating(pause, sent, answer, pause))[1] == [("HB-06", "MUST")]
    assert verdict(*beating(pause, client(""), sent, answer))[1] == [("ERROR-07", None)]


@pytest.mark.parametrize(("octets", "found"), [(200, ["HB-10"]), (400, [])])
def test_half_a_frame_that_may_be_too_long_explains_a_close(octets, found):
    """STOMP 1.2, Size Limits: 512 octets of a header line are asked of a server, and two pieces are 400 or 800."""
    piece = (Quiet(300, 300), Fact(0, "client", "octets", octets))
    assert [name for name, _ in verdict(*beating(*piece, *piece))[1]] == found


@pytest.mark.parametrize("octets", [0, 5])
def test_no_clause_says_how_long_a_server_waits_for_the_rest_of_a_frame(octets):
    """STOMP 1.2, Heart-beating, keeps a connection open that is idle, and one that beats. Between, nothing does."""
    signs = [Fact(0, "client", "octets", octets)] if octets else []
    events = (*session("1.2"), Quiet(500, 500), *signs, Quiet(500, 500), Closed(0, "server"))
    assert [name for name, _ in verdict(*events)[1]] == ([] if octets else ["HB-03"])


def test_characters_that_1_0_does_not_escape_have_a_rule_of_their_own():
    wanted = {feature.name: feature for feature in FEATURES if feature.name in ("escapes", "literal")}
    send = Say(0, Frame("SEND", (("a", "x:\\n"),)))
    for version, name, other in (("1.0", "literal", "escapes"), ("1.2", "escapes", "literal")):
        plan = Plan((Say(0, Frame("CONNECT", (("accept-version", version),))), send))
        assert wanted[name].without(plan).steps[1].frame.headers == (("a", "xcbn"),)
        assert wanted[other].without(plan) == plan


@pytest.mark.parametrize(("beats", "faults"), [("9" * 20 + ",0", []), ("abc", [("INV-37", "SHOULD")])])
def test_a_whole_number_of_any_size_may_be_agreed_on(beats, faults):
    """Heart-beating asks for two whole numbers, and gives no greatest one."""
    asked = client("CONNECT", ("accept-version", "1.2"), ("host", "/"), ("heart-beat", beats))
    found = verdict(asked, server("CONNECTED", ("version", "1.2")))[1]
    assert found == faults
    assert verdict(asked, server("ERROR", ("message", "no")), Closed(0, "server", "close")) == ("pass", [])


@pytest.mark.parametrize(("crowded", "found"), [(True, "pass"), (False, "fail")])
def test_one_connection_too_many_may_be_refused_before_it_says_anything(crowded, found):
    trace = (server("ERROR", ("message", "too many")), Closed(0, "server"), Quiet(10_000, final=True))
    assert judge(StompModel(), Config(crowded=crowded), trace, "server").verdict == found


@pytest.mark.parametrize(("others", "found"), [(9, "fail"), (10, "pass")])
@pytest.mark.parametrize("asks", [True, False])
def test_more_connections_than_were_asked_for_may_be_refused(asks, others, found):
    """JA L54-56: a server may reject any attempt to connect; ten are opened at once before judging (N-18a)."""
    opening = ("accept-version", "1.2"), ("host", "/")
    taken = [
        each
        for conn in range(others)
        for each in (client("CONNECT", *opening, conn=conn), server("CONNECTED", ("version", "1.2"), conn=conn))
    ]
    last = [client("CONNECT", *opening, conn=others)] if asks else []
    end = server("ERROR", ("message", "too many"), conn=others), Closed(others, "server"), Quiet(10_000, final=True)
    assert judge(StompModel(), Config(), (*taken, *last, *end), "server").verdict == found


@pytest.mark.parametrize("crowded", [True, False])
def test_an_error_before_connect_needs_no_header_that_names_the_frame(crowded):
    """No version was agreed on, and 1.0 has none; in a session it should have one: test_stomp_rules.py."""
    early = client("SEND", ("destination", TOPIC), ("receipt", "r"), body=b"x")
    trace = (early, server("ERROR", ("message", "too many")), Closed(0, "server"), Quiet(10_000, final=True))
    assert judge(StompModel(), Config(crowded=crowded), trace, "server").faults == ()


@pytest.mark.parametrize(("version", "named", "found"), [
    ("1.0", "/queue/q", "pass"), ("1.0", "17", "pass"), ("1.0", None, "pass"), ("1.1", "/queue/q", "fail"),
])  # fmt: skip
def test_1_0_does_not_say_what_a_subscription_without_id_is_called(version, named, found):
    place = ("destination", "/queue/q")
    identity = [] if version == "1.0" else [("id", "0")]
    name = [("subscription", named)] if named else []
    shown = verdict(
        *session(version),
        client("SUBSCRIBE", place, *identity, ("receipt", "r")),
        server("RECEIPT", ("receipt-id", "r")),
        client("SEND", place, ("k", "1"), body=b"x"),
        server("MESSAGE", place, ("k", "1"), ("message-id", "m"), *name, body=b"x"),
    )
    assert shown[0] == found


def _taken_all_the_same(*headers, subscription, mode=()):
    """A SUBSCRIBE that should be refused, a message that was waiting for it, and its RECEIPT behind that."""
    place = ("destination", "/queue/q")
    return verdict(
        *session("1.2"),
        client("SEND", place, ("k", "1"), body=b"x"),
        client("SUBSCRIBE", place, *headers, *mode, ("receipt", "r")),
        server("MESSAGE", place, ("k", "1"), ("message-id", "m"), ("content-length", "1"), *subscription, body=b"x"),
        server("RECEIPT", ("receipt-id", "r")),
    )


@pytest.mark.parametrize("name", [None, "", "/queue/q", "made-up"])
def test_what_a_server_calls_a_subscription_without_id_is_its_own_affair(name):
    subscription = [] if name is None else [("subscription", name)]
    found, faults = _taken_all_the_same(subscription=subscription)
    assert (found, faults) == ("pass", [("SUB-02", "SHOULD")])
    assert _taken_all_the_same(("id", "0"), subscription=subscription)[0] == "fail"


@pytest.mark.parametrize("ack", [[], [("ack", "1")]])
def test_what_a_server_takes_an_unknown_mode_for_is_its_own_affair(ack):
    named = [("subscription", "0"), *ack]
    found, faults = _taken_all_the_same(("id", "0"), subscription=named, mode=[("ack", "Client")])
    assert (found, faults) == ("pass", [("INV-07", "SHOULD")])
    if not ack:
        found, ((name, _),) = _taken_all_the_same(("id", "0"), subscription=named, mode=[("ack", "client")])
        assert (found, name) == ("fail", "MSG-05")


def test_a_plan_is_not_written_without_a_feature_that_tells_its_ids_apart():
    def begun(*names):
        return Plan(tuple(Say(0, Frame("BEGIN", (("transaction", name),))) for name in names))

    (feature,) = (feature for feature in FEATURES if feature.name == "blanks")
    assert feature.without(begun("t", "t ")) == begun("t", "td")
    assert feature.without(begun("td", "t ")) == begun("td", "t ")


@pytest.mark.parametrize(("beats", "fault"), [("0,99999999999999999000", ""), ("0,-1", "HB-01"), ("0,1.5", "HB-01")])
def test_a_heart_beat_of_many_digits_is_a_whole_number(beats, fault):
    """Nobody has to agree on it, and a server may (E-18)."""
    connect = client("CONNECT", ("accept-version", "1.2"), ("host", "/"), ("heart-beat", "99999999999999999999,0"))
    found = verdict(connect, server("CONNECTED", ("version", "1.2"), ("heart-beat", beats)))
    assert [name for name, _ in found[1]] == ([fault] if fault else [])


def two_sends_without_tags(body):
    """Two SENDs that nothing but their bodies tells apart, one of them with a NUL, and a MESSAGE with another body."""
    sends = (
        client("SEND", ("destination", TOPIC), ("content-length", str(len(sent))), body=sent)
        for sent in (b"one\0two", b"other")
    )
    subscribed = client("SUBSCRIBE", ("id", "0"), ("destination", TOPIC), ("receipt", "r"))
    message = server("MESSAGE", ("destination", TOPIC), ("message-id", "m"), ("subscription", "0"), body=body)
    return verdict(*session("1.2"), subscribed, server("RECEIPT", ("receipt-id", "r")), *sends, message)


def test_a_body_that_was_cut_at_its_nul_is_nobody_elses():
    assert [name for name, _ in two_sends_without_tags(b"one")[1]] == ["CLEN-01"]


@pytest.mark.parametrize("body", [b"on", b"one\0", b"two", b""])
def test_another_body_that_nobody_sent_is_told_as_that(body):
    assert [name for name, _ in two_sends_without_tags(body)[1]] == ["BODY-02"]


@pytest.mark.parametrize(("other", "blamed"), [("again", []), ("other", ["ERROR-07"])])
def test_an_error_may_name_any_of_several_frames_that_ask_for_one_receipt(other, blamed):
    sent = client("SEND", ("destination", TOPIC), ("receipt", "again"), body=b"x")
    refused = client("SUBSCRIBE", ("id", "0"), ("receipt", other))
    error = server("ERROR", ("receipt-id", "again"), ("message", "no destination"))
    found = verdict(*session("1.2"), sent, refused, error, Closed(0, "server"))[1]
    assert [name for name, _ in found] == blamed


@pytest.mark.parametrize(("size", "verdicts"), [(101, "pass"), (100, "fail")])
@pytest.mark.parametrize("command", ["SEND", "SUBSCRIBE"])
def test_a_long_name_may_be_refused(command, size, verdicts):
    """E-13: by an ERROR. What a name may be is the server's own affair."""
    name = ("destination", "/topic/" + "x" * (size - len("/topic/")))
    error = server("ERROR", ("message", "no such name"), ("receipt-id", "r"))
    sent = client(command, name, ("id", "0"), ("receipt", "r"))
    assert verdict(*session("1.2"), sent, error, Closed(0, "server"))[0] == verdicts


@pytest.mark.parametrize(("open_already", "found"), [(2, ("TXN-10", "SHOULD")), (1, ("TXN-10", "MUST"))])
def test_a_server_may_have_no_room_for_many_transactions(open_already, found):
    """N-20a: also where it is not told which frame it is about."""
    begun = receipted(*(client("BEGIN", ("transaction", f"t{n}")) for n in range(open_already)))
    wanted = client("BEGIN", ("transaction", "more"), ("receipt", "more"))
    error = server("ERROR", ("message", "too many"), ("receipt-id", "more"))
    shown = verdict(*session("1.2"), *begun, wanted, error)
    assert [(name, level or STOMP_LEVELS[name]) for name, level in shown[1]] == [found]


@pytest.mark.parametrize(("open_already", "again"), [(2, False), (0, True)])
def test_a_message_may_have_come_to_who_had_too_much_before(open_already, again):
    """N-20a: it was on its way to a connection that the server ends then, and went to another one."""
    other = [Said(1, event.by, event.frame) for event in session("1.2")]
    subs = [client("SUBSCRIBE", ("id", f"{n}"), QUEUE, ("ack", "client"), conn=n) for n in (0, 1)]
    begun = receipted(*subs, *(client("BEGIN", ("transaction", f"t{n}")) for n in range(open_already)))
    wanted = client("BEGIN", ("transaction", "more"))
    sent = client("SEND", QUEUE, ("k", "1"), body=b"x", conn=1)
    fields = (QUEUE, ("k", "1"), ("ack", "a"), ("content-length", "1"))
    came = [
        server("MESSAGE", *fields, ("message-id", f"m{n}"), ("subscription", f"{n}"), conn=n, body=b"x") for n in (1, 0)
    ]
    alive = receipted(client("BEGIN", ("transaction", "alive"), conn=1))
    events = (*session("1.2"), *other, *begun, sent, wanted, *came, *alive)
    found = [blame.breach.requirement for blame in judge(StompModel(), Config(), events, "server").faults]
    assert found == ["STOMP-1.2-MSG-10"] * again


@pytest.mark.parametrize(("waiting", "level"), [(8, "SHOULD"), (7, "MUST")])
@pytest.mark.parametrize("tx", [True, False])
def test_a_server_may_have_no_room_for_many_messages(tx, waiting, level):
    """N-20a: in a queue that nobody reads, or in a transaction."""
    place = ("destination", "/queue/q")
    within = (("transaction", "t"),) if tx else ()
    begun = receipted(client("BEGIN", *within)) if tx else []
    sent = [client("SEND", place, ("k", f"{n}"), *within, body=b"x") for n in range(waiting)]
    read = receipted(client("SEND", ("destination", "/queue/other")))  # what stands before it is received
    error = server("ERROR", ("message", "full"))
    more = client("SEND", place, ("k", "more"), *within, body=b"x")
    own = replace(Config().queue, own=True, keeps=True, redelivers=True)
    events = (*session("1.2"), *begun, *sent, *read, more, error, Quiet(10_000, final=True))
    found = judge(StompModel(), Config(queue=own), events, "server").faults
    assert [
        each.breach.level or STOMP_LEVELS[each.breach.requirement.removeprefix("STOMP-1.2-")] for each in found
    ] == [level]
