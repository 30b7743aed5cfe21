"""Conversations with a STOMP server."""

from __future__ import annotations

from strategies.stomp.discovery import discover

__all__ = ["discover"]
