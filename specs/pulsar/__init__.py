"""Pulsar's binary protocol. Source: 001_c0ea8805bb7ed422.txt, and the message definitions that it refers to."""

from __future__ import annotations

from importlib.util import find_spec

from specs.pulsar.bundle import protocol

if find_spec("cramjam") is None:  # it is loaded late, but a run that finds out in its middle is lost
    raise ModuleNotFoundError("No module named 'cramjam'", name="cramjam")

__all__ = ["protocol"]
