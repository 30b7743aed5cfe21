"""STOMP clients that are wrong in how they read what the server says."""

from __future__ import annotations

from typing import Any

from impls.references.stomp.client import Caller, Channel, Delivery, ServerReader, Subscription
from impls.references.stomp.client_channel import Phase
from impls.references.stomp.parser import Frame, Malformed
from strategies.common import Op
from strategies.stomp.desk import Serving
from strategies.stomp.writer import CRLF, CUTS, EOLS, REPEAT
from tests.mutants.faults import on
from tests.mutants.stomp_client_kit import chosen, drawn, get, misuse, mutant, plan, send

KEPT = ("MESSAGE", "RECEIPT", "CONNECTED", "ERROR", "destination", "message-id", "subscription", "ack", "receipt-id",
        "content-length", "content-type", "version")  # fmt: skip
"""Lines that are read well."""


def text(value: str, name: str = "k") -> Any:
    """The client gets a message with one header."""
    return plan(get(b"x", {name: value}))


def _shown(change: Any) -> Any:
    """What is reported of a message is changed."""
    return on(Caller, "shown").gives(change)


def _headers(change: Any) -> Any:
    """The headers that are reported of a message are changed."""
    return _shown(lambda found: {**found, "headers": change(found["headers"])})


# -- frames ------------------------------------------------------------------------------------------------------------

mutant("whole-reads", "FRAME-06", plan(get(style=CUTS), get(style=CUTS), wire=CUTS), "CLI-15 CLI-03")(
    "A frame has to come in one read.",
    on(Channel, "received").after(
        lambda self: setattr(self, "reader", type(self.reader)(self.switches)), when=lambda self: self.reader.held > 0
    ),
)
mutant("cr-in-values", "FRAME-02", plan(get(b"x", {"k": "v"}, style=CRLF), wire=CRLF), "CLI-03")(
    "The CR of a line end stays in the value.",
    on(ServerReader, "end_line").instead(
        lambda line: line.removesuffix("\r") if line.partition(":")[0] in KEPT else line
    ),
)
mutant("no-crlf", "FRAME-02", plan(get(style=CRLF), wire=CRLF), "CLI-03")(
    "Lines that end with CR LF are refused.", on(ServerReader, "end_line").raises(lambda: Malformed("a CR"))
)


@mutant("eols-behind", "FRAME-03", plan(get(style=EOLS), get(), wire=EOLS), "CLI-06 CLI-03")
class EolsBehind(Channel):
    """A frame that is followed by line ends ends the session."""

    def received(self, data: bytes) -> None:
        if b"\0\n" in data or b"\0\r\n" in data:
            self.end("a line end")
        else:
            super().received(data)


@mutant("beats-swallow", "CLI-06", drawn("eols"), "FRAME-06")
class BeatsSwallow(Channel):
    """What comes behind a heart-beat is taken for one, too."""

    beaten = False

    def received(self, data: bytes) -> None:
        beaten, self.beaten = self.beaten, bool(data) and not data.strip(b"\r\n")
        if not data or not (beaten or self.beaten):
            super().received(data)


mutant("one-beat", "CLI-06", drawn("eols", 0, 3))(
    "More than one line end between two frames ends the session.",
    on(Channel, "received").instead(lambda self: self.end("no frame"), when=lambda data: data[:2] == b"\n\n"),
)
mutant("small-names", "FRAME-05", drawn("alike", 0, 5))(
    "Names of headers are read as if they were written in small letters.",
    _headers(lambda headers: {name.lower(): value for name, value in headers.items()}),
)


@mutant("case-blind", "FRAME-05", drawn("alike", 0, 0))
class CaseBlind(Channel):
    """A header counts in whatever letter case it is written."""

    def on_message(self, frame: Frame) -> None:
        first: dict[str, str] = {}
        for name, value in frame.headers:
            first.setdefault(name.lower(), value)
        super().on_message(frame._replace(first=first))


# -- headers -----------------------------------------------------------------------------------------------------------

