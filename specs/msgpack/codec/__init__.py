"""What a MessagePack codec is held to: what may come of decoding a vector and encoding it again."""

from __future__ import annotations

from specs.msgpack.codec import duties, effects, forms, forms_messages  # noqa: F401 - they fill the book
from specs.msgpack.codec.book import BOOK
from specs.msgpack.codec.model import CodecModel

__all__ = ["BOOK", "CodecModel"]
