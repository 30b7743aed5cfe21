"""A program around stomp.py: told by JSON lines, it calls the library."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

from told import kit, library, serve, unsupported_when

library()
import stomp  # noqa: E402

PATIENCE_S = 5.0
CONNECTIONS = {"1.0": stomp.Connection10, "1.1": stomp.Connection11, "1.2": stomp.Connection12}


class Ears(stomp.ConnectionListener):  # type: ignore[misc]
    """What the library's thread calls."""

    def __init__(self) -> None:
        self.inbox = kit.Inbox()

    def on_message(self, frame: Any) -> None:
        self.inbox.put(frame)

    def on_receipt(self, frame: Any) -> None:
        self.inbox.mark(frame.headers["receipt-id"])

    def on_error(self, frame: Any) -> None:
        self.inbox.over(f"ERROR: {frame.headers.get('message', '')}")

    def on_disconnected(self) -> None:
        self.inbox.over("disconnected")


class Testee:
    """The library, and what the suite calls things."""

    def __init__(self) -> None:
        self.connection: Any = None
        self.ears = Ears()
        self.counter = itertools.count(1)
        self.refs = kit.Handles()
        self.version = "1.2"

    def connect(self, given: Mapping[str, Any]) -> Any:
        self.version = given["versions"][-1]  # the library offers one
        self.ears, self.refs = Ears(), kit.Handles()
        beats = tuple(given.get("heart_beat") or (0, 0))
        more = {} if self.version == "1.0" else {"heartbeats": beats, "vhost": given["host"]}
        self.connection = CONNECTIONS[self.version](
            [kit.place(given["address"])], auto_decode=False, reconnect_attempts_max=1, **more
        )
        self.connection.set_listener("testee", self.ears)
        self.connection.connect(given.get("login"), given.get("passcode"), wait=True)
        return True

    def live(self) -> Any:
        """The connection. Raises ConnectionError when it is over."""
        if self.connection is None:
            raise ConnectionError("not connected")
        self.ears.inbox.live()
        return self.connection

    def receipt(self, given: Mapping[str, Any]) -> str | None:
        """The id of the receipt that is asked for; the library takes it from its user."""
        asked = given.get("receipt")
        return None if not asked else asked if isinstance(asked, str) else f"r-{next(self.counter)}"

    def call(self, given: Mapping[str, Any], function: Any, *texts: Any, **more: Any) -> Any:
        """Call the library, with a header that asks for a receipt if there is to be one, and wait for that."""
        receipt = self.receipt(given)
        function(*texts, **more, headers={"receipt": receipt} if receipt else None)
        if receipt:
            self.ears.inbox.wait_for(receipt, PATIENCE_S)
        return True

    def send(self, given: Mapping[str, Any]) -> Any:
        headers = dict(given.get("headers") or {})
        if given.get("transaction"):
            headers["transaction"] = given["transaction"]
        receipt = self.receipt(given)
        if receipt:
            headers["receipt"] = receipt
        self.live().send(given["destination"], bytes.fromhex(given["body_hex"]), headers=headers)
        if receipt:
            self.ears.inbox.wait_for(receipt, PATIENCE_S)
        return True

    def subscribe(self, given: Mapping[str, Any]) -> Any:
        call = self.live().subscribe
        return self.call(given, call, given["destination"], id=given["sub"], ack=given.get("ack") or "auto")

    def unsubscribe(self, given: Mapping[str, Any]) -> Any:
        return self.call(given, self.live().unsubscribe, id=given["sub"])

    def settle(self, given: Mapping[str, Any], function: Any) -> Any:
        headers = self.refs[given["ref"]].headers
        receipt = self.receipt(given)
        names = {
            "1.0": lambda: (headers["message-id"],),
            "1.1": lambda: (headers["message-id"], headers["subscription"]),
            "1.2": lambda: (headers["ack"],),
        }[self.version]()
        function(*names, transaction=given.get("transaction"), receipt=receipt)
        if receipt:
            self.ears.inbox.wait_for(receipt, PATIENCE_S)
        return True

    def ack(self, given: Mapping[str, Any]) -> Any:
        return self.settle(given, self.live().ack)

    def nack(self, given: Mapping[str, Any]) -> Any:
        unsupported_when(self.version == "1.0")
        return self.settle(given, self.live().nack)

    def begin(self, given: Mapping[str, Any]) -> Any:
        return self.call(given, self.live().begin, given["transaction"])

    def commit(self, given: Mapping[str, Any]) -> Any:
        return self.call(given, self.live().commit, given["transaction"])

    def abort(self, given: Mapping[str, Any]) -> Any:
        return self.call(given, self.live().abort, given["transaction"])

    def receive(self, given: Mapping[str, Any]) -> Any:
        frame = self.ears.inbox.take(given["timeout_ms"] / 1000)
        if frame is None:
            return None
        body = frame.body if isinstance(frame.body, bytes) else (frame.body or "").encode()
        return {
            "ref": self.refs.keep(frame),
            "headers": frame.headers,
            "body_hex": body.hex(),
            "sub": frame.headers.get("subscription"),
        }

    def disconnect(self, given: Mapping[str, Any]) -> Any:
        if self.connection is not None:
            self.connection.disconnect()
        return True


if __name__ == "__main__":
    serve(Testee())