mutant("many-passes", "ENC-03", text("\\n"))(
    "Escapes are decoded by one replacement after the other.",
    on(ServerReader, "unescape").instead(
        lambda text: text.replace("\\n", "\n").replace("\\c", ":").replace("\\r", "\r").replace("\\\\", "\\")
    ),
)
mutant("no-decoding", "ENC-03", text("a:b"))(
    "Escapes stay as they are.", on(ServerReader, "unescape").instead(lambda text: text)
)
mutant("no-colons", "ENC-03", text("a:b"))(
    "A message with a colon in a header is passed over.",
    on(Channel, "on_message").skips(when=lambda frame: any(":" in v for n, v in frame.headers if n not in KEPT)),
)


mutant("any-escape", "ENC-04", misuse("undefined"), "ENC-05 CLI-04")(
    "An escape that is not defined stays as it is.", on(ServerReader, "unescape").forgives(Malformed, lambda text: text)
)
mutant("tabs", "ENC-04", misuse("undefined"))(
    "There is an escape for tabs.",
    on(ServerReader, "unescape").forgives(
        Malformed, lambda text: text.replace("\\t", "\t"), when=lambda text: "\\t" in text
    ),
)
mutant("lone-backslash", "ENC-05", misuse("trailing"))(
    "A backslash at the end stays as it is.",
    on(ServerReader, "unescape").forgives(Malformed, lambda text: text, when=lambda text: text.endswith("\\")),
)
mutant("drops-and-goes-on", "CLI-04", misuse("undefined"))(
    "A message with an undefined escape is passed over.",
    on(ServerReader, "read_headers").forgives(Malformed, lambda: [("destination", ""), ("message-id", "")]),
)
mutant("reads-ascii", "ENC-01", text("é"))(
    "Letters beyond ASCII become question marks.",
    on(ServerReader, "decode").gives(lambda found: found.encode("ascii", "replace").decode()),
)
mutant("loses-byte-order-marks", "ENC-01", text("\ufeffx"))(
    "U+FEFF at the beginning of a value is taken for a mark of the byte order.",
    _headers(lambda headers: {name: value.removeprefix("\ufeff") for name, value in headers.items()}),
)
mutant("refuses-letters", "ENC-13", text("é"))(
    "Headers beyond ASCII are refused.",
    on(ServerReader, "decode").raises(lambda: Malformed("no ASCII"), when=lambda octets: not octets.isascii()),
)
mutant("strips", "ENC-07", text(" x "))(
    "Values are trimmed.", _headers(lambda headers: {n: v.strip(" \t") for n, v in headers.items()})
)
mutant("strips-left", "ENC-07", text(" x"))(
    "A blank behind the colon is taken for padding.",
    on(ServerReader, "split_header").gives(lambda found: (found[0], found[1].removeprefix(" "))),
)
mutant("skips-empty", "ENC-08", text(""))(
    "Headers without a value are left out.", _headers(lambda headers: {n: v for n, v in headers.items() if v})
)
mutant("refuses-empty", "ENC-08", text(""))(
    "A header without a value is refused.",
    on(ServerReader, "decode_header").raises(lambda: Malformed("no value"), when=lambda value: not value),
)
mutant("decodes-1.0", "NEGO-06", chosen(1, 0, Op("send")))(
    "Escapes are decoded in sessions of 1.0 as well.",
    on(ServerReader, "split_header").gives(
        lambda self, found: (
            found[0],
            found[1].replace("\\n", "\n").replace("\\\\", "\\") if self.version == "1.0" else found[1],
        )
    ),
)
REPEATED = plan(lambda s: s.given(s.ear(0), b"t", [("k", "first"), ("k", "later")]))
mutant("last-wins", "CLI-05", REPEATED, level="SHOULD")(
    "Of repeated user headers the last counts.",
    on(Caller, "shown").gives(
        lambda delivery, found: {
            **found,
            "headers": {
                **dict(delivery.frame.headers),
                **{
                    n: v
                    for n, v in delivery.frame.first.items()
                    if n != "k" and n not in ("a", "foo", "bar", "é", "Foo")
                },
            },
        }
    ),
)


