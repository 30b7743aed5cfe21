"""STOMP clients that are wrong in what they send."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from impls.references.stomp.client import Caller, Channel, ClientWriter, Delivery
from specs.plan import Ref
from strategies.common import Op
from strategies.stomp.desk import Serving
from strategies.stomp.writer import REPEAT
from tests.mutants.faults import on
from tests.mutants.stomp_client_kit import beating, chosen, mutant, plan, send, settle, subscribe, tell

SENDS = plan(send())
SUBSCRIBES = plan(subscribe())
TEXTS = plan(send(b"x", {"k": "a:b\\t\n"}))


def header(value: str, name: str = "k") -> Any:
    """The client sends a message with one header."""
    return plan(send(b"x", {name: value}))


def _said(*commands: str, drop: str = "", **changes: str) -> Any:
    """Frames of some commands lack a header, or have another one."""

    def changed(command: str, headers: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
        if command not in commands:
            return list(headers)
        return [(changes.get(name, name), value) for name, value in headers if name != drop]

    return on(Channel, "say").takes(headers=changed)


# -- frames ------------------------------------------------------------------------------------------------------------

mutant("two-nuls", "FRAME-01", SENDS)(
    "Frames end with two NULs.", on(ClientWriter, "eols").gives(lambda found: b"\0" + found)
)
mutant("put", "FRAME-01", SENDS)(
    "Messages are sent by a command that there is not.",
    on(ClientWriter, "encode").takes(command=lambda command: "PUT" if command == "SEND" else command),
)
mutant("no-blank-line", "FRAME-01", SUBSCRIBES, "ENC-09 BODY-01")(
    "Frames without a body have no blank line.",
    on(ClientWriter, "encode").gives(
        lambda command, found: found.replace(b"\n\n\0", b"\n\0") if command == "SUBSCRIBE" else found
    ),
)
mutant("small-commands", "FRAME-05", SENDS)(
    "Commands are written in small letters.",
    on(ClientWriter, "encode").takes(command=lambda command: command.lower() if command == "SEND" else command),
)
mutant("capital-headers", "FRAME-05", SENDS)(
    "Destination is written with a capital letter.", _said("SEND", destination="Destination")
)
mutant("cr-in-1.1", "NEGO-06", chosen(2, 0, Op("send")))(
    "Lines end with CR LF in sessions of 1.1 as well.",
    on(ClientWriter, "line_end").instead(lambda: "\r\n", when=lambda self: self.version == "1.1"),
)


@mutant("crlf-behind-frames-in-1.1", "NEGO-06", chosen(2, 0, Op("send"), Op("send")))
class CrLfBehindFrames(ClientWriter):
    """In sessions of 1.1 a CR LF stands behind each frame, where an end of line is LF."""

    def encode(self, command: str, headers: Sequence[tuple[str, str]], body: bytes = b"") -> bytes:
        return super().encode(command, headers, body) + b"\r\n" * (self.version == "1.1")


mutant("crlf-beats-in-1.1", "NEGO-06", beating(1, 2), profile="1.1")(
    "In sessions of 1.1 heart-beats are CR LF.",
    on(ClientWriter, "beat").instead(lambda: b"\r\n", when=lambda self: self.version == "1.1"),
)
mutant("escapes-in-1.0", "NEGO-06", chosen(1, 0, opening=1))(
    "Headers are escaped in sessions of 1.0 as well.",
    on(ClientWriter, "agree").takes(version=lambda version: "1.1" if version == "1.0" else version),
)
mutant("cr-escape-in-1.1", "ENC-02", chosen(2, 0), "NEGO-06")(
    r"CR is written as the escape \r of 1.2 in sessions of 1.1 as well.",
    on(ClientWriter, "agree").takes(version=lambda version: "1.2" if version == "1.1" else version),
)
mutant("cr-inside", "FRAME-02", SENDS)(
    "A CR ends each header, and the LF behind it comes after a blank.",
    on(ClientWriter, "header").gives(
        lambda name, found: found.replace(":", ":\r", 1) if name == "destination" else found
    ),
)
mutant("no-escapes", "ENC-02", header("a\\tb"), "CLI-02 ENC-10")(
    "The backslash is not escaped.", on(ClientWriter, "escape").gives(lambda found: found.replace("\\\\", "\\"))
)
mutant("raw-lf", "ENC-02", header("a\nb"), "ENC-09 CLI-02")(
    "A line feed is not escaped.", on(ClientWriter, "escape").gives(lambda found: found.replace("\\n", "\n"))
)
mutant("raw-cr", "ENC-02", header("a\rb"), "FRAME-02 CLI-02")(
    "A carriage return is not escaped.", on(ClientWriter, "escape").gives(lambda found: found.replace("\\r", "\r"))
)
mutant("percent", "CLI-02", header("a:b"))(
    "Colons are written as in URLs.", on(ClientWriter, "escape").gives(lambda found: found.replace("\\c", "%3A"))
)
mutant("raw-colon", "ENC-10", header("a:b"))(
    "A colon is not escaped.", on(ClientWriter, "escape").gives(lambda found: found.replace("\\c", ":"))
)
mutant("no-colon", "ENC-09", header(""), "ENC-02")(
    "An empty header is written without its colon.",
    on(ClientWriter, "header").gives(lambda value, found: found if value else found.rstrip(":")),
)
mutant("no-name", "ENC-09", SENDS, "ENC-02")(
    "A message has a header without a name.",
    on(ClientWriter, "header").gives(lambda name, found: found + "\n:x" if name == "destination" else found),
)
mutant("question-marks", "ENC-01", header("é"))(
    "Letters beyond ASCII become question marks.",
    on(ClientWriter, "escape").gives(lambda found: found.encode("ascii", "replace").decode()),
)
mutant("drops-byte-order-marks", "ENC-01", header("\ufeffx"))(
    "U+FEFF at the beginning of a text is not written.",
    on(ClientWriter, "escape").gives(lambda found: found.removeprefix("\ufeff")),
)
mutant("composed", "ENC-01", plan(send(place=3)))(
    "Accents are lost.", on(ClientWriter, "escape").gives(lambda found: found.replace("é", "e"))
)


@mutant("latin-1", "ENC-13", header("é"))
class Latin1(ClientWriter):
    """Headers are written in Latin-1."""

    def encode(self, command: str, headers: Sequence[tuple[str, str]], body: bytes = b"") -> bytes:
        head, blank, rest = super().encode(command, headers, body).partition(b"\n\n")
        return head.decode().encode("latin-1", "ignore") + blank + rest


mutant("trims", "ENC-07", header(" x "))(
    "Values are trimmed.", on(ClientWriter, "escape").gives(lambda found: found.strip(" \t"))
)
mutant("pads", "ENC-07", header(" x "), "CLI-02")(
    "A blank stands behind each colon.",
    on(ClientWriter, "header").gives(
        lambda command, found: found if command == "CONNECT" or "content" in found else found.replace(":", ": ", 1)
    ),
)
mutant("drops-empty", "ENC-08", header(""))(
    "Headers without a value are left out.",
    on(Channel, "say").takes(headers=lambda headers: [pair for pair in headers if pair[1]]),
)
mutant("body-on-subscribe", "BODY-01", SUBSCRIBES)(
    "SUBSCRIBE has a body.",
    on(Channel, "say").takes(body=lambda command, body: b"x" if command == "SUBSCRIBE" else body),
)
mutant("body-on-connect", "BODY-01", plan())(
    "CONNECT has a body.", on(Channel, "say").takes(body=lambda command, body: b"x" if command == "CONNECT" else body)
)

# -- bodies ------------------------------------------------------------------------------------------------------------

mutant("no-length", "CLEN-05", SENDS, "SEND-08", "SHOULD")(
    "There is no content-length where none is needed.",
    on(ClientWriter, "length").gives(lambda body, found: found if 0 in body else []),
)
mutant("length-of-characters", "CLEN-06", plan(send("é".encode())), "CLI-08")(
    "The content-length counts characters.",
    on(ClientWriter, "content_length").instead(lambda body: str(len(body.decode(errors="replace")))),
)
mutant("length-in-hex", "CLEN-06", plan(send(b"0123456789")))(
    "The content-length is written in hexadecimal.",
    on(ClientWriter, "content_length").instead(lambda body: f"0x{len(body):x}"),
)
mutant("no-length-at-all", "CLI-08", plan(send(b"a\0b")), "CLEN-05 SEND-08")(
    "There is never a content-length.", on(ClientWriter, "length").gives(lambda found: found[:0])
)
mutant("cut-at-nul", "CLI-08", plan(send(b"a\0b")))(
    "A body ends at its first NUL.", on(Channel, "say").takes(body=lambda body: body.partition(b"\0")[0])
)
mutant("crlf-bodies", "CLI-08", plan(send(b"\n\n")))(
    "Line ends of bodies become CR LF.", on(Channel, "say").takes(body=lambda body: body.replace(b"\n", b"\r\n"))
)
TYPED = plan(send(b"x", {"content-type": "text/plain;charset=utf-8"}))
mutant("no-type", "CTYPE-01", TYPED, "SEND-08", "SHOULD")(
    "The content-type is left out.", _said("SEND", drop="content-type")
)
mutant("other-type", "SEND-08", TYPED, level="SHOULD")(
    "The parameters of a content-type are left out.",
    on(Channel, "say").takes(
        headers=lambda headers: [(n, v.partition(";")[0] if n == "content-type" else v) for n, v in headers]
    ),
)
mutant("odd-type", "CTYPE-02", SENDS)(
    "The content-type of a message whose application gives none is no MIME type.",
    on(Caller, "user_headers").gives(
        lambda given, found: (
            found
            if "content-type" in given
            else [*(h for h in found if h[0] != "content-type"), ("content-type", "binary")]
        )
    ),
)

# -- what the text requires --------------------------------------------------------------------------------------------

mutant("no-destination", "SEND-01", SENDS)("SEND has no destination.", _said("SEND", drop="destination"))
mutant("subscribes-nowhere", "SUB-01", SUBSCRIBES)(
    "SUBSCRIBE has no destination.", _said("SUBSCRIBE", drop="destination")
)
mutant("no-id", "SUB-02", SUBSCRIBES)("SUBSCRIBE has no id.", _said("SUBSCRIBE", drop="id"))
mutant("sub-for-id", "SUB-02", SUBSCRIBES)("SUBSCRIBE calls its id otherwise.", _said("SUBSCRIBE", id="sub"))
UNSUBSCRIBES = plan(subscribe(), tell("unsubscribe", sub="s0"))
mutant("unsubscribes-nothing", "HDR-02", UNSUBSCRIBES)("UNSUBSCRIBE has no id.", _said("UNSUBSCRIBE", drop="id"))
mutant("unsubscribes-by-destination", "HDR-02", UNSUBSCRIBES)(
    "UNSUBSCRIBE names the destination alone.", _said("UNSUBSCRIBE", id="destination")
)
mutant("unsubscribes-another", "UNSUB-01", UNSUBSCRIBES)(
    "UNSUBSCRIBE names a subscription that there is not.",
    on(Channel, "say").takes(
        headers=lambda command, headers: [
            (n, v + "x" if command == "UNSUBSCRIBE" and n == "id" else v) for n, v in headers
        ]
    ),
)
TWO = plan(subscribe(), subscribe(place=1))
mutant("one-id", "SUB-03", TWO)(
    "All subscriptions have the same id.", on(Caller, "subscription_id").instead(lambda: "0")
)
mutant("id-by-destination", "SUB-03", plan(subscribe(), subscribe()))(
    "The id of a subscription is its destination.",
    on(Caller, "subscription_id").instead(lambda destination: destination),
)
TX = plan(
    tell("begin", transaction="t1"), tell("begin", transaction="t2"), send(tx="t1"), tell("commit", transaction="t2")
)
mutant("one-transaction", "TXN-06", TX)(
    "All transactions have the same id.",
    on(Caller, "identity").instead(lambda: "tx", when=lambda kind: kind == "tx"),
)
mutant("transactions-alike", "TXN-06", TX)(
    "The id of a transaction is the first letter of its name.",
    on(Caller, "identity").instead(lambda name: name[:1], when=lambda kind: kind == "tx"),
)
mutant("sends-outside", "CLI-13", TX)("SEND is never part of a transaction.", _said("SEND", drop="transaction"))
mutant("commits-another", "CLI-13", TX)(
    "The transaction that was begun first is the one that ends.",
    on(Channel, "say").takes(
        headers=lambda command, headers: [
            (n, "t1" if command == "COMMIT" and n == "transaction" else v) for n, v in headers
        ]
    ),
)
mutant("commits-what-is-aborted", "CLI-13", plan(tell("begin", transaction="t1"), tell("abort", transaction="t1")))(
    "A transaction that is to be aborted is committed.", on(Caller, "end_transaction").takes(command=lambda: "COMMIT")
)


@mutant(
    "begins-a-name-once",
    "CLI-13",
    plan(*(tell(verb, transaction="t1") for verb in ("begin", "commit", "begin", "commit"))),
    "TXN-12",
)
class BeginsANameOnce(Caller):
    """A transaction with the name of an earlier one is not begun."""

    def frame_of_transaction(self, command: str, number: str, given: Any) -> str | None:
        known: set[str] = self.__dict__.setdefault("known", set())
        if command == "BEGIN" and number in known:
            return None
        known.add(number)
        return super().frame_of_transaction(command, number, given)


mutant("nameless-transaction", "TXN-01", TX)("COMMIT has no transaction.", _said("COMMIT", drop="transaction"))
mutant("nameless-begin", "TXN-01", TX)("BEGIN has no transaction.", _said("BEGIN", drop="transaction"))
mutant("drops-headers", "CLI-02", header("v"))(
    "User headers are left out.",
    on(Caller, "user_headers").gives(lambda given, found: [h for h in found if h[0] not in given]),
)
mutant("small-destination", "CLI-02", plan(send(place=6)))(
    "Destinations are written in small letters.",
    on(Channel, "say").takes(headers=lambda headers: [(n, v.lower() if n == "destination" else v) for n, v in headers]),
)

# -- acknowledging -----------------------------------------------------------------------------------------------------

ACKS = plan(settle())
NACKS = plan(settle("nack"))
mutant("never-acks", "ACKMODE-02", ACKS)(
    "ACK is not sent.", on(Channel, "say").skips(when=lambda command: command == "ACK")
)
mutant("always-auto", "ACKMODE-02", plan(subscribe("client")))(
    "Every subscription is made with ack:auto.",
    on(Channel, "say").takes(headers=lambda headers: [(n, "auto" if n == "ack" else v) for n, v in headers]),
)
mutant("no-mode", "ACKMODE-02", plan(subscribe("client-individual")))(
    "The mode is left out.", _said("SUBSCRIBE", drop="ack")
)
mutant("never-nacks", "ACKMODE-06", NACKS, level="SHOULD")(
    "NACK is not sent.", on(Channel, "say").skips(when=lambda command: command == "NACK")
)


def _repeated_ack(s: Serving) -> None:
    """The third message repeats its ack header."""
    for n in range(3):
        s.given(s.ear(0, "client-individual"), style=REPEAT if n == 2 else 0)
    s.settle(s.ears[0], "ack", 2)


def _by_message_id(found: Any, delivery: Delivery) -> Any:
    return [(n, delivery.frame.first["message-id"] if n == "id" else v) for n, v in found]


def _naming(verb: str) -> Any:
    class Misnaming(Caller):
        def answer_for(self, command: str, given: Any) -> Any:
            self.verb = command
            return super().answer_for(command, given)

        def naming(self, channel: Channel, delivery: Delivery) -> list[tuple[str, str]]:
            found = super().naming(channel, delivery)
            return _by_message_id(found, delivery) if getattr(self, "verb", "") == verb else found

    return Misnaming


mutant("acks-by-message-id", "ACK-01", ACKS)("ACK names the message-id in id.", _naming("ACK"))
mutant("nacks-by-message-id", "NACK-01", NACKS)("NACK names the message-id in id.", _naming("NACK"))
mutant("nacks-as-in-1.1", "NACK-01", NACKS)("NACK has no id.", _said("NACK", id="message-id"))
mutant("acks-as-in-1.1", "CLI-09", ACKS, "ACK-03")("ACK has no id.", _said("ACK", id="message-id"))
mutant("acks-of-1.2-in-1.1", "NEGO-06", chosen(2, 0, Op("ack")), "ACK-03")(
    "ACK has an id and nothing else in sessions of 1.1.",
    on(Channel, "say").takes(
        headers=lambda self, command, headers: [
            h for h in headers if command != "ACK" or self.version == "1.2" or h[0] != "subscription"
        ]
    ),
)

mutant("nacks-of-1.2-in-1.1", "NEGO-06", chosen(2, 0, Op("nack")), "NACK-01")(
    "NACK has no subscription in sessions of 1.1.",
    on(Channel, "say").takes(
        headers=lambda self, command, headers: [
            h for h in headers if command != "NACK" or self.version == "1.2" or h[0] != "subscription"
        ]
    ),
)


def _of_old(verb: str, name: str, change: Any) -> Any:
    """An older version's ACK or NACK has another value in one header."""
    return on(Channel, "say").takes(
        headers=lambda command, headers: [(n, change(v) if command == verb and n == name else v) for n, v in headers]
    )


