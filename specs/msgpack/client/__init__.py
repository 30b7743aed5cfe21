"""What a MessagePack-RPC client is held to: what it sends for what it was asked to do, and what it reports."""

from __future__ import annotations

from specs.msgpack.client import duties, effects, forms  # noqa: F401 - they fill the book
from specs.msgpack.client.book import BOOK
from specs.msgpack.client.model import ClientModel

__all__ = ["BOOK", "ClientModel"]
