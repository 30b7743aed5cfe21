"""MessagePack, MessagePack-RPC and the MessagePack IDL. Source: 004_4ca5b084f7ea0751.txt and the specifications of
MessagePack and of MessagePack-RPC."""

from __future__ import annotations

from specs.msgpack.bundle import protocol

__all__ = ["protocol"]
