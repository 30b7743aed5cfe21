"""Readings of the text about STOMP clients: what is allowed, and beside it what is not."""

from __future__ import annotations

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.stomp.client import Caller, Channel, ClientWriter, ServerReader
from specs.events import Closed, Fact, Noise, Quiet, Said
from specs.model import judge
from specs.stomp.client.model import ClientModel
from specs.stomp.frames import BEAT, Frame, decoder, is_beat
from specs.stomp.states import Config
from tests.mutants.stomp_client_kit import STOMP, client_of, config_for, plan, send, settle, tell
from tests.test_stomp_client_machine import OPENED, client, server, told

OK, NO = Fact(0, "client", "answer", {"ok": True}), Fact(0, "client", "answer", {"error": "no"})
LIVE = (*OPENED, server("CONNECTED", version="1.2"), OK)
SUBSCRIBED = (
    *LIVE, told("subscribe", destination="/x", sub="s", ack="client"),
    client("SUBSCRIBE", destination="/x", id="1", ack="client"), OK,
)  # fmt: skip
END = Quiet(1000, 1000, final=True)


def judged(*events, version="1.2"):
    return judge(ClientModel(), Config(version, role="client"), events, "client")


def blamed(*events, version="1.2"):
    found = judged(*events, version=version)
    return [(b.breach.requirement.removeprefix("STOMP-1.2-"), b.breach.level) for b in found.faults]


def given(body="x", ref="m1", **headers):
    said = {"message-id": "m", **headers}
    return Fact(
        0, "client", "answer", {"ok": {"ref": ref, "headers": said, "body_hex": body.encode().hex(), "sub": "s"}}
    )


def message(n, body=b"", **headers):
    said = server("MESSAGE", destination="/x", message_id=f"m{n}", subscription="1", ack=f"a{n}", **headers)
    return Said(0, "server", type(said.frame)("MESSAGE", said.frame.headers, body or b"%d" % n))


def got(n):
    value = {"ref": f"r{n}", "headers": {"message-id": f"m{n}"}, "body_hex": (b"%d" % n).hex(), "sub": "s"}
    return Fact(0, "client", "answer", {"ok": value})


def test_a_command_that_is_refused_is_nobodys_fault():
    assert blamed(*LIVE, told("nack", ref="x"), NO, told("send", destination="/x", body_hex=""), NO, END) == []


def test_a_command_that_is_done_has_to_be_sent():
    assert blamed(*LIVE, told("send", destination="/x", body_hex=""), OK, END) == [("CLI-15", None)]


def test_who_waits_for_a_receipt_has_time():
    asked = (*LIVE, told("send", destination="/x", body_hex=""), client("SEND", destination="/x", receipt="r"))
    assert blamed(*asked, END) == []
    assert blamed(*asked, server("RECEIPT", receipt_id="r"), END) == [("CLI-03", None)]


def test_who_connects_only_when_there_is_something_to_send_is_right():
    events = (told("connect", versions=["1.2"]), OK, told("send", destination="/x", body_hex=""), *OPENED[1:])
    greeted = (*events, server("CONNECTED", version="1.2"), client("SEND", destination="/x"), OK)
    assert blamed(*greeted, END) == []
    assert blamed(*events[:3], END) == [("CLI-15", None)]


def test_a_message_of_a_subscription_that_ends_is_right_until_that_has_its_receipt():
    leaving = (*SUBSCRIBED, told("unsubscribe", sub="s", receipt=True), client("UNSUBSCRIBE", id="1", receipt="r"))
    receipted, receiving = (server("RECEIPT", receipt_id="r"), OK), told("receive", timeout_ms=50)
    nothing = Fact(0, "client", "answer", {"ok": None})
    assert blamed(*leaving, message(1), *receipted, receiving, nothing, END) == []
    assert blamed(*leaving, message(1), *receipted, receiving, got(1), END) == []
    assert blamed(*leaving, message(1), Closed(0, "client")) == [("CLI-15", None)]
    assert blamed(*leaving, *receipted, message(1), Closed(0, "client")) == []
    assert blamed(*SUBSCRIBED, told("unsubscribe", sub="s"), client("UNSUBSCRIBE", id="1"), OK, message(1),
                  Closed(0, "client")) == []  # fmt: skip


