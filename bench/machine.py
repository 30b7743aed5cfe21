"""The same conversations as somebody would write them who has Hypothesis and no Wireproof: a rule-based state machine.

Each rule says one frame with what `strategies.stomp.sessions` would put into it: the same header names and values,
bodies, modes and receipts, from the same tables, on up to three connections. The frame goes through the same codec to
the same reference server, and every event is judged by the same model, online, in lock-step. `Drawing` is the same
machine with nobody to talk to.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, rule

from bench.transport import STOMP, config
from impls.driver.link import Link, MemoryTransport
from impls.references.stomp.reference import Server
from specs.codec import Bad, Decoder
from specs.events import Closed, Noise, Quiet, Said
from specs.model import Watcher
from specs.stomp.bundle import connect
from specs.stomp.frames import Frame, Style, encode
from strategies.stomp.texts import BODIES, MIME_TYPES, NAMES, RECEIPTS, VALUES

CONFIG = config()
STYLE = Style("1.2")
PLACES = ("/queue/{}0", "/topic/{}0", "/queue/{}1", "/topic/{}1")
PATIENCE = 1000

slots = st.integers(0, 2)
headers = st.lists(st.tuples(st.sampled_from(NAMES["1.2"]), st.sampled_from(VALUES["1.2"])), max_size=3)
receipts = st.one_of(st.none(), st.sampled_from(RECEIPTS))
places = st.sampled_from(PLACES)


class Talk:
    """Connections to one server, and the judge of all that is said."""

    frames = 0
    conversations = 0
    transport = MemoryTransport(Server)

    def __init__(self) -> None:
        Talk.conversations += 1
        self.prefix = f"m{Talk.conversations}-"
        self.links: dict[int, tuple[Link, Decoder]] = {}
        self.watcher = Watcher(STOMP.model, CONFIG, "server")
        self.seen: dict[tuple[int, str], list[str]] = {}
        self.over: set[int] = set()

    def open(self, conn: int) -> None:
        """A new connection."""
        self.links[conn] = (self.transport.open(), STOMP.decoder("server", CONFIG, {}))

    def say(self, conn: int, frame: Frame) -> None:
        """Say a frame and take all that has to come of it."""
        if conn in self.over:
            return
        Talk.frames += 1
        link, _ = self.links[conn]
        self.watcher.feed(Said(conn, "client", frame))
        link.send(encode(frame, STYLE))
        self.hear()
        self.check()

    def hear(self) -> None:
        """Take what has come, and wait while the server owes something."""
        waited = 0
        while True:
            for conn, (link, decoder) in self.links.items():
                if conn not in self.over:
                    self.take(conn, link, decoder)
            if not self.watcher.owed("server"):
                return
            if waited >= PATIENCE:
                self.watcher.feed(Quiet(waited, waited, final=True))
                return
            self.transport.wait([], 50)
            waited += 50

    def take(self, conn: int, link: Link, decoder: Decoder) -> None:
        """Read one connection until it has nothing more to say."""
        while data := link.take():
            for item in decoder.feed(data):
                if isinstance(item, Bad):
                    self.watcher.feed(Noise(conn, "server", item.data, item.why))
                    continue
                if item.command == "MESSAGE":
                    self.seen.setdefault((conn, item.get("subscription")), []).append(item.get("ack"))
                self.watcher.feed(Said(conn, "server", item))
        if data is None:
            self.over.add(conn)
            self.watcher.feed(Closed(conn, "server"))

    def hang(self, conn: int) -> None:
        """Close a connection."""
        if conn not in self.over:
            self.links[conn][0].close()
            self.over.add(conn)
            self.watcher.feed(Closed(conn, "client"))
            self.check()

    def check(self) -> None:
        """The model's verdict so far: whatever is judged to be wrong ends the judging."""
        assert not self.watcher.over

    def end(self) -> None:
        """The end of the conversation."""
        self.hear()
        self.watcher.feed(Quiet(0, 0, final=True))
        assert not self.watcher.judgement().blamed
        for conn in [*self.links]:
            if conn not in self.over:
                self.links[conn][0].close()


class Silent(Talk):
    """Nobody listens: what is left is the price of drawing."""

    def open(self, conn: int) -> None:
        pass

    def say(self, conn: int, frame: Frame) -> None:
        Talk.frames += 1

    def hang(self, conn: int) -> None:
        pass

    def end(self) -> None:
        pass


