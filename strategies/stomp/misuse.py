"""One honest misuse at the end of a legal session: each invalid input of the catalogue, by requirement id.

Every misuse is a function (writer, line, a, b): it says the bad thing on `line`; a and b choose among its forms. Around
it stand a good frame before and behind, a witness on another connection, and a new connection afterwards.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from hypothesis.strategies import SearchStrategy

from specs.plan import Plan, Ref
from specs.stomp.bundle import connect
from specs.stomp.states import PREFIX, Config
from strategies.common import Program, programs
from strategies.stomp import malformed
from strategies.stomp.malformed import QUEUE, TOPIC, Misuse, delivery
from strategies.stomp.sessions import EVEN, HEAD, play, version_of
from strategies.stomp.writer import PLACES, Line, Writer

ROW = HEAD
"""The head number that chooses a row."""


def _send_without_destination(w: Writer, line: Line, a: int, b: int) -> None:
    wrong = ((), (("Destination", QUEUE),), (("DESTINATION", TOPIC),))[a % 3]
    w.say(line, "SEND", [*wrong, ("k", f"{w.fresh()}"), w.receipt()], b"x")


def _send_to_nowhere(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, "SEND", [("destination", ""), ("k", f"{w.fresh()}"), w.receipt()], b"x")


def _odd_destination(w: Writer, line: Line, a: int, b: int) -> None:
    forms = ("{name} b", "é{name}漢", "a:{name}", "{name}\\n", "{name}", "/{name}", "//{name}", " {name}", "/x/{name}")
    form = forms[a % len(forms)]
    name = Ref("odd", form.replace(":", "") if w.version == "1.0" else form)
    if b % 2:
        w.say(line, "SUBSCRIBE", [("id", "odd"), ("destination", name), w.receipt()])
    w.say(line, "SEND", [("destination", name), ("k", f"{w.fresh()}"), w.receipt()], b"x")


def _sub_without_destination(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, "SUBSCRIBE", [("id", "bad"), *((("Destination", TOPIC),) if a % 2 else ()), w.receipt()])


def _sub_without_id(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, "SUBSCRIBE", [*((("id", ""),) if a % 2 else ()), ("destination", QUEUE), w.receipt()])


def _sub_twice(w: Writer, line: Line, a: int, b: int) -> None:
    sub = w.subscribe(line, PLACES[2], ("auto", "client", "client-individual")[b % 3], receipt=w.receipt())
    again = PLACES[2] if a % 2 else PLACES[3]
    w.say(line, "SUBSCRIBE", [("id", sub.id), ("destination", again), w.receipt()])


def _bad_mode(w: Writer, line: Line, a: int, b: int) -> None:
    mode = ("sometimes", "AUTO", "Client", "client-Individual", "", "auto ", "none")[a % 7]
    w.say(line, "SUBSCRIBE", [("id", "bad"), ("destination", QUEUE), ("ack", mode), w.receipt()])


def _say_elsewhere(w: Writer, command: str, *headers: tuple[str, str | Ref]) -> None:
    """On another connection: what has this name there has it nowhere else."""
    w.say(w.line(1), command, [*headers, w.receipt()])
    w.wait()


def _unsub_unknown(w: Writer, line: Line, a: int, b: int) -> None:
    if a % 3 == 2:
        sub = w.subscribe(line, PLACES[2], receipt=w.receipt())
        w.unsubscribe(line, sub, receipt=w.receipt())
        w.say(line, "UNSUBSCRIBE", [("id", sub.id), w.receipt()])
    else:
        if b % 3 == 2:
            _say_elsewhere(w, "SUBSCRIBE", ("id", "unknown"), ("destination", TOPIC))
        w.say(line, "UNSUBSCRIBE", [*((("id", "unknown"),) if a % 3 else ()), w.receipt()])


def _bad_ack(w: Writer, line: Line, a: int, b: int) -> None:
    verb = "NACK" if b % 2 and line.version != "1.0" else "ACK"
    modes = ("client", "client-individual") if line.version != "1.0" else ("client", "client")
    mode = modes[b // 2 % 2]
    form = a % 6
    if form == 0:
        w.say(
            line,
            verb,
            [*((("id", "unknown"),) if line.version == "1.2" else (("message-id", "unknown"),)), w.receipt()],
        )
    elif form == 1:
        w.say(line, verb, [w.receipt()])
    elif form == 2:
        sub = delivery(w, line, mode)
        w.say(line, verb, [*w.handle(line, sub, 0), w.receipt()])
        w.say(line, verb, [*w.handle(line, sub, 0), w.receipt()])
    elif form == 3:
        other = w.line(1)
        sub = delivery(w, other, mode)
        w.say(line, verb, [*w.handle(other, sub, 0), w.receipt()])
    elif form == 4:
        sub = delivery(w, line, "auto")
        w.say(line, verb, [*w.handle(line, sub, 0), w.receipt()])
    else:
        sub = delivery(w, line, mode)
        old = Line(line.number, "1.1")
        w.say(line, verb, [*w.handle(old, sub, 0), w.receipt()])


def _begin_without_id(w: Writer, line: Line, a: int, b: int) -> None:
    w.say(line, "BEGIN", [*((("transaction", ""),) if a % 2 else ()), w.receipt()])


def _begin_twice(w: Writer, line: Line, a: int, b: int) -> None:
    tx = "twice"
    w.say(line, "BEGIN", [("transaction", tx), w.receipt()])
    w.send(line, TOPIC, b"first", [("transaction", tx)])
    w.say(line, "BEGIN", [("transaction", tx), w.receipt()])
    w.wait()
    w.send(line, TOPIC, b"second", [("transaction", tx)])
    w.say(line, "COMMIT", [("transaction", tx), w.receipt()])


def _end_unknown(w: Writer, line: Line, a: int, b: int) -> None:
    verb = ("COMMIT", "ABORT")[b % 2]
    if a % 3 == 2:
        w.say(line, "BEGIN", [("transaction", "done"), w.receipt()])
        w.say(line, "COMMIT", [("transaction", "done"), w.receipt()])
        w.say(line, verb, [("transaction", "done"), w.receipt()])
    else:
        if b % 6 > 3:
            _say_elsewhere(w, "BEGIN", ("transaction", "unknown"))
        w.say(line, verb, [*((("transaction", "unknown"),) if a % 3 == 0 else ()), w.receipt()])


def _unknown_tx(w: Writer, line: Line, a: int, b: int) -> None:
    if b % 3 == 2:
        _say_elsewhere(w, "BEGIN", ("transaction", "unknown"))
    if a % 3 == 0:
        w.say(
            line, "SEND", [("destination", TOPIC), ("transaction", "unknown"), ("k", f"{w.fresh()}"), w.receipt()], b"x"
        )
        return
    verb = "ACK" if a % 3 == 1 or line.version == "1.0" else "NACK"
    sub = delivery(w, line, "client")
    w.say(line, verb, [*w.handle(line, sub, 0), ("transaction", "unknown"), w.receipt()])


def _server_command(w: Writer, line: Line, a: int, b: int) -> None:
    command = ("CONNECTED", "MESSAGE", "RECEIPT", "ERROR")[a % 4]
    w.say(line, command, [("version", "1.2"), ("receipt-id", "x"), ("destination", TOPIC), w.receipt()])


def _body_on_bodyless(w: Writer, line: Line, a: int, b: int) -> None:
    body = b"body"
    extra = [("content-length", "4")] if b % 2 else []
    if a % 3 == 0:
        w.say(line, "SUBSCRIBE", [("id", "bad"), ("destination", QUEUE), *extra, w.receipt()], body)
    elif a % 3 == 1:
        w.say(line, "BEGIN", [("transaction", "bad"), *extra, w.receipt()], body)
    else:
        w.say(line, "DISCONNECT", [*extra, w.receipt()], body)


def _before_connect(w: Writer, line: Line, a: int, b: int) -> None:
    """How such a frame is escaped nobody knows (E-17), so its receipt is plain."""
    fresh, w.flavour = w.bare(4), 0
    form = a % 4
    if form == 0:
        w.say(fresh, "SEND", [("destination", TOPIC), ("k", f"{w.fresh()}"), w.receipt()], b"x")
    elif form == 1:
        w.say(fresh, "SUBSCRIBE", [("id", "0"), ("destination", TOPIC), w.receipt()])
    elif form == 2:
        w.say(fresh, "DISCONNECT", [w.receipt()])
    else:
        w.say(fresh, "BEGIN", [("transaction", "t"), w.receipt()])
    fresh.ended = True


def _second_connect(w: Writer, line: Line, a: int, b: int) -> None:
    command = ("CONNECT", "STOMP")[a % 2]
    w.say(line, command, connect(w.config, version=line.version).headers)


def _connecting(*changes: Mapping[str, str | None]) -> Misuse:
    """A CONNECT on a new connection with headers changed (None: left out)."""

    def misuse(w: Writer, line: Line, a: int, b: int) -> None:
        fresh = w.bare(4)
        headers = dict(connect(w.config, version=w.version).headers)
        for name, value in changes[a % len(changes)].items():
            if value is None:
                headers.pop(name, None)
            else:
                headers[name] = value
        w.say(fresh, "CONNECT", list(headers.items()))
        w.wait()
        fresh.ended = True

    return misuse


def _after_disconnect(w: Writer, line: Line, a: int, b: int) -> None:
    fresh = w.connect(4)
    w.say(fresh, "DISCONNECT", [w.receipt()] if a % 2 else [], when="join" if b % 2 else "turn")
    w.send(fresh, TOPIC, receipt=w.receipt() if b % 3 else None, when="now")
    w.wait()
    fresh.ended = True


def _flood(w: Writer, line: Line, a: int, b: int) -> None:
    fresh = w.connect(4)
    for _ in range(100):
        w.send(fresh, PLACES[2], receipt=w.receipt(), when="join")
    w.wait()
    w.hang(fresh)


def _late_ack(w: Writer, line: Line, a: int, b: int) -> None:
    """ACK or NACK of a delivery whose subscription is gone: free."""
    sub = delivery(w, line, "client")
    w.say(line, "UNSUBSCRIBE", [("id", sub), w.receipt()])
    line.subs = [known for known in line.subs if known.id != sub]
    w.say(line, "NACK" if a & 1 and line.version != "1.0" else "ACK", [*w.handle(line, sub, 0), w.receipt()])


def _many_sessions(w: Writer, line: Line, a: int, b: int) -> None:
    for _ in range(8 + a % 16):
        w.hang(w.connect(4), "reset" if b % 2 else "close")
    w.connect(4)


MISUSES: Mapping[str, Misuse] = {
    "INV-01": _send_without_destination,
    "INV-02": _send_to_nowhere,
    "INV-03": _odd_destination,
    "INV-04": _sub_without_destination,
    "INV-05": _sub_without_id,
    "INV-06": _sub_twice,
    "INV-07": _bad_mode,
    "INV-08": _unsub_unknown,
    "INV-09": _bad_ack,
    "INV-10": _begin_without_id,
    "INV-11": _begin_twice,
    "INV-12": _end_unknown,
    "INV-13": _unknown_tx,
    "INV-14": malformed.undefined_escape,
    "INV-15": malformed.trailing_backslash,
    "INV-16": malformed.short_length,
    "INV-17": malformed.bad_length,
    "INV-18": malformed.padded_length,
    "INV-19": malformed.huge_length,
    "INV-20": malformed.repeated_length,
    "INV-21": malformed.broken_line(b"nocolon", b"x y", b" "),
    "INV-22": malformed.broken_line(b":x", b":"),
    "INV-23": malformed.broken_line(b"a:b:c", b"a::"),
    "INV-24": malformed.broken_line(b"a:x\ry", b"\ra:x"),
    "INV-25": malformed.broken_line(b"a:x\0y", b"\0", b"a\0:x"),
    "INV-26": malformed.broken_line(b"a:\xff\xfe", b"\xc3:x", b"a:\xed\xa0\x80"),
    "INV-27": malformed.unknown_command,
    "INV-28": _server_command,
    "INV-29": malformed.no_blank_line,
    "INV-30": malformed.lone_nul,
    "INV-31": _body_on_bodyless,
    "INV-32": _before_connect,
    "INV-33": _second_connect,
    "INV-34": _connecting(
        {"accept-version": "2.0"}, {"accept-version": ""}, {"accept-version": "9.9,10.0"}, {"accept-version": "foo"},
        {"accept-version": "0.9"}, {"accept-version": "1.3,2.1"},
    ),
    "INV-35": _connecting({"host": None}, {"host": "no-such-host"}, {"host": ""}),
    "INV-36": _connecting({"receipt": "c"}),
    "INV-37": _connecting(
        *({"heart-beat": text} for text in ("abc", "5", "1,2,3", "-1,0", "1.5,2", "", " 0 , 0 ", "9" * 20 + ",0", "0,"))
    ),
    "INV-38": _after_disconnect,
    "INV-39": malformed.too_much,
    "INV-40": malformed.junk_first,
    "INV-41": malformed.cut_off,
    "INV-42": _flood,
    "INV-43": malformed.escaped_cr,
    "UNSUB-06": _late_ack,
    "CLEN-08": malformed.unfinished,
    "LINGER-01": _many_sessions,
    "CONNECT-03": _connecting({"login": "nobody", "passcode": "wrong"}, {"login": None, "passcode": None}),
    "NEGO-02": _connecting({"accept-version": None}, {"accept-version": None, "host": None}),
    "NEGO-05": _connecting(*({"accept-version": text} for text in ("1.1,foo,1.2", "1.2,", "1.0, 1.1"))),
}  # fmt: skip


def misuses() -> SearchStrategy[Program]:
    """Short legal sessions with one misuse behind them; the interpreter is told which misuses."""
    return programs(EVEN, head=HEAD + 4, most=4, least=0)


def interpret(
    program: Program,
    config: Config,
    *,
    hurry: bool = False,
    names: Sequence[str] = tuple(MISUSES),
    avoid: Collection[str] = (),
) -> Plan:
    """Head numbers: as in a legal session, then which misuse, its two choices, and how it is surrounded.

    `names` are the misuses to choose from; those whose requirement is in `avoid` are replaced by the next one.
    """
    which, a, b, around = program.head[HEAD:]
    turned = [names[(which + i) % len(names)] for i in range(len(names))]
    name = next((n for n in turned if PREFIX + n not in avoid), turned[0])
    version = version_of(program.head[0], config)
    if name == "INV-05" and version == "1.0":
        version = config.version
    writer = Writer(config, version=version, hurry=hurry)
    witness = writer.line(8)
    writer.subscribe(witness, TOPIC, receipt=writer.receipt())
    play(writer, Program((0, 0, 0), program.ops))
    within = [("transaction", "witness")]
    if around & 8:
        writer.say(witness, "BEGIN", [*within, writer.receipt()])
        writer.send(witness, TOPIC, b"within", within)
    writer.wait()
    line = writer.line(0)
    if around & 1:
        writer.send(line, TOPIC, b"before", receipt=writer.receipt())
    writer.flavour = around >> 4 if around & 128 else 0  # what a refusal repeats must be the value that was sent
    MISUSES[name](writer, line, a, b)
    writer.flavour = 0
    if not line.ended and not around & 2:
        writer.send(line, TOPIC, b"behind", receipt=writer.receipt(), when="now")
    writer.wait()
    writer.send(witness, TOPIC, b"marker", receipt=writer.receipt())
    if around & 8:
        writer.say(witness, "COMMIT", [*within, writer.receipt()])
    if around & 4:
        after = writer.connect(7)
        writer.send(after, TOPIC, b"after", receipt=writer.receipt())
    return writer.plan()
