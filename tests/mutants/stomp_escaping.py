"""Faults in header texts: escapes in both directions, encodings, blanks, and what each version makes of them."""

from __future__ import annotations

import re
import unicodedata

from impls.references.stomp.reference import Frame, Malformed, Parser, Phase, Session, Writer
from tests.mutants.faults import on
from tests.mutants.kit import BROKEN_BEGIN, TOPIC, connecting, mutant, one, plan, raw, round_trip

# -- reading -----------------------------------------------------------------------------------------------------------


mutant("unescaped-by-replacing", "ENC-03", round_trip(("a", "\\n")), accept="ENC-02")(
    "Escapes are undone by one replacement after another over the whole text.",
    on(Parser, "unescape").gives(
        lambda text: text.replace(r"\n", "\n").replace(r"\r", "\r").replace(r"\c", ":").replace("\\\\", "\\")
    ),
)
mutant("backslashes-undone-first", "ENC-03", round_trip(("a", "\\c")), accept="ENC-02")(
    "Double backslashes are undone before the other escapes.",
    on(Parser, "unescape").gives(
        lambda text: text.replace("\\\\", "\\").replace(r"\c", ":").replace(r"\n", "\n").replace(r"\r", "\r")
    ),
)
mutant("names-not-unescaped", "ENC-03", round_trip(("a:b", "x")), accept="ENC-02")(
    "Escapes are undone in values only.", on(Parser, "decode_header").gives(lambda name, found: (name, found[1]))
)
mutant("cr-escape-unknown", "ENC-03", one("BEGIN", ("transaction", "a\rb")))(
    "A session of 1.2 knows the escapes of 1.1 only.",
    on(Parser, "unescape").raises(
        lambda: Malformed("an escape is not defined"),
        when=lambda self, text: self.version == "1.2" and r"\r" in text.replace("\\\\", ""),
    ),
)


@mutant("unescaped-before-splitting", "ENC-03", round_trip(("a:b", "x")), accept="ENC-02")
class UnescapedBeforeSplitting(Parser):
    """A line is unescaped before it is split, so that a colon in a name ends it."""

    def decode_header(self, name: str, value: str) -> tuple[str, str]:
        found = super().decode_header(name, value)
        first, _, rest = ":".join(found).partition(":")
        return first, rest


mutant("fifth-escape-kept", "ENC-03", round_trip(("a", ":::::")), accept="ENC-02 SEND-04 MSG-08")(
    "Of more than four escapes in one text only four are undone.",
    on(Parser, "unescape").gives(
        lambda text: re.sub(
            r"\\.", lambda found: {r"\n": "\n", r"\r": "\r", r"\c": ":", r"\\": "\\"}[found[0]], text, count=4
        )
    ),
)


@mutant("cr-at-the-end-lost", "ENC-03", round_trip(("a", "x\r")), accept="ENC-02 ENC-07 SEND-04 MSG-08")
class CrAtTheEndLost(Parser):
    """A CR at the end of a value is taken for a part of the line end, escaped as it was."""

    def decode_header(self, name: str, value: str) -> tuple[str, str]:
        name, value = super().decode_header(name, value)
        return name, value.removesuffix("\r")


mutant("undefined-escape-kept", "ENC-04", raw(BROKEN_BEGIN + b"a:x\\ty\n\n\0"), accept="INV-14")(
    "An undefined escape is taken literally.",
    on(Parser, "unescape").takes(
        text=lambda text: re.sub(r"\\(?![nrc\\])(?=.)|(?<=\\\\)\\(?![nrc\\])(?=.)", r"\\\\", text)
    ),
)


@mutant("undefined-escape-in-name", "ENC-04", raw(BROKEN_BEGIN + b"a\\ty:x\n\n\0"), accept="INV-14 ENC-05 ENC-11")
class UndefinedEscapeInName(Parser):
    """An undefined escape is fatal in a value, and ignored in a name."""

    def decode_header(self, name: str, value: str) -> tuple[str, str]:
        try:
            return super().decode_header(name, value)
        except Malformed:
            return name, super().decode_header("x", value)[1]


mutant("upper-case-escape", "ENC-04", raw(BROKEN_BEGIN + b"a:x\\Cy\n\n\0"), accept="INV-14")(
    "Escapes may be written with a capital letter.",
    on(Parser, "unescape").takes(text=lambda text: re.sub(r"\\(.)", lambda found: found[0].lower(), text)),
)


class _Notices(Parser):
    """Takes an undefined escape literally, and remembers that there was one."""

    odd = False

    def unescape(self, text: str) -> str:
        try:
            return super().unescape(text)
        except Malformed:
            self.odd = True
            return text


