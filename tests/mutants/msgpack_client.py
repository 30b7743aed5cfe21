"""Clients that are wrong in one point."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from impls.references.msgpack.client import Caller, Client
from impls.references.msgpack.octets import Packer, Unpacker
from specs.msgpack import values as v
from specs.msgpack.frames import response
from specs.plan import Ref, Say
from strategies.common import Op, Program
from strategies.msgpack import calls
from tests.mutants.faults import has, on
from tests.mutants.msgpack_kit import Witness, full, registering


def told(kind: str, *args: int, wires: tuple[int, ...] = (0,)) -> Witness:
    """One op of `strategies.msgpack.calls`."""
    ops = (Op(kind, (*args, *(0,) * (5 - len(args)))),)
    return lambda config: calls.interpret(Program((0,), ops), config, wires=wires)


def breaks(how: int, which: int = 0, count: int = 0) -> Witness:
    """A breakdown with one call open."""
    return lambda config: calls.breaking(Program((0, how, which, count), ()), config)


def error(value: Any) -> Witness:
    """A call that is answered with an error."""
    return told("error", 0, 0, 0, [repr(each) for each in calls.ERRORS].index(repr(value)))


def client_of(part: type) -> type[Client]:
    """A client made of a faulty part."""
    if not issubclass(part, Caller):
        part = type("FaultyCaller", (Caller,), {"packer_type" if issubclass(part, Packer) else "unpacker_type": part})
    return type("Faulty", (Client,), {"caller_type": part})


mutant = registering("client", client_of, full)
CALL = told("call", 0, 1)
TWO = told("group", 0, 0, 0, 1)


mutant("nil-for-no-params", "REQ-01", CALL)(
    "Without arguments the params are nil.",
    on(Caller, "write").takes(message=lambda message: [*message[:-1], message[-1] or None]),
)
mutant("no-params-element", "REQ-01", CALL)(
    "Without arguments the params are left out.",
    on(Caller, "write").takes(message=lambda message: message[:-1] if message[0] == 0 and not message[-1] else message),
)
mutant("method-as-bin", "REQ-01", CALL)(
    "The method of a request is written as a bin.",
    on(Caller, "write").takes(
        message=lambda message: [*message[:2], message[2].encode(), message[3]] if message[0] == 0 else message
    ),
)


@mutant("sends-twice", "REQ-01", CALL, accept="REQ-02")
class SendsTwice(Caller):
    """The first request of a connection is sent twice."""

    def write(self, message: list[Any]) -> None:
        super().write(message)
        if message[0] == 0 and message[1] == 0:
            super().write([0, 1_000_000, *message[2:]])


mutant("ids-from-minus-one", "REQ-02", CALL)(
    "Ids begin with -1.",
    on(Caller, "write").takes(
        message=lambda message: [0, message[1] - 1, *message[2:]] if message[0] == 0 else message
    ),
)
mutant("id-reused", "REQ-02", TWO, accept="CLI-01")(
    "Every request has the id 7.",
    on(Caller, "write").takes(message=lambda message: [0, 7, *message[2:]] if message[0] == 0 else message),
)
mutant("id-as-text", "REQ-02", CALL)(
    "Ids are texts.",
    on(Caller, "write").takes(
        message=lambda message: [0, str(message[1]), *message[2:]] if message[0] == 0 else message
    ),
)
mutant("notify-as-request", "NOTE-02", told("notify", 0))(
    "A notification is sent as a request.",
    on(Caller, "write").takes(message=lambda message: [0, 77, *message[1:]] if message[0] == 2 else message),
)
mutant("notify-with-id", "NOTE-02", told("notify", 0))(
    "A notification has an id.",
    on(Caller, "write").takes(message=lambda message: [2, 0, *message[1:]] if message[0] == 2 else message),
)
mutant("notify-waits", "NOTE-02", told("notify", 0))(
    "A notification waits for a response.",
    on(Caller, "command").gives(lambda self, number, op, found: self.wait(number, -1) if op == "notify" else found),
)
mutant("notify-lost", "NOTE-02", told("notify", 0))(
    "A notification is not sent.", on(Caller, "write").skips(when=lambda message: message[0] == 2)
)


@mutant("in-order", "CLI-01", TWO)
class InOrder(Caller):
    """Responses are taken to come in the order of the requests."""

    def message(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and value[0] == 1 and self.open:
            value = [1, next(iter(self.open)), *value[2:]]
        super().message(value)


mutant("one-at-a-time", "CLI-01", told("group"))(
    "A response to any but the latest request is dropped.",
    on(Caller, "message").skips(
        when=lambda self, value: (
            isinstance(value, list) and len(value) == 4 and value[1] in self.open and value[1] != max(self.open)
        )
    ),
)


class Truthy(Caller):
    """Some errors are taken for none."""

    kinds: tuple[Any, ...] = ()

    def message(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and type(value[2]) in self.kinds and not value[2]:
            value = [value[0], value[1], None, value[3]]
        super().message(value)


mutant("false-is-no-error", "CLI-02", error(False))("An error of false is taken for none.", has(Truthy, kinds=(bool,)))
mutant("zero-is-no-error", "CLI-02", error(0))("An error of 0 is taken for none.", has(Truthy, kinds=(int,)))
mutant("empty-is-no-error", "CLI-02", error(""))("An empty error is taken for none.", has(Truthy, kinds=(str, list)))
mutant("nil-is-failure", "CLI-02", told("call", 0, 0), accept="CLI-01")(
    "A result of nil is taken for a failure.",
    on(Caller, "success").instead(lambda: {"error": "no result"}, when=lambda result: result is None),
)


@mutant("errors-by-text", "CLI-02", error(1))
class ErrorsByText(Caller):
    """Only a text is an error."""

    def message(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and type(value[2]) is int:
            value = [value[0], value[1], None, value[3]]
        super().message(value)


@mutant("stray-completes", "CLI-01", told("stray", 0), accept="CLI-03")
class StrayCompletes(Caller):
    """A response with an unknown id completes the oldest call."""

    def message(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and value[1] not in self.open and self.open:
            value = [1, next(iter(self.open)), *value[2:]]
        super().message(value)


@mutant("second-kills", "CLI-03", told("twice", 0), level="SHOULD")
class SecondKills(Caller):
    """A second response makes every open call fail."""

    def message(self, value: Any) -> None:
        if isinstance(value, list) and len(value) == 4 and value[1] not in self.open:
            for name in list(self.open):
                self.settle(self.open.pop(name), {"error": "confused"})
            return
        super().message(value)


mutant("ids-of-16-bits", "CLI-01", told("stray", 0, 0, 0, 4), accept="CLI-03")(
    "Of the id of a response 16 bits count.",
    on(Caller, "message").takes(
        value=lambda value: [1, value[1] & 0xFFFF, *value[2:]] if isinstance(value, list) and len(value) == 4 else value
    ),
)


@mutant("deaf-after-stray", "CLI-03", told("stray", 0), level="SHOULD")
class DeafAfterStray(Caller):
    """After a response with an unknown id nothing more is read."""

    deaf = False

    def message(self, value: Any) -> None:
        self.deaf = self.deaf or (isinstance(value, list) and len(value) == 4 and value[1] not in self.open)
        if not self.deaf:
            super().message(value)


@mutant("fills-up-with-nil", "CLI-04", breaks(1, 1, 4), accept="CLI-01")
class FillsUpWithNil(Caller):
    """A response that is cut off by the end of the connection behind its id has a result of nil."""

    tail = b""

    def received(self, data: bytes) -> None:
        self.tail = data or self.tail
        for name in [] if data else list(self.open):
            if self.tail.startswith(b"\x94\x01" + self.packer.pack(name)):
                self.settle(self.open.pop(name), self.success(None))
        super().received(data)


mutant("waits-for-ever", "CLI-04", breaks(1, 3), level="SHOULD")(
    "Calls stay open when the connection ends.", on(Caller, "end").instead(lambda self: setattr(self, "broken", True))
)


@mutant("nil-at-the-end", "CLI-04", breaks(0))
class NilAtTheEnd(Caller):
    """Calls that are open when the connection ends have nil for a result."""

    def end(self, why: str) -> None:
        left, self.open = self.open, {}
        self.broken = self.hung_up = True
        for handle in left.values():
            self.settle(handle, self.success(None))


mutant("whole-reads", "FRAG-01", told("call", 0, 1, 3, wires=(1,)), accept="CLI-01 CLI-04")(
    "A response has to come in one read.",
    on(Caller, "received").after(
        lambda self: setattr(self, "reader", self.unpacker_type()), when=lambda self: self.reader.midway
    ),
)
mutant("no-str32", "01", told("call", 0, 6, 1, 0, 1, wires=(2,)), accept="CLI-01 04 05")(
    "Sizes and integers of 32 bits are taken for garbage.",
    on(Unpacker, "_head").takes(first=lambda first: 0xC1 if first in (0xDB, 0xDD, 0xDF) else first),
)
mutant("wide-ids", "02", CALL, level="SHOULD")(
    "Integers are written with 64 bits.", on(Packer, "integers").gives(lambda found: found[-1:])
)


class Results(Caller):
    """Changes results."""

    change: Callable[[Any], Any] = staticmethod(lambda value: value)

    def success(self, result: Any) -> dict[str, Any]:
        return super().success(type(self).change(result))


def result(value: Any) -> Witness:
    """A call that is answered with a result."""

    def witness(config: Any) -> Any:
        teller = calls.Teller(config, hurry=False, wire=0)
        method = teller.start("call", ())
        teller.steps.append(Say(0, response(Ref("id", method), None, value)))
        return calls.ended(teller)

    return witness


@mutant("signed-64", "04", result(2**64 - 1))
class Signed64(Results):
    """A result beyond 2^63 comes back as negative."""

    change = staticmethod(lambda value: value - (1 << 64) if type(value) is int and value >= 1 << 63 else value)


@mutant("floats-cut", "05", result(v.double(1.5)))
class FloatsCut(Results):
    """Floats are cut to integers."""

    change = staticmethod(lambda value: int(value) if isinstance(value, float) and abs(value) < 1e15 else value)


@mutant("bin-is-text", "06", result(b"abc"))
class BinIsText(Results):
    """A bin that is ASCII comes back as a str."""

    change = staticmethod(lambda value: value.decode() if isinstance(value, bytes) and value.isascii() else value)


mutant("ids-by-count", "REQ-02", told("rolling"), accept="CLI-01")(
    "The id of a call is the number of those that are open.",
    on(Caller, "identity").instead(lambda self: len(self.open)),
)


@mutant("ids-of-four-bits", "REQ-02", told("many", 0, 0, 0, 1, 1), accept="CLI-01")
class IdsOfFourBits(Caller):
    """Ids begin again after sixteen calls, whatever is open."""

    def identity(self) -> int:
        self.last = (self.last + 1) % 16
        return self.last


mutant("any-type-answers", "CLI-04", breaks(1, 0, 1))(
    "Every message of four with the id of a call is its response.",
    on(Caller, "message").takes(
        value=lambda value: [1, *value[1:]] if isinstance(value, list) and len(value) == 4 else value
    ),
)


@mutant("filler", "REQ-01", CALL)
class Filler(Caller):
    """Before each message stands an octet that begins no value."""

    def write(self, message: list[Any]) -> None:
        self.out += b"\xc1"
        super().write(message)


@mutant("notifies-sixteen-as-none", "NOTE-02", told("notify", 7), accept="REQ-01 01")
class NotifiesSixteenAsNone(Caller):
    """A notification with sixteen params is written with an array of none, and the values behind it."""

    def write(self, message: list[Any]) -> None:
        if message[0] != 2 or len(message[2]) != 16:
            super().write(message)
            return
        self.kept += self.packer.pack([2, message[1], []])
        self.kept += b"".join(self.packer.pack(part) for part in message[2])
        if not self.holds:
            self.leave()
