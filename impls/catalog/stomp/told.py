"""What the programs around Python libraries share: JSON lines in, JSON lines out (docs/implementations.md)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Op = Callable[[Mapping[str, Any]], Any]


class Unsupported(Exception):
    """The library does not offer this."""


def library(name: str = "python") -> None:
    """Have what `setup.sh` fetched be found, or what WIREPROOF_STOMP names."""
    sys.path.insert(0, os.environ.get("WIREPROOF_STOMP") or str(Path(__file__).parent / ".lib" / name))


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


def serve(ops: Mapping[str, Op]) -> None:
    """Carry out what is said on stdin, one op after the other, until it ends."""
    for line in sys.stdin:
        said = json.loads(line)
        sys.__stdout__.write(json.dumps({"id": said["id"], **answer(ops, said)}) + "\n")  # type: ignore[union-attr]
        sys.__stdout__.flush()  # type: ignore[union-attr]