@mutant(
    "undefined-escape-delivered", "ENC-04",
    plan(lambda w: (
        w.subscribe(w.line(), TOPIC),
        w.blurt(w.line(), b"SEND\nk:1\na:\\t\ndestination:", TOPIC, b"\n\nx\0"),
    )),
    accept="INV-14 ENC-05 ENC-11",
    also=[_Notices],
)  # fmt: skip
class UndefinedEscapeDelivered(Session):
    """The ERROR about an undefined escape comes after the message was passed on."""

    def handle(self, frame: Frame) -> None:
        odd, self.parser.odd = self.parser.odd, False
        if odd and frame.command == "SEND" and self.phase is Phase.LIVE:
            super().handle(frame._replace(first={n: v for n, v in frame.first.items() if n != "receipt"}))
        if not odd:
            super().handle(frame)
        elif self.listening:
            self.fail("an escape is not defined", frame)


mutant("trailing-backslash-kept", "ENC-05", raw(BROKEN_BEGIN + b"a:x\\\n\n\0"), accept="INV-15")(
    "A single backslash at the end of a value is taken literally.",
    on(Parser, "unescape").takes(text=lambda text: text + "\\" if (len(text) - len(text.rstrip("\\"))) % 2 else text),
)
mutant("connect-unescaped", "ENC-06", connecting(x="a\\tb"), accept="CONNECT-13")(
    "Escapes are undone in CONNECT, too.",
    on(Parser, "read_headers").instead(
        lambda self, lines: [self.decode_header(*self.split_header(line)) for line in lines],
        when=lambda command: command == "CONNECT",
    ),
)
mutant("connect-colons-refused", "ENC-06", connecting(x="a:b"), accept="CONNECT-13")(
    "A colon in a value of CONNECT is refused, although it has no other way to stand there.",
    on(Parser, "split_header").raises(
        lambda: Malformed("a colon is not escaped"),
        when=lambda self, line: line.count(":") > 1 and self.command is None and line.startswith("x"),
    ),
)
mutant("values-stripped", "ENC-07", round_trip(("a", " x ")))(
    "Blanks around a value are removed.",
    on(Parser, "split_header").gives(lambda found: (found[0], found[1].strip(" "))),
)
mutant("names-stripped", "ENC-07", round_trip((" a", "x")))(
    "Blanks around a name are removed.",
    on(Parser, "split_header").gives(lambda found: (found[0].strip() or found[0], found[1])),
)


@mutant("tab-is-blank", "ENC-07", round_trip(("a", "x\t")))
class TabIsBlank(Parser):
    """A TAB at the end of a line is removed."""

    def end_line(self, line: str) -> str:
        return super().end_line(line).rstrip("\t")

    def split_header(self, line: str) -> tuple[str, str]:
        return super().split_header(self.end_line(line))


mutant("receipt-stripped", "RECEIPT-02", one("BEGIN", ("transaction", "t"), ("receipt", " x ")), accept="ENC-07")(
    "Blanks around the value of receipt are removed.",
    on(Session, "receipt").takes(receipt=lambda receipt: receipt.strip()),
)
mutant("empty-value-dropped", "ENC-08", round_trip(("a", "")))(
    "User headers without a value are left out.",
    on(Session, "pass_through").gives(lambda found: [header for header in found if header[1]]),
)
mutant("empty-value-refused", "ENC-08", one("BEGIN", ("transaction", "t"), ("a", "")))(
    "A header line that ends with its colon is refused.",
    on(Parser, "split_header").raises(lambda: Malformed("a header has no value"), when=lambda line: line.endswith(":")),
)
mutant("latin-1", "ENC-01", round_trip(("a", "é")), accept="ENC-13")(
    "Headers are read as ISO 8859-1 and written as UTF-8.",
    on(Parser, "decode").gives(lambda octets: octets.decode("iso-8859-1")),
)


@mutant("no-astral-planes", "ENC-01", round_trip(("a", "😀")), accept="ENC-13")
class NoAstralPlanes(Writer):
    """A character of four octets becomes a question mark."""

    def escape_header(self, text: str) -> str:
        return super().escape_header(text)

    def encode(self, command: str, headers: list[tuple[str, str]], body: bytes = b"") -> bytes:
        flat = [(name, re.sub(r"[\U00010000-\U0010ffff]", "?", value)) for name, value in headers]
        return super().encode(command, flat, body)


