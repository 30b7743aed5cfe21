"""One connection of the reference server: messages in, calls, answers out.

Source: MessagePack-RPC specification, Messages. To make a server that is wrong in one point, override the method that
decides the point.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from impls.references.msgpack.octets import Broken, Ext, Odd, Packer, Pairs, Refused, Unpacker
from impls.references.msgpack.switches import IN_OCTETS

if TYPE_CHECKING:
    from impls.references.msgpack.reference import Server

TIMESTAMP = -1


class Reading(Unpacker):
    """Reads what a client says, and makes of it what the switches say. Raises Refused for a value that is not taken."""

    def __init__(self, server: Server) -> None:
        super().__init__(server.switches.max_depth)
        self.server = server
        self.refused: list[str] = []

    def refuse(self, how: str, why: str) -> None:
        """A value that is not taken: the call fails, or all of the connection."""
        if how == "error":
            self.refused.append(why)
        else:
            raise Broken(f"{how}: {why}")

    def number(self, value: float) -> Any:
        whole = self.server.switches.one_number and isinstance(value, float) and value.is_integer()
        return int(value) if whole and abs(value) < 1 << 53 else value

    def text(self, data: bytes) -> Any:
        text = super().text(data)
        how = self.server.switches.bad_text
        if not isinstance(text, Odd) or how == "pass":
            return text
        if how in ("error", "close", "ignore"):
            self.refuse(how, "a str that is not UTF-8")
        return data if how == "bin" else data.decode("utf-8", "replace")

    def ext(self, code: int, data: bytes) -> Any:
        switches = self.server.switches
        if code != TIMESTAMP:
            if switches.unknown_ext != "opaque":
                self.refuse(switches.unknown_ext, f"extension {code}")
            return Ext(code, data)
        moment = stamp(data)
        if moment is None:
            if switches.bad_timestamps != "opaque":
                self.refuse(switches.bad_timestamps, "a malformed timestamp")
            return Ext(code, data)
        return Ext(code, data if switches.timestamps == "keep" else unstamp(*moment, switches.timestamps))

    def pairs(self, items: list[Any]) -> Any:
        found: Pairs = super().pairs(items)
        switches = self.server.switches
        keys = [key for key, _ in found]
        if any(not isinstance(key, str) for key in keys):
            if switches.odd_keys in ("error", "close"):
                self.refuse(switches.odd_keys, "a key that is no str")
            if switches.odd_keys == "text":
                found = Pairs((str(key), value) for key, value in found)
        names = [repr(key) for key, _ in found]
        if len(set(names)) < len(names):
            if switches.repeated_keys == "error":
                self.refuse("error", "a key that is repeated")
            elif switches.repeated_keys != "keep":
                found = _once(found, first=switches.repeated_keys == "first")
        if switches.shuffle_maps:
            self.server.chance.shuffle(found)
        return found


def _once(pairs: Pairs, *, first: bool) -> Pairs:
    kept: dict[str, tuple[Any, Any]] = {}
    for pair in pairs:
        if not first or repr(pair[0]) not in kept:
            kept[repr(pair[0])] = pair
    return Pairs(kept.values())


def stamp(data: bytes) -> tuple[int, int] | None:
    """Seconds and nanoseconds, or None when it is no timestamp."""
    if len(data) == 4:
        seconds, nanos = struct.unpack(">I", data)[0], 0
    elif len(data) == 8:
        (both,) = struct.unpack(">Q", data)
        nanos, seconds = divmod(both, 1 << 34)
    elif len(data) == 12:
        nanos, seconds = struct.unpack(">Iq", data)
    else:
        return None
    return (seconds, nanos) if nanos < 1_000_000_000 else None


def unstamp(seconds: int, nanos: int, how: str) -> bytes:
    """The octets of a timestamp, in the shortest form or in the widest."""
    if how == "shortest" and 0 <= seconds < 1 << 34:
        both = nanos << 34 | seconds
        return struct.pack(">I", both) if both < 1 << 32 else struct.pack(">Q", both)
    return struct.pack(">Iq", nanos, seconds)


class Failure(Exception):
    """A call that fails, after so many milliseconds; the text says why."""

    ms = 0.0


class Session:
    """One connection: octets in by `send`, out by `take`."""

    reading_type = Reading
    packer_type = Packer

    def __init__(self, server: Server) -> None:
        self.server = server
        self.closed = False
        self.open: list[int] = []  # ids of requests that are not answered
        self.waiting: list[tuple[int, str, list[Any]]] = []  # calls for which there is no worker yet
        self.busy = 0
        self.deaf = False
        self._out = bytearray()
        self._reader = self.reading_type(server)
        switches = server.switches
        pick = server.any_form if not switches.recommended else (lambda heads: heads[0])
        self.packer = self.packer_type(pick, old=switches.old_raw, floats=switches.floats)

    # The contract

    def send(self, data: bytes) -> None:
        """Take octets of the client."""
        if self.deaf:
            return
        self._reader.feed(data)
        values = self._reader.values()
        while not self.closed and not self.deaf:
            try:
                value = next(values, self)
            except Broken as broken:
                self.undecodable(str(broken))
                break
            if value is self:
                break
            refused, self._reader.refused = self._reader.refused, []
            self.message(value, refused)
        self.server.settle()

    def take(self) -> bytes:
        """What there is to say."""
        how = self.server.switches.pieces
        size = len(self._out)
        if how != "whole":
            few = 1 if how == "octets" else self.server.chance.randint(1, 9)
            size = few if size <= IN_OCTETS else size - IN_OCTETS
        data = bytes(self._out[:size])
        del self._out[:size]
        return data

    @property
    def over(self) -> bool:
        """True when the connection is to be closed and everything was said."""
        return self.closed and not self._out

    def hang_up(self) -> None:
        """The client is gone."""
        self.closed = self.deaf = True
        self._out.clear()

    # Messages

    def message(self, value: Any, refused: list[str]) -> None:
        """One value of the client, and what of it was not taken."""
        if not isinstance(value, list) or not value or type(value[0]) is not int:
            self.malformed(value)
            return
        size = len(value)
        if self.server.switches.extra_elements == "accept":
            size = min(size, {0: 4, 1: 4, 2: 3}.get(value[0], size))
        if value[0] == 0 and size == 4 and self.is_call(value[2], value[3]) and self.is_id(value[1]):
            self.request(value[1], value[2], value[3], refused)
        elif value[0] == 2 and size == 3 and self.is_call(value[1], value[2]):
            if not refused:
                self.notification(value[1], value[2])
        else:
            self.malformed(value)

    def is_id(self, number: Any) -> bool:
        """Is it a legal id?"""
        return type(number) is int and 0 <= number < 1 << 32

    def is_call(self, method: Any, params: Any) -> bool:
        """May this be called?"""
        return isinstance(method, str) and isinstance(params, list) and not isinstance(params, Pairs)

    def request(self, number: int, method: str, params: list[Any], refused: list[str]) -> None:
        """A request."""
        if number in self.open and self.server.switches.same_id != "two":
            if self.server.switches.same_id == "close":
                self.close()
            else:
                self.say([1, number, self.error("the id is open"), None])
            return
        self.open.append(number)
        if refused:
            self.server.later(self, number, self.error(refused[0]), None, 0)
        elif self.busy >= self.server.switches.workers:
            self.waiting.append((number, method, params))
        else:
            self.call(number, method, params)

    def call(self, number: int, method: str, params: list[Any]) -> None:
        """Carry a request out and answer it later."""
        self.busy += 1
        try:
            result, ms = self.server.call(method, params)
        except Failure as failure:
            data = None if self.server.switches.recommended else ["data"]
            self.server.later(self, number, self.error(str(failure)), data, 0)
        else:
            self.server.later(self, number, None, result, ms)

    def answer(self, number: int, error: Any, result: Any) -> None:
        """An answer is due."""
        if number in self.open:
            self.open.remove(number)
        self.busy = max(0, self.busy - 1)
        if self.server.switches.chatter != "none" and self.server.chance.random() < 0.2:
            self.say([2, "news", []] if self.server.switches.chatter == "notification" else [0, 7, "ask", [1]])
        self.say(self.response(number, error, result))
        if self.waiting and self.busy < self.server.switches.workers:
            self.call(*self.waiting.pop(0))
        elif self.server.switches.ends == "server" and not self.open:
            self.close()

    def response(self, number: int, error: Any, result: Any) -> list[Any]:
        """The message that answers."""
        return [1, number, error, result]

    def notification(self, method: str, params: list[Any]) -> None:
        """A notification: its result, or its failure, is nobody's business."""
        try:
            self.server.call(method, params)
        except Failure:
            return

    def malformed(self, value: Any) -> None:
        """A value that is no message."""
        self.react(self.server.switches.malformed, "no message", value)

    def undecodable(self, why: str) -> None:
        """Octets that are no value: what follows cannot be read."""
        how = self.server.switches.malformed if "deep" not in why else self.server.switches.too_deep
        how = next((own for own in ("close", "ignore") if why.startswith(f"{own}: ")), how)
        self.react("error-then-close" if how == "error-and-continue" else how, why, None)
        self.deaf = True

    def react(self, how: str, why: str, value: Any) -> None:
        """The declared reaction to what is no message."""
        if how.startswith("error"):
            style = self.server.switches.error_id
            zero = style == "zero" and 0 not in self.open  # else it would be the answer to that request
            own = value[1] if style == "own" and isinstance(value, list) and len(value) > 1 else None
            self.say([1, 0 if zero else own, self.error(why), None])
        if how in ("close", "error-then-close"):
            self.close()

    def close(self) -> None:
        """End the connection, once everything was said."""
        self.closed = True

    # Writing

    def error(self, why: str) -> Any:
        """What stands in the place of the error."""
        forms: dict[str, Any] = {
            "text": why, "list": ["Error", why], "map": Pairs([("message", why)]), "number": 1, "zero": 0,
            "false": False, "empty": "", "nested": [[None, why]],
        }  # fmt: skip
        return forms[self.server.switches.error]

    def say(self, message: list[Any]) -> None:
        """Write one message."""
        if not self.closed:
            self._out += self.packer.pack(message)


__all__ = ["Failure", "Reading", "Refused", "Session", "stamp", "unstamp"]
