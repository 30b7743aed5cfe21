"""STOMP 1.0, 1.1 and 1.2. Source: 003_30478fd2f19f0da0.txt and the public STOMP documents of the three versions."""

from __future__ import annotations

from specs.stomp.bundle import protocol

__all__ = ["protocol"]