def _held(ms, *, nth=0):
    sending = told("send", destination="/x", body_hex=f"{nth:02x}", receipt="r")
    headers = (("destination", "/x"), ("receipt", "r"), ("content-length", "1"))
    said = Said(0, "client", Frame("SEND", headers, bytes([nth])))
    return sending, said, Quiet(ms, ms)


def test_who_was_seen_to_wait_for_a_receipt_waits_for_each():
    receipt = server("RECEIPT", receipt_id="r")
    known, dropped = (*_held(900), receipt, OK), Fact(0, "server", "drop", None)
    assert blamed(*LIVE, *known, *_held(50, nth=1), OK) == [("CLI-03", None)]
    assert blamed(*LIVE, *known, *_held(50, nth=1), dropped, OK) == [("CLI-03", None)]
    assert blamed(*LIVE, *known, *_held(50, nth=1), dropped, NO, END) == []
    assert blamed(*LIVE, *known, *_held(50, nth=1), receipt, OK, END) == []
    # nobody knows whether this one waits, or does so for longer than it was seen to
    assert blamed(*LIVE, *_held(50), receipt, OK, *_held(20, nth=1), dropped, OK) == []
    assert blamed(*LIVE, *_held(900), OK, receipt, *_held(20, nth=1), OK) == []
    assert blamed(*LIVE, *known, *_held(950, nth=1), OK) == []


def test_frames_before_connected_are_free_also_in_a_version_that_was_not_offered():
    early = (told("connect", versions=["1.2"]), OK, told("send", destination="/x", body_hex=""), *OPENED[1:])
    refused = (*early, server("CONNECTED", version="9.9"), client("SEND", destination="/x"))
    assert judged(*refused).leaned == {"E-12": 1}
    known = (*OPENED, server("CONNECTED", version="9.9"), NO, told("send", destination="/x", body_hex=""))
    assert blamed(*known, client("SEND", destination="/x")) == [("CLI-11", None)]
    assert blamed(*OPENED, server("CONNECTED", version="9.9"), OK) == [("NEGO-07", None)]


@pytest.mark.parametrize(("silence", "faults"), [(150, [("CLI-12", None)]), (520, [("HB-09", "SHOULD")]), (900, [])])
def test_a_silent_server_is_left_when_its_time_is_over(silence, faults):
    connect = client("CONNECT", accept_version="1.2", host="/", heart_beat="0,500")
    greeted = (OPENED[0], connect, server("CONNECTED", version="1.2", heart_beat="500,0"), OK)
    assert blamed(*greeted, Quiet(silence, silence), Closed(0, "client")) == faults
    assert blamed(*greeted, Said(0, "server", BEAT), Quiet(silence, silence), Closed(0, "client")) == faults


def test_a_server_without_heart_beats_is_never_left():
    assert blamed(*LIVE, Quiet(9000, 9000), Closed(0, "client")) == [("HB-02", None)]
    assert blamed(*LIVE, Closed(0, "client")) == [("CLI-15", None)]


def test_the_time_in_which_a_frame_was_written_in_pieces_was_no_silence():
    pieces = Fact(0, "server", "written", ("in pieces",))
    written = (*SUBSCRIBED, pieces, message(1), Quiet(0, 400), Closed(0, "client"))
    assert blamed(*written) == [("FRAME-06", None)]
    assert "STOMP-1.2-CLI-12" not in judged(*written).covered


def test_an_application_may_leave_as_it_likes_and_should_do_it_well():
    assert blamed(*LIVE, told("disconnect"), Closed(0, "client"), OK) == [("DISC-02", None)]
    bye = (*LIVE, told("disconnect"), client("DISCONNECT", receipt="r"))
    assert blamed(*bye, server("RECEIPT", receipt_id="r"), Closed(0, "client"), OK, END) == []
    assert blamed(*bye, Closed(0, "client"), OK, END) == [("DISC-02", None)]


def test_one_ack_may_speak_for_those_before_it():
    two = (
        *SUBSCRIBED,
        message(1),
        message(2),
        told("receive", timeout_ms=9),
        got(1),
        told("receive", timeout_ms=9),
        got(2),
    )
    acked = (*two, told("ack", ref="r1"), OK, told("ack", ref="r2"), OK)
    assert blamed(*acked, client("ACK", id="a2"), END) == []
    assert blamed(*acked, client("ACK", id="a1"), END) == [("ACKMODE-02", None)]
    assert blamed(*acked, client("ACK", id="a2"), client("ACK", id="a1")) == [("ACK-03", None)]


