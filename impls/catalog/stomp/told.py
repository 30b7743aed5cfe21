"""What the programs around Python libraries share: where the kit and the libraries are found, and their ops."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "kits" / "python"))
import kit  # noqa: E402

OPS = (
    "connect", "send", "subscribe", "unsubscribe", "ack", "nack", "begin", "commit", "abort", "receive", "disconnect",
)  # fmt: skip


def library() -> None:
    """Have what `setup.sh` fetched be found."""
    sys.path.insert(0, str(HERE / ".lib" / "python"))


def unsupported_when(wrong: object) -> None:
    """Raise Unsupported when something is asked for that the library does not have."""
    if wrong:
        raise kit.Unsupported


def serve(testee: object) -> None:
    """Have the methods of `testee` carry out what is said."""
    kit.serve({name: getattr(testee, name) for name in OPS})
