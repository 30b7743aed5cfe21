"""The rulebook of a client that is made from a document. Source: 004_4ca5b084f7ea0751.txt, client side."""

from __future__ import annotations

from specs.msgpack.idl.client.machine import MACHINE
from specs.msgpack.registry import REQUIREMENTS
from specs.rules import Rulebook

CLIENT = Rulebook("idl-client", REQUIREMENTS, MACHINE)