mutant("normalised", "ENC-01", round_trip(("a", "e\u0301")), accept="ENC-13")(
    "Letters with combining accents are composed.",
    on(Parser, "decode").gives(lambda found: unicodedata.normalize("NFC", found)),
)
mutant("byte-order-mark-lost", "ENC-01", round_trip(("a", "\ufeffx")), accept="ENC-13")(
    "U+FEFF at the beginning of a value is taken for a byte order mark.",
    on(Parser, "split_header").gives(lambda found: (found[0], found[1].removeprefix("\ufeff"))),
)
mutant("no-colon-accepted", "INV-21", raw(BROKEN_BEGIN + b"nocolon\n\n\0"), accept="ENC-09", level="SHOULD")(
    "A header line without a colon is a header without a value.",
    on(Parser, "split_header").takes(line=lambda line: line if ":" in line else line + ":"),
)
mutant("empty-name-accepted", "INV-22", raw(BROKEN_BEGIN + b":x\n\n\0"), accept="ENC-09", level="SHOULD")(
    "A header line that begins with its colon is skipped.",
    on(Parser, "read_headers").takes(lines=lambda lines: [line for line in lines if not line.startswith(":")]),
)


# -- writing -----------------------------------------------------------------------------------------------------------


def _unescaped(*pairs: tuple[str, str]) -> type[Writer]:
    """A writer that knows these replacements only."""

    class Sloppy(Writer):
        def escape_header(self, text: str) -> str:
            for plain, escaped in pairs:
                text = text.replace(plain, escaped)
            return text

    return Sloppy


mutant("colon-written-raw", "ENC-10", round_trip(("a", "x:y")), accept="ENC-02 ERROR-08")(
    "Colons are not escaped when they are written.", _unescaped(("\\", r"\\"), ("\n", r"\n"), ("\r", r"\r"))
)


@mutant("one-colon-written", "ENC-10", round_trip(("a", "x:y:z")), accept="ENC-02 ERROR-08")
class OneColonWritten(Writer):
    """Of several colons in a text the first is escaped when it is written."""

    def escape_header(self, text: str) -> str:
        first, colon, rest = super().escape_header(text).partition(r"\c")
        return first + colon + rest.replace(r"\c", ":")


mutant("cr-written-raw", "ENC-02", round_trip(("a", "x\ry")), accept="ENC-03 SEND-04 MSG-08")(
    "CRs are not escaped when they are written.", _unescaped(("\\", r"\\"), ("\n", r"\n"), (":", r"\c"))
)
mutant("lf-written-raw", "ENC-02", round_trip(("a", "x\ny:z")), accept="ENC-03 ENC-09")(
    "LFs are not escaped when they are written, so that a value can smuggle in a header.",
    _unescaped(("\\", r"\\"), ("\r", r"\r"), (":", r"\c")),
)
mutant("backslash-written-raw", "ENC-02", round_trip(("a", "x\\")), accept="ENC-03")(
    "Backslashes are not escaped when they are written.", _unescaped(("\n", r"\n"), ("\r", r"\r"), (":", r"\c"))
)
mutant("backslash-escaped-last", "ENC-02", round_trip(("a", "x:y")), accept="ENC-03")(
    "Backslashes are escaped after the other characters, which brings theirs out double.",
    _unescaped(("\n", r"\n"), ("\r", r"\r"), (":", r"\c"), ("\\", r"\\")),
)
mutant("cr-lost-in-names", "ENC-02", round_trip(("a\rb", "x")), accept="ENC-03 SEND-04 MSG-08")(
    "A CR in a header name is left out where it has to be escaped.",
    on(Writer, "escape").takes(headers=lambda headers: [(name.replace("\r", ""), value) for name, value in headers]),
)
mutant("names-written-raw", "ENC-02", round_trip(("a:b", "x")), accept="ENC-10 ENC-03 ENC-09")(
    "Only values are escaped when they are written.",
    on(Writer, "escape").instead(lambda self, headers: [(name, self.escape_header(value)) for name, value in headers]),
)


@mutant(
    "receipt-id-written-raw",
    "ENC-10",
    one("BEGIN", ("transaction", "t"), ("receipt", "a:b")),
    accept="ENC-02 RECEIPT-02",
)
class ReceiptIdWrittenRaw(Writer):
    """The receipt-id is sent back without escapes."""

    def escape(self, headers: list[tuple[str, str]]) -> list[tuple[str, str]]:
        return [(name, value if name == "receipt-id" else self.escape_header(value)) for name, value in headers]


mutant("error-written-raw", "ERROR-08", one("BEGIN"), accept="ENC-02 ENC-10")(
    "The headers of ERROR are not escaped.",
    on(Writer, "encode").gives(lambda command, found: found.replace(rb"\c", b":") if command == "ERROR" else found),
)
