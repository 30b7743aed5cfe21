"""The rulebook of a server that is made from a document. Source: 004_4ca5b084f7ea0751.txt."""

from __future__ import annotations

from specs.msgpack.idl.server.machine import MACHINE
from specs.msgpack.registry import REQUIREMENTS
from specs.rules import Rulebook

SERVER = Rulebook("idl-server", REQUIREMENTS, MACHINE)