mutant("acks-another-subscription-in-1.1", "CLI-09", ACKS, "ENC-03", profile="1.1")(
    "In sessions of 1.1 an ACK names a subscription that there is not.",
    _of_old("ACK", "subscription", lambda value: f"sub-{value}"),
)
mutant("nacks-what-never-came-in-1.1", "NACK-01", NACKS, "ENC-03", profile="1.1")(
    "In sessions of 1.1 a NACK has a message-id that no message had.",
    _of_old("NACK", "message-id", lambda value: f"{value}-n"),
)
mutant("acks-what-never-came-in-1.0", "CLI-09", plan(settle(mode="client")), profile="1.0")(
    "In sessions of 1.0 an ACK has a message-id that no message had.",
    _of_old("ACK", "message-id", lambda value: f"{value}-n"),
)
mutant("acks-twice", "ACK-03", ACKS)(
    "Every ACK is sent twice.",
    on(Channel, "say").repeats(when=lambda command: command == "ACK"),
)
mutant("acks-what-never-came", "ACK-03", ACKS)(
    "ACK names something that was never delivered.",
    on(Channel, "say").takes(
        headers=lambda command, headers: [(n, v + "x" if command == "ACK" and n == "id" else v) for n, v in headers]
    ),
)
mutant(
    "acks-outside", "CLI-13", plan(tell("begin", transaction="t1"), settle(tx="t1"), tell("commit", transaction="t1"))
)("ACK is never part of a transaction.", _said("ACK", drop="transaction"))
mutant(
    "nacks-outside",
    "CLI-13",
    plan(tell("begin", transaction="t1"), settle("nack", tx="t1"), tell("commit", transaction="t1")),
)("NACK is never part of a transaction.", _said("NACK", drop="transaction"))