@pytest.mark.parametrize(("name", "rules"), [("s", []), ("other", [("CLI-03", None)])])
def test_a_message_of_a_subscription_that_has_ended_may_be_given_under_its_name(name, rules):
    """Also where the same was to be subscribed again and was refused; E-39."""
    again = (*SUBSCRIBED, told("unsubscribe", sub="s"), OK, client("UNSUBSCRIBE", id="1"),
             told("subscribe", destination="/x", sub="s", ack="client"), NO)  # fmt: skip
    get = told("receive", timeout_ms=5000)
    second = got(2).value["ok"] | {"sub": name}
    read = (message(1), get, message(2), got(1), get, Fact(0, "client", "answer", {"ok": second}))
    assert blamed(*again, *read, END) == rules


def test_a_message_that_comes_behind_unsubscribe_need_not_be_given():
    left = (*SUBSCRIBED, told("unsubscribe", sub="s"), message(1), client("UNSUBSCRIBE", id="1"), OK)
    none = Fact(0, "client", "answer", {"ok": None})
    assert blamed(*left, told("receive", timeout_ms=50), none, END) == []
    assert blamed(*SUBSCRIBED, message(1), told("receive", timeout_ms=50), none) == [("CLI-03", None)]


def test_a_library_need_not_hand_on_headers_of_the_protocol():
    bare = Fact(0, "client", "answer", {"ok": {"ref": "r", "headers": {"k": "v"}, "body_hex": b"1".hex(), "sub": "s"}})
    asked = (*SUBSCRIBED, message(1, k="v"), told("receive", timeout_ms=9))
    assert blamed(*asked, bare, END) == []
    less = Fact(
        0, "client", "answer", {"ok": {"ref": "r", "headers": {"ack": "a1"}, "body_hex": b"1".hex(), "sub": "s"}}
    )
    assert blamed(*asked, less) == [("CLI-03", None)]
    none = Fact(0, "client", "answer", {"ok": {"ref": "r", "body_hex": b"1".hex(), "sub": "s"}})
    assert blamed(*asked, none, END) == []


def sends(**headers):
    return told("send", destination=headers.pop("to", "/x"), body_hex="", headers=headers)


def test_before_connected_nobody_knows_how_a_header_is_written():
    asked = (told("connect", versions=["1.1", "1.2"]), OK, sends(k="a:b", e="x"), *OPENED[1:])
    assert blamed(*asked, client("SEND", destination="/x", k="a\\cb", e="x")) == []
    assert blamed(*asked, client("SEND", destination="/x", k="a:b", e="y")) == [("CLI-02", None)]
    assert blamed(*LIVE, sends(k="a:b"), client("SEND", destination="/x", k="a;b")) == [("CLI-02", None)]


def test_a_destination_with_blanks_need_not_be_one():
    assert blamed(*LIVE, sends(to="/a b"), client("SEND", destination="/a%20b")) == []
    assert blamed(*LIVE, sends(to="/ab"), client("SEND", destination="/aB")) == [("CLI-02", None)]


def warted(wart):
    return Said(0, "client", Frame("SEND", (("destination", "/x"), ("k", "a\rb")), b"", (wart,)))


@pytest.mark.parametrize(("version", "faults"), [("1.1", []), ("1.2", [("ENC-02", None)])])
def test_1_1_has_no_escape_for_a_cr(version, faults):
    connect = client("CONNECT", accept_version=version, host="/")
    live = (told("connect", versions=[version]), connect, server("CONNECTED", version=version), OK)
    assert blamed(*live, sends(k="a\rb"), warted("bare-cr"), version=version) == faults
    assert blamed(*live, sends(k="a\nb"), warted("no-colon"), version=version) == [("ENC-02", None)]


@pytest.mark.parametrize(("version", "faults"), [("1.0", []), ("1.1", [("CLI-07", None)])])
def test_1_0_does_not_say_what_a_wrong_length_is(version, faults):
    connect = client("CONNECT", accept_version=version, host="/")
    live = (told("connect", versions=[version]), connect, server("CONNECTED", version=version), OK)
    heard = (*live, told("subscribe", destination="/x", sub="s"), client("SUBSCRIBE", destination="/x", id="1"), OK)
    noise = Noise(0, "server", b"abc", "content-length-mismatch")
    behind = (*heard, noise, message(1), told("receive", timeout_ms=9), got(1))
    assert blamed(*behind, version=version) == faults


