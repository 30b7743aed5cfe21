"""What the programs around Python libraries share: JSON lines in, JSON lines out (docs/implementations.md)."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Op = Callable[[Mapping[str, Any]], Any]
OPS = (
    "connect",
    "send",
    "subscribe",
    "unsubscribe",
    "ack",
    "nack",
    "begin",
    "commit",
    "abort",
    "receive",
    "disconnect",
)


class Unsupported(Exception):
    """The library does not offer this."""


def library() -> None:
    """Have what `setup.sh` fetched be found."""
    sys.path.insert(0, str(Path(__file__).parent / ".lib" / "python"))


def place(address: str) -> tuple[str, int]:
    """Host and port."""
    host, _, port = address.rpartition(":")
    return host, int(port)


def unsupported_when(wrong: object) -> None:
    """Raise Unsupported when something is asked for that the library does not have."""
    if wrong:
        raise Unsupported


def answer(ops: Mapping[str, Op], said: Mapping[str, Any]) -> dict[str, Any]:
    """Carry out one op. Whatever the library raises is an error."""
    try:
        unsupported_when(said["op"] not in ops)
        return {"ok": ops[said["op"]](said)}
    except Unsupported:
        return {"error": "unsupported"}
    except Exception as error:  # noqa: BLE001 - libraries raise what they like
        return {"error": f"{type(error).__name__}: {error}"}


def serve(testee: object) -> None:
    """Have the methods of `testee` carry out what is said on stdin, one op after the other, until it ends."""
    ops: dict[str, Op] = {name: getattr(testee, name) for name in OPS}
    for line in sys.stdin:
        said = json.loads(line)
        sys.__stdout__.write(json.dumps({"id": said["id"], **answer(ops, said)}) + "\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]
