"""Conversations with MessagePack implementations, and what they are asked before they are judged."""

from __future__ import annotations

from strategies.msgpack.discovery import discover

__all__ = ["discover"]