def test_what_follows_from_a_repeated_header_is_a_recommendation():
    asked = (*SUBSCRIBED, told("receive", timeout_ms=9))
    twice = (("destination", "/x"), ("message-id", "m"), ("subscription", "1"), ("k", "\u00e9"))
    for more in (("subscription", "2"), ("k", "v")):
        said = Said(0, "server", Frame("MESSAGE", (*twice, more), b"x"))
        (fault,) = judged(*asked, said, Closed(0, "client"), END).faults
        assert fault.breach.requirement[10:] in ("REPEAT-01", "CLI-05")
    said = Said(0, "server", Frame("MESSAGE", twice, b"x"))
    assert blamed(*asked, said, Closed(0, "client"), END) == [("ENC-13", None)]


def test_a_connection_that_ended_may_be_followed_by_another():
    cut = (*SUBSCRIBED, message(1), Closed(0, "server"))
    again = (*cut, told("connect", versions=["1.2"]), OPENED[1], server("CONNECTED", version="1.2"), OK)
    assert blamed(*again, told("send", destination="/x", body_hex=""), OK, END) == [("CLI-15", None)]
    assert blamed(*cut, told("connect", versions=["1.2"]), NO, END) == []
    assert blamed(*again, told("receive", timeout_ms=9), got(1), END) == []  # it had come before
    assert blamed(*again, told("receive", timeout_ms=9), got(2), END) == [("CLI-03", None)]
    assert blamed(*again, client("SUBSCRIBE", destination="/x", id="1"), END) == []  # renewed by itself
    assert blamed(*again, client("ACK", id="a1"), END) == [("ACK-03", None)]
    assert blamed(*again, Closed(0, "client")) == [("CLI-15", None)]


def test_how_a_frame_is_written_is_what_is_blamed_first():
    asked = (*SUBSCRIBED, told("receive", timeout_ms=9))
    said = message(1, b"a\0b", content_length="3")
    lost = Fact(0, "client", "answer", {"ok": None})
    for how, fault in (("CR LF", "FRAME-02"), ("in pieces", "FRAME-06"), ("line ends around it", "FRAME-03")):
        assert blamed(*asked, Fact(0, "server", "written", [how]), said, lost) == [(fault, None)]
    assert blamed(*asked, said, lost) == [("CLEN-01", None)]


def test_each_unusual_way_in_which_a_frame_was_written_may_be_the_reason():
    """A known failure that comes and goes explains one of a frame that was written so too, and no other one."""
    eols = "STOMP-1.2-FRAME-03 marked STOMP-1.2-FRAME-03"
    for written, explained in ((["in pieces", "line ends around it"], True), (["in pieces"], False)):
        ended = (*SUBSCRIBED, Fact(0, "server", "written", written), message(1), Closed(0, "client"))
        (fault,) = judged(*ended).faults
        assert fault.breach.fingerprint == "STOMP-1.2-FRAME-06 marked STOMP-1.2-FRAME-06"
        assert (eols in fault.breach.rivals) is explained


@pytest.mark.parametrize(("written", "name", "one"), [(["CR LF"], "FRAME-02", True), ([], "CLI-14", False)])
def test_whether_a_client_waits_or_hangs_up_behind_connected_is_one_failure_where_its_form_is_the_reason(
    written, name, one
):
    """A baseline that accepts one of them accepts the other, but not where nothing tells that they have one reason."""
    asked = (*OPENED, Fact(0, "server", "written", written), server("CONNECTED", version="1.2"))
    (waits,), (ends,) = (judged(*asked, how).faults for how in (END, Closed(0, "client")))
    assert [each.breach.requirement for each in (waits, ends)] == [f"STOMP-1.2-{name}"] * 2
    assert waits.breach.fingerprint != ends.breach.fingerprint
    assert (waits.breach.fingerprint in ends.breach.rivals) is one
    assert (ends.breach.fingerprint in waits.breach.rivals) is one


