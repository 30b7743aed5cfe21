"""ECHO, the miniature protocol of docs/add-a-protocol.md."""

from __future__ import annotations

from specs.echo.bundle import protocol

__all__ = ["protocol"]
