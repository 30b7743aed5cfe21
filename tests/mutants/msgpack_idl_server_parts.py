"""What faulty servers made from a document are made with: a document, what its slots do, and calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from impls.references.msgpack.idl_server import Application, IdlServer, Serving
from impls.references.msgpack.idl_values import Shapes
from specs.msgpack.format import WIDEST
from specs.msgpack.frames import Frame, request
from specs.plan import Control, Plan, Say, Step
from tests.mutants.msgpack_kit import Witness, idl_ids, registering

DOCUMENT = """exception A {
}
exception B < A {
}
message M {
  1: int x
  3: optional string? s
  4: optional int y = 7
  5: optional bool b
}
message N {
  1: byte x
  2: list<string> l
}
service S: 0 {
  M echo(1: M m)
  N echoN(1: N n)
  string get()
  string old()
}
service S: 1 {
  string get()
  string add()
}
service S: 2 {
  string get()
}
service T: 0 {
  string get() throws A
}
application App {
  T: 0 status
  S: 1 storage default
  S: 2 other
}
"""
TAG, DEFAULT, FAIL = {"do": "tag"}, {"do": "default"}, {"do": "fail"}
ECHO = {"do": "echo", "n": 0, "arg": 0}
BEHAVIOUR: Mapping[str, Any] = {
    "storage/0/get": TAG, "storage/1/get": DEFAULT, "storage/1/add": FAIL, "other/0/get": TAG, "other/1/get": TAG,
    "other/2/get": DEFAULT, "status/0/get": {"do": "throw", "exception": "B", "fields": {}}, "storage/0/echo": ECHO,
    "storage/0/echoN": ECHO, "storage/0/old": TAG,
}  # fmt: skip


def calls(*given: Any, idl: str = DOCUMENT, application: str = "App", behaviour: Any = BEHAVIOUR) -> Witness:
    """Calls, each a method name or (method name, params…); ops, each a dict; or messages and steps as they are."""

    def witness(config: Any) -> Plan:
        steps: list[Step] = [Control(0, "serve", {"idl": idl, "application": application, "behaviour": behaviour})]
        for number, each in enumerate(given):
            if isinstance(each, Say):
                steps.append(each)
            elif isinstance(each, Frame):
                steps.append(Say(0, each))
            elif isinstance(each, dict):
                steps.append(Control(0, "assign", each))
            else:
                method, *params = each if isinstance(each, tuple) else (each,)
                style = WIDEST if params and params[-1] == "wide" else None
                frame = request(number, method, *(params[:-1] if style else params))
                steps.append(Say(0, replace(frame, wide=("int",)) if style else frame, style=style))
        return Plan(tuple(steps))

    return witness


def server_of(part: type) -> type[IdlServer]:
    """A server made of a faulty part."""
    if issubclass(part, Shapes):
        part = type("FaultyApplication", (Application,), {"shapes_type": part})
    return type("Faulty", (IdlServer,), {"session_type" if issubclass(part, Serving) else "application_type": part})


mutant = registering("idl-server", server_of, idl_ids)