def test_nothing_is_judged_in_a_session_of_a_version_that_is_not_claimed():
    other = (told("connect", versions=["1.2"]), client("CONNECT", accept_version="1.1", host="/"))
    live = (*other, server("CONNECTED", version="1.1"), OK)
    assert blamed(*live, told("send", destination="/x", body_hex=""), OK, Closed(0, "client"), END) == []


def test_a_frame_of_a_client_is_not_asked_for_what_its_version_cannot_write():
    send = told("send", destination="/x", body_hex="", headers={"k": "a\rb"})
    live = (told("connect"), client("CONNECT", accept_version="1.1", host="/"), server("CONNECTED", version="1.1"), OK)
    assert blamed(*live, send, client("SEND", destination="/x", k="ab"), OK, END, version="1.1") == []
    assert blamed(*LIVE, send, client("SEND", destination="/x", k="ab")) == [("CLI-02", None)]


_OLD = {"1.0": ("client", {"id": "1"}), "1.1": ("client-individual", {"id": "1"})}


def acknowledged(version, verb="ACK", **headers):
    """A session in which a message is acknowledged by these headers."""
    opened = (
        told("connect"),
        client("CONNECT", accept_version=version, host="/"),
        server("CONNECTED", version=version),
    )
    mode, known = _OLD[version]
    heard = (
        told("subscribe", destination="/x", sub="s", ack=mode),
        client("SUBSCRIBE", destination="/x", ack=mode, **known),
        OK, message(1), told("receive", timeout_ms=9), got(1),
    )  # fmt: skip
    return blamed(*opened, OK, *heard, told(verb.lower(), ref="r1"), client(verb, **headers), OK, END, version=version)


@pytest.mark.parametrize(("verb", "rule"), [("ACK", "CLI-09"), ("NACK", "NACK-01")])
def test_before_1_2_a_message_is_named_by_its_message_id_and_its_subscription(verb, rule):
    assert acknowledged("1.1", verb, subscription="1", message_id="m1") == []
    assert acknowledged("1.1", verb, message_id="m1", subscription="1", id="/x") == []
    assert acknowledged("1.1", verb, message_id="m1", subscription="/x") == [(rule, None)]
    assert acknowledged("1.1", verb, message_id="a1", subscription="1") == [(rule, None)]


def test_in_1_0_a_message_is_named_by_its_message_id_alone():
    assert acknowledged("1.0", message_id="m1") == acknowledged("1.0", message_id="m1", subscription="/x") == []
    assert acknowledged("1.0", message_id="a1") == [("CLI-09", None)]


def test_before_1_2_a_message_of_an_earlier_connection_may_be_named():
    once = (told("connect"), client("CONNECT", accept_version="1.1", host="/"), server("CONNECTED", version="1.1"), OK)
    subscribes = (
        told("subscribe", destination="/x", sub="s", ack="client"),
        client("SUBSCRIBE", destination="/x", id="1", ack="client"), OK,
    )  # fmt: skip
    first = (
        *once,
        *subscribes,
        message(1),
        told("receive", timeout_ms=9),
        got(1),
        told("drop"),
        Closed(0, "client", "eof"),
    )
    late = client("ACK", message_id="m1", subscription="1")
    assert [name for name, _ in blamed(*first, *once, *subscribes, late, END, version="1.1")] == []
    stray = client("ACK", message_id="m2", subscription="1")
    assert [name for name, _ in blamed(*first, *once, *subscribes, stray, END, version="1.1")] == ["CLI-09"]


@pytest.mark.parametrize(
    ("version", "role", "value"),
    [("1.0", "client", "/a b"), ("1.1", "client", "  /a b "), ("1.0", "server", "  /a b ")],
)
def test_blanks_around_a_value_are_padding_where_a_client_of_1_0_writes_it(version, role, value):
    reader = decoder("client", Config(version, role=role), {})
    (frame,) = reader.feed(b"SEND\ndestination:  /a b \ncontent-length:1\n\n \0")
    assert (frame.headers, frame.body, frame.warts) == ((("destination", value), ("content-length", "1")), b" ", ())


