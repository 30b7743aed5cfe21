"""A program around stompest's synchronous client: told by JSON lines, it calls the library.

The library leaves it to its user to beat, so heart-beats are unsupported here; to close the connection after an ERROR
or an exception, so that is done here; and, as its documentation says, to give content-length where a body has a NUL.
"""

from __future__ import annotations

import itertools
import time
from collections import deque
from collections.abc import Mapping
from typing import Any

from told import kit, library, serve, unsupported_when

library()
from stompest.config import StompConfig  # noqa: E402
from stompest.error import StompError  # noqa: E402
from stompest.protocol import StompFrame  # noqa: E402
from stompest.sync import client as sync  # noqa: E402

PATIENCE_S = 5.0
CONNECTED_S = 2.0


class Testee:
    """The library, and what the suite calls things."""

    def __init__(self) -> None:
        self.client: Any = None
        self.why = "not connected"
        self.counter = itertools.count(1)
        self.reset()

    def reset(self) -> None:
        """Nothing is open."""
        self.inbox: deque[Any] = deque()
        self.receipts: set[str] = set()
        self.refs = kit.Handles()
        self.tokens: dict[str, Any] = {}

    def connect(self, given: Mapping[str, Any]) -> Any:
        unsupported_when(any(given.get("heart_beat") or ()))
        self.reset()
        versions = given["versions"]
        config = StompConfig(f"tcp://{given['address']}", given.get("login"), given.get("passcode"), versions[-1])
        self.client = sync.Stomp(config)
        try:
            patience = {"connectTimeout": CONNECTED_S, "connectedTimeout": CONNECTED_S}
            self.client.connect(versions=versions, host=given["host"], **patience)
        except Exception:
            self.over("not connected")
            raise
        self.why = ""
        return True

    def over(self, why: str) -> None:
        """The connection is of no more use."""
        self.why = why
        self.client.close()

    def live(self) -> Any:
        """The client. Raises ConnectionError when its connection is over."""
        if self.why:
            raise ConnectionError(self.why)
        return self.client

    def hear(self, seconds: float) -> bool:
        """Take the next frame if there is one in time."""
        try:
            if not self.live().canRead(seconds):
                return False
            frame = self.client.receiveFrame()
        except StompError as error:
            self.over(f"{type(error).__name__}: {error}")
            raise
        if frame.command == "MESSAGE":
            self.inbox.append(frame)
        elif frame.command == "RECEIPT":
            self.receipts.add(self.client.receipt(frame))
        elif frame.command == "ERROR":
            self.over(f"ERROR: {frame.headers.get('message', '')}")
        return True

    def receipt(self, given: Mapping[str, Any]) -> str | None:
        """The id of the receipt that is asked for; the library takes it from its user."""
        asked = given.get("receipt")
        return None if not asked else asked if isinstance(asked, str) else f"r-{next(self.counter)}"

    def call(self, given: Mapping[str, Any], function: Any, *texts: Any) -> Any:
        """Call the library, and wait for the receipt if there is to be one."""
        receipt = self.receipt(given)
        result = function(*texts, receipt=receipt)
        until = time.monotonic() + PATIENCE_S
        while receipt is not None and receipt not in self.receipts:
            left = until - time.monotonic()
            if left <= 0 or not self.hear(left):
                raise ConnectionError("no receipt came")
        return result

    def send(self, given: Mapping[str, Any]) -> Any:
        headers = dict(given.get("headers") or {})
        if given.get("transaction"):
            headers["transaction"] = given["transaction"]
        body = bytes.fromhex(given["body_hex"])
        if 0 in body:
            headers["content-length"] = str(len(body))
        self.call(given, self.live().send, given["destination"], body, headers)
        return True

    def subscribe(self, given: Mapping[str, Any]) -> Any:
        headers = {"id": given["sub"], "ack": given.get("ack") or "auto"}
        client, receipt = self.live(), self.receipt(given)
        self.tokens[given["sub"]] = client.subscribe(given["destination"], headers, receipt=receipt)
        if receipt:
            self.call({"receipt": receipt}, lambda receipt: None)
        return True

    def unsubscribe(self, given: Mapping[str, Any]) -> Any:
        self.call(given, self.live().unsubscribe, self.tokens[given["sub"]])
        return True

    def settle(self, given: Mapping[str, Any], function: Any) -> Any:
        message = self.refs[given["ref"]]
        more = {"transaction": given["transaction"]} if given.get("transaction") else {}
        self.call(given, function, StompFrame(message.command, {**message.headers, **more}, version=message.version))
        return True

    def ack(self, given: Mapping[str, Any]) -> Any:
        return self.settle(given, self.live().ack)

    def nack(self, given: Mapping[str, Any]) -> Any:
        unsupported_when(self.live().session.version == "1.0")
        return self.settle(given, self.live().nack)

    def begin(self, given: Mapping[str, Any]) -> Any:
        self.call(given, self.live().begin, given["transaction"])
        return True

    def commit(self, given: Mapping[str, Any]) -> Any:
        self.call(given, self.live().commit, given["transaction"])
        return True

    def abort(self, given: Mapping[str, Any]) -> Any:
        self.call(given, self.live().abort, given["transaction"])
        return True

    def receive(self, given: Mapping[str, Any]) -> Any:
        until = time.monotonic() + given["timeout_ms"] / 1000
        while not self.inbox:
            left = until - time.monotonic()
            if left <= 0 or not self.hear(left):
                return None
        frame = self.inbox.popleft()
        token = self.client.message(frame)
        names = [name for name, known in self.tokens.items() if known == token]
        return {
            "ref": self.refs.keep(frame),
            "headers": frame.headers,
            "body_hex": frame.body.hex(),
            "sub": names[0] if names else None,
        }

    def disconnect(self, given: Mapping[str, Any]) -> Any:
        if not self.why:
            self.client.disconnect()
            self.why = "disconnected"
        return True


if __name__ == "__main__":
    serve(Testee())
