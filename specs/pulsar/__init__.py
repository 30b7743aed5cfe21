"""Pulsar's binary protocol. Source: 001_c0ea8805bb7ed422.txt, and the message definitions that it refers to."""

from __future__ import annotations

from specs.pulsar.bundle import protocol

__all__ = ["protocol"]
