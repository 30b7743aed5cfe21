"""The rulebook of a processor of the interface language. Source: 004_4ca5b084f7ea0751.txt; docs/implementations.md."""

from __future__ import annotations

from specs.msgpack.idl.compiler.machine import MACHINE
from specs.msgpack.registry import REQUIREMENTS
from specs.rules import Rulebook

COMPILER = Rulebook("idl", REQUIREMENTS, MACHINE)