@pytest.mark.parametrize(
    ("version", "between", "warts"),
    [
        ("1.1", b"\n\n", ()),
        ("1.1", b"\n\r\n", ("cr-in-line-end",)),
        ("1.2", b"\r\n", ()),
        ("1.0", b"\r\n", ()),  # 1.0 speaks of newlines, and not of those between frames
    ],
)
def test_a_line_end_between_frames_is_a_line_feed_in_1_1(version, between, warts):
    """STOMP 1.1, Heart-beating and Augmented BNF: 0A."""
    reader = decoder("client", Config(version, role="client"), {})
    frames = reader.feed(b"SEND\n\na\0" + between + b"SEND\n\nb\0")
    assert [frame.warts for frame in frames] == ([(), warts, ()] if warts else [(), ()])
    (alone,) = reader.feed(between)
    assert (is_beat(alone), alone.warts) == (True, warts)


def test_the_line_ends_behind_connect_may_be_those_of_any_version_that_it_offers():
    """What follows CONNECT was said before the version was known."""
    reader = decoder("client", Config("1.1", role="client"), {})
    assert [frame.warts for frame in reader.feed(b"CONNECT\naccept-version:1.1,1.2\n\n\0")] == [()]
    (alone,) = reader.feed(b"\r\n")
    assert alone == BEAT


@pytest.mark.parametrize(("name", "found"), [(":\n ", "ENC-02"), ("k", "ENC-09")])
def test_a_line_that_a_line_feed_has_torn_is_a_matter_of_escapes(name, found):
    """ENC-02: where a name that the application gave has a line feed, one of its lines may have no name."""
    asked = told("send", destination="/queue/a", body_hex="", headers={name: "v"})
    written = Frame("SEND", (("destination", "/queue/a"), ("", ""), (" ", "v")), b"", ("empty-name",))
    assert blamed(*LIVE, asked, Said(0, "client", written)) == [(found, None)]


def padding(version, blank):
    """What a client is blamed for that writes a blank in front of each value, and in it."""

    class Writer(ClientWriter):
        def header(self, command, name, value):
            return f"{name}: {value.replace('/', '/' + blank)}"

    class Reader(ServerReader):
        def split_header(self, line):
            name, value = super().split_header(line)
            return name, value.strip(" ")

    channel = type("Padding", (Channel,), {"writer_type": Writer, "reader_type": Reader})
    client_type = client_of(type("Caller", (Caller,), {"channel_type": channel}))
    config = config_for(version)
    script = plan(settle(mode="client"), send(b"a\0b", receipt=True), tell("unsubscribe", sub="s0"))(config)
    judgement = drive(script, Setting(STOMP, config, "client", MemoryTransport(client_type)), "p-").judgement
    return judgement.verdict, [b.breach.requirement.removeprefix("STOMP-1.2-") for b in judgement.blamed]


def test_a_client_of_1_0_may_write_blanks_as_the_examples_of_its_version_do():
    assert padding("1.0", "") == ("pass", [])
    assert padding("1.0", " ") == ("fail", ["CLI-02"])


def test_an_error_in_place_of_a_receipt_is_no_success():
    asked = (
        *LIVE, told("send", destination="/x", body_hex="", receipt=True),
        client("SEND", destination="/x", receipt="r"),
    )  # fmt: skip
    about_it, other = server("ERROR", receipt_id="r"), server("ERROR", receipt_id="q")
    assert blamed(*asked, about_it, OK) == [("CLI-03", None)]
    assert blamed(*asked, about_it, NO) == []
    assert blamed(*asked, other, OK) == []


@pytest.mark.parametrize(
    ("size", "given_it", "rules"),
    [(1025, False, [("CLI-15", "SHOULD")]), (1024, False, [("CLI-03", None)]), (1025, True, [("CLI-15", None)])],
)
def test_a_message_of_more_than_a_kibibyte_may_be_too_long_for_a_client(size, given_it, rules):
    """It ends the connection (Sizes). One that its application has got was not too long."""
    sent = message(1, b"x" * size)
    taken = (told("receive", timeout_ms=1000), given("x" * size, **{"message-id": "m1"})) if given_it else ()
    assert blamed(*SUBSCRIBED, sent, *taken, Closed(0, "client"), END) == rules


def test_a_client_that_loses_a_long_message_is_blamed():
    lost = (message(1, b"x" * 1025), message(2), *(told("receive", timeout_ms=1000), got(2)), told("receive"), NO)
    assert [name for name, _ in blamed(*SUBSCRIBED, *lost, END)] == ["CLI-03"]
