"""What a MessagePack-RPC server is held to. Source: MessagePack-RPC specification, Messages."""

from __future__ import annotations

from specs.msgpack.server import duties, effects, forms  # noqa: F401 - they fill the book
from specs.msgpack.server.book import BOOK
from specs.msgpack.server.model import ServerModel

__all__ = ["BOOK", "ServerModel"]