class Sessions(RuleBasedStateMachine):
    """Legal sessions on up to three connections."""

    talker: type[Talk] = Talk
    subs: Bundle[Any] = Bundle("subs")
    txs: Bundle[Any] = Bundle("txs")

    def __init__(self) -> None:
        super().__init__()
        self.talk = self.talker()
        self.conns: dict[int, int] = {}
        self.serial = self.opened = 0
        self.left: set[int] = set()

    def number(self) -> int:
        self.serial += 1
        return self.serial

    def conn(self, slot: int) -> int:
        """The connection in a slot, connected if need be."""
        if slot not in self.conns:
            self.opened += 1
            self.conns[slot] = self.opened
            self.talk.open(self.opened)
            self.talk.say(self.opened, connect(CONFIG))
        return self.conns[slot]

    def place(self, template: str) -> str:
        return template.format(self.talk.prefix)

    def say(self, conn: int, command: str, *pairs: tuple[str, str], receipt: str | None, body: bytes = b"") -> None:
        asked = () if receipt is None else (("receipt", f"r{self.number()}{receipt}"),)
        self.talk.say(conn, Frame(command, (*pairs, *asked), body))

    @rule(
        slot=slots,
        place=places,
        user=headers,
        body=st.sampled_from(BODIES),
        kind=st.none() | st.sampled_from(MIME_TYPES),
        receipt=receipts,
    )
    def send(self, slot: int, place: str, user: Any, body: bytes, kind: str | None, receipt: str | None) -> None:
        pairs = [("destination", self.place(place)), ("k", f"{self.number()}"), *user]
        if kind is not None:
            pairs.append(("content-type", kind))
        if b"\0" in body:
            pairs.append(("content-length", f"{len(body)}"))
        self.say(self.conn(slot), "SEND", *pairs, receipt=receipt, body=body)

    @rule(tx=txs, place=places, body=st.sampled_from(BODIES), receipt=receipts)
    def send_in_transaction(self, tx: tuple[int, str], place: str, body: bytes, receipt: str | None) -> None:
        conn, name = tx
        pairs = [("destination", self.place(place)), ("k", f"{self.number()}"), ("transaction", name)]
        if b"\0" in body:
            pairs.append(("content-length", f"{len(body)}"))
        if conn not in self.left:
            self.say(conn, "SEND", *pairs, receipt=receipt, body=body)

    @rule(
        target=subs,
        slot=slots,
        place=places,
        name=st.none() | st.sampled_from(VALUES["1.2"]),
        mode=st.sampled_from(["auto", "client", "client-individual"]),
        receipt=receipts,
    )
    def subscribe(self, slot: int, place: str, name: str | None, mode: str, receipt: str | None) -> Any:
        conn, sub = self.conn(slot), f"{self.number()}{name or ''}"
        pairs = [("id", sub), ("destination", self.place(place)), *([("ack", mode)] if mode != "auto" else [])]
        self.say(conn, "SUBSCRIBE", *pairs, receipt=receipt)
        return (conn, sub, mode)

    @rule(sub=consumes(subs), receipt=receipts)
    def unsubscribe(self, sub: tuple[int, str, str], receipt: str | None) -> None:
        conn, name, _ = sub
        if conn not in self.left:
            self.say(conn, "UNSUBSCRIBE", ("id", name), receipt=receipt)

    @rule(sub=subs, verb=st.sampled_from(["ACK", "ACK", "NACK"]), tx=st.none() | txs, receipt=receipts)
    def acknowledge(self, sub: tuple[int, str, str], verb: str, tx: Any, receipt: str | None) -> None:
        conn, name, mode = sub
        waiting = self.talk.seen.get((conn, name))
        if conn in self.left or mode == "auto" or not waiting:
            return
        pairs = [("id", waiting.pop(0))]
        if tx is not None and tx[0] == conn:
            pairs.append(("transaction", tx[1]))
        self.say(conn, verb, *pairs, receipt=receipt)

    @rule(target=txs, slot=slots, name=st.sampled_from(VALUES["1.2"]), receipt=receipts)
    def begin(self, slot: int, name: str, receipt: str | None) -> Any:
        conn, tx = self.conn(slot), f"{self.number()}{name}"
        self.say(conn, "BEGIN", ("transaction", tx), receipt=receipt)
        return (conn, tx)

    @rule(tx=consumes(txs), verb=st.sampled_from(["COMMIT", "COMMIT", "ABORT"]), receipt=receipts)
    def finish(self, tx: tuple[int, str], verb: str, receipt: str | None) -> None:
        conn, name = tx
        if conn not in self.left:
            self.say(conn, verb, ("transaction", name), receipt=receipt)

    @rule(slot=slots, how=st.sampled_from(["DISCONNECT", "hang"]))
    def leave(self, slot: int, how: str) -> None:
        if slot in self.conns:
            conn = self.conns.pop(slot)
            if how == "hang":
                self.talk.hang(conn)
            else:
                self.say(conn, "DISCONNECT", receipt="")
            self.left.add(conn)

    def teardown(self) -> None:
        self.talk.end()


class Drawing(Sessions):
    """The same machine, drawing only."""

    talker = Silent