@mutant("last-reserved-wins", "REPEAT-01", plan(get(), get(style=REPEAT), wire=REPEAT), "CLI-03", level="SHOULD")
class LastReservedWins(Channel):
    """Of a repeated message-id, the last counts."""

    def on_message(self, frame: Frame) -> None:
        last = dict(frame.headers)
        super().on_message(
            frame._replace(first={**frame.first, "message-id": last["message-id"], "destination": last["destination"]})
        )


mutant("forgets-headers", "CLI-03", text("v"))(
    "User headers are not handed on.",
    _headers(
        lambda headers: {n: v for n, v in headers.items() if n in ("destination", "message-id", "subscription", "ack")}
    ),
)
mutant("lower-values", "CLI-03", text("Ab"))(
    "Values of headers are handed on in small letters.",
    _headers(
        lambda headers: {
            n: v.lower() if n not in ("destination", "message-id", "ack", "subscription") else v
            for n, v in headers.items()
        }
    ),
)


@mutant("wrong-subscription", "CLI-03", plan(lambda s: s.subscribe(0), lambda s: s.given(s.subscribe(1))))
class WrongSubscription(Caller):
    """Every message is one of the first subscription."""

    def shown(self, delivery: Delivery) -> dict[str, Any]:
        return {**super().shown(delivery), "sub": next(iter(self.subscriptions), "s0")}


mutant("only-one", "CLI-03", plan(get(), get()), "CLEN-03")(
    "Every second message is lost.", on(Channel, "on_message").skips(when=lambda calls: calls % 2 == 0)
)
mutant("deaf-to-receipts", "CLI-03", plan(send(receipt=True)))(
    "A RECEIPT is not taken for the one that is waited for.", on(Channel, "on_receipt").skips()
)
mutant("first-receipt-only", "CLI-03", plan(send(receipt=True), send(receipt=True)))(
    "Only the first RECEIPT is read.", on(Channel, "on_receipt").skips(when=lambda calls: calls > 1)
)
mutant("receipts-fail", "CLI-03", plan(send(receipt=True)))(
    "What was receipted is reported as failed.",
    on(Caller, "settle").takes(report=lambda what, report: {"error": "no"} if what.startswith("receipt ") else report),
)
mutant("error-for-receipt", "CLI-03", misuse("error", 8))(
    "An ERROR with the receipt-id of a frame that waits settles it as its RECEIPT would.",
    on(Channel, "on_error").before(lambda self, frame: self.on_receipt(frame)),
)


def _one_of_two_ends(s: Serving) -> None:
    s.subscribe(0)
    other = s.subscribe(0)
    s.do("unsubscribe", sub="s0")
    s.serve()
    s.given(other)


@mutant("handlers-by-destination", "CLI-03", plan(_one_of_two_ends))
class HandlersByDestination(Caller):
    """The end of a subscription takes away the handlers of all that have its destination."""

    def reset(self) -> None:
        super().reset()
        self.deaf: set[str] = set()

    def do_unsubscribe(self, given: dict[str, Any]) -> Any:
        ended = self.subscription(given["sub"])
        self.deaf |= {each.name for each in self.subscriptions.values() if each.destination == ended.destination}
        return super().do_unsubscribe(given)

    def message(self, channel: Channel, frame: Frame) -> None:
        meant = self.meant(frame.first)
        if meant is None or meant.name not in self.deaf or meant.name not in self.subscriptions:
            super().message(channel, frame)


# -- bodies ------------------------------------------------------------------------------------------------------------


@mutant("body-ends-at-nul", "CLEN-01", plan(get(b"a\0b")), "CLI-03")
class BodyEndsAtNul(ServerReader):
    """The content-length is not looked at."""

    def body_length(self, first: dict[str, str]) -> int | None:
        return None


mutant("nul-is-lost", "CLEN-01", plan(get(b"a\0b")))(
    "NULs are taken out of bodies.",
    _shown(lambda found: {**found, "body_hex": bytes.fromhex(found["body_hex"]).replace(b"\0", b"").hex()}),
)


class Unchecked(ServerReader):
    """Nothing is asked of what follows a body."""

    drops = False

    def _body_end(self) -> int | None:
        try:
            return super()._body_end()
        except Malformed:
            assert self._length is not None
            if self.drops:
                end = self._buffer.find(0, self._at + self._length)
                return None if end < 0 else end
            return self._at + self._length - 1 if self._length else self._at