def _acked_again_after_abort(s: Serving) -> None:
    ear = s.subscribe(0, "client-individual")
    s.given(ear)
    ref = Ref("ref", ear.open[0])
    s.do("begin", transaction="t1")
    s.settle(ear, "ack", 0, "t1")
    for op, given in (("abort", {"transaction": "t1"}), ("ack", {"ref": ref})):
        s.do(op, **given)
        s.serve()


mutant("aborted-stays-settled", "ACKMODE-02", plan(_acked_again_after_abort), switches={"settled_again": "ignore"})(
    "What was settled in a transaction stays settled when that is aborted: another ACK is left out without a word.",
    on(Caller, "end_transaction").before(
        lambda self, given: self.settling.update({given["transaction"]: []}),
        when=lambda self, command, given: command == "ABORT" and given["transaction"] in self.settling,
    ),
)
mutant("acks-by-last", "REPEAT-01", plan(_repeated_ack, wire=REPEAT), level="SHOULD")(
    "Of a repeated ack header the last counts.",
    on(Caller, "naming").gives(
        lambda delivery, found: [(n, dict(delivery.frame.headers).get("ack", v) if n == "id" else v) for n, v in found]
    ),
)

# -- ids that are like others ------------------------------------------------------------------------------------------


def _called(flavour: int, *plays: Any) -> Any:
    """A witness in which ids and names look otherwise."""

    def witness(config: Any) -> Any:
        s = Serving(config, (0, flavour, 0, 0))
        s.connect()
        for play in plays:
            play(s)
        s.end()
        return s.plan()

    return witness


mutant("ids-are-numbers", "ACK-03", _called(4, settle()), "ACKMODE-02 CLI-09")(
    "What is acknowledged is named as a number, without the zeros that it begins with.",
    on(Caller, "naming").gives(lambda found: [(n, str(int(v)) if v.isdecimal() else v) for n, v in found]),
)
mutant("ids-are-cut", "ACK-03", _called(12, settle()), "ACKMODE-02 CLI-09")(
    "The id of an acknowledgement has 64 characters at most.",
    on(Caller, "naming").gives(lambda found: [(n, v[:64]) for n, v in found]),
)


@mutant("subscriptions-in-any-case", "CLI-03", _called(2, subscribe(), lambda s: s.given(s.subscribe(1))), "SUB-05")
class SubscriptionsInAnyCase(Caller):
    """Ids of subscriptions are compared without regard to letter case."""

    def meant(self, first: Any) -> Any:
        wanted = first.get("subscription", "").lower()
        alike = [each for each in self.subscriptions.values() if (each.id or "").lower() == wanted]
        return alike[0] if alike else super().meant(first)