mutant("no-check-behind", "CLEN-02", misuse("short", 3), "CLI-07")(
    "What stands behind a body is not looked at.", type("NoCheck", (Unchecked,), {})
)


@mutant("skips-the-rest", "CLI-07", misuse("short", 3))
class SkipsTheRest(Channel):
    """A message whose body is longer than it says is passed over, and the session goes on."""

    def on_malformed(self, malformed: Malformed) -> None:
        if "longer" in str(malformed):
            self.reader = type(self.reader)(self.switches)
            self.reader.agree(self.version)
        else:
            super().on_malformed(malformed)


mutant("counts-characters", "CLEN-06", plan(get("é漢😀".encode())), "CLI-03")(
    "The content-length of a body is taken for a number of characters, and what is more is cut off.",
    _shown(
        lambda found: {
            **found,
            "body_hex": bytes.fromhex(found["body_hex"])[
                : len(bytes.fromhex(found["body_hex"]).decode(errors="replace"))
            ].hex(),
        }
    ),
)
mutant("refuses-length", "CLEN-07", plan(send(receipt=True), style=1), "CLI-15")(
    "A RECEIPT with a content-length is passed over.",
    on(Channel, "on_receipt").skips(when=lambda frame: "content-length" in frame.first),
)
mutant("refuses-connected-length", "CLEN-07", plan(connect={"more": b"content-length:0\n"}))(
    "A CONNECTED with a content-length is refused.",
    on(Channel, "on_connected").instead(
        lambda self: self.end("a length"), when=lambda frame: "content-length" in frame.first
    ),
)


def _lengthless(s: Serving) -> None:
    s.given(s.ear(0), b"x\n", form=1)


@mutant("strips-body", "CLEN-03", plan(_lengthless))
class StripsBody(Caller):
    """A line end before the NUL is no part of a body without content-length."""

    def shown(self, delivery: Delivery) -> dict[str, Any]:
        found = super().shown(delivery)
        if "content-length" in delivery.frame.first:
            return found
        return {**found, "body_hex": bytes.fromhex(found["body_hex"]).rstrip(b"\r\n ").hex()}


@mutant("text-bodies", "CTYPE-03", plan(get(b"\xff\xfe")), "CLI-03 CLEN-01 CLEN-06", level="SHOULD")
class TextBodies(Caller):
    """A body without content-type is taken for text."""

    def shown(self, delivery: Delivery) -> dict[str, Any]:
        found = super().shown(delivery)
        if "content-type" in delivery.frame.first:
            return found
        return {**found, "body_hex": bytes.fromhex(found["body_hex"]).decode(errors="replace").encode().hex()}


def _settled_backwards(s: Serving) -> None:
    ear = s.subscribe(0, "client-individual")
    for _ in range(2):
        s.given(ear)
    s.settle(ear, "ack", 1)
    s.settle(ear, "ack", 0)


@mutant("settles-earlier-ones", "ACKMODE-02", plan(_settled_backwards), switches={"settled_again": "ignore"})
class SettlesEarlierOnes(Caller):
    """In the mode client-individual an ACK settles the earlier messages as well, which it says nothing more of."""

    def settled_by(self, subscription: Subscription, delivery: Delivery) -> list[Delivery]:
        return subscription.open[: subscription.open.index(delivery) + 1]


def _meets_disconnect(s: Serving) -> None:
    ear = s.subscribe(0, "client-individual")
    s.do("disconnect")
    s.message(ear)
    s.serve()


@mutant("nacks-behind-disconnect", "CLI-10", plan(_meets_disconnect), "DISC-05")
class NacksBehindDisconnect(Channel):
    """A message that comes behind its DISCONNECT, and would have to be acknowledged, is given back."""

    def on_message(self, frame: Frame) -> None:
        super().on_message(frame)
        subscription = self.caller.meant(frame.first)
        if self.phase is Phase.LIVE or subscription is None or subscription.mode == "auto":
            return
        if "ack" in frame.first and self.version == "1.2":
            self.say("NACK", [("id", frame.first["ack"])])
