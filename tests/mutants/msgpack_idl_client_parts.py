"""What faulty clients made from a document are made with: a document, calls and how they are answered."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from impls.references.msgpack.idl_client import IdlClient, Made, MadeCaller
from impls.references.msgpack.idl_values import Shapes
from impls.references.msgpack.octets import Packer, Unpacker
from specs.msgpack.format import WIDEST
from specs.msgpack.frames import response
from specs.plan import Control, Plan, Ref, Say, Step, Wait
from tests.mutants.msgpack_kit import Witness, idl_ids, registering

DOCUMENT = """exception A {
}
exception B < A {
}
message N {
  1: byte x
  2: list<string> l
}
message M {
  1: int x
  3: optional string? s
  4: optional int y = 7
  5: optional bool b
}
interface I: 9 {
  string shared()
}
message Holder {
  1: N n
}
service S: 0 {
  string get() throws A
  string put() throws B, A
  void add(1: string a, 2: string b)
  M make()
  string? perhaps()
  bool? flag()
  int number()
  int echo(1: M m)
  int echoN(1: N n)
  int some(1: int a, 2: optional int b)
  int name(1: string b, 2: string a)
}
service S: 1 {
  implements I: 9
  string get()
}
service S: 2 {
  short tight()
  map<byte, int> keys()
  Holder hold()
}
service T: 3 {
  double get(1: double x)
}
application App {
  S: 2 storage default
  T: 3 status
}
"""


class To(NamedTuple):
    """One call, and how it is answered. `beside` stands in the place of the result when there is an error."""

    function: str
    args: tuple[Any, ...] = ()
    result: Any = "done"
    error: Any = None
    scope: str = "storage"
    version: int = 0
    wide: bool = False
    beside: Any = None


def calls(*given: To, app: str = "App", idl: str = DOCUMENT) -> Witness:
    """Calls, one after the other."""

    def witness(config: Any) -> Plan:
        steps: list[Step] = [Control(0, "connect", {"idl": idl, "app": app})]
        for number, each in enumerate(given):
            told = {"app": app, "scope": each.scope, "version": each.version, "fn": each.function}
            frame = response(Ref("call", number), each.error, each.beside if each.error is not None else each.result)
            frame = replace(frame, wide=("int",)) if each.wide else frame
            answer = Say(0, frame, style=WIDEST if each.wide else None)
            steps += [Control(0, "call", {**told, "args": list(each.args)}), answer, Wait(0)]
        return Plan((*steps, Control(0, "disconnect", {}), Wait(0)))

    return witness


def throws(path: str, function: str = "get") -> Witness:
    """A call that is answered by an exception."""
    return calls(To(function, error=(path,)))


def client_of(part: type) -> type[IdlClient]:
    """A client made of a faulty part."""
    if issubclass(part, IdlClient):
        return part
    for kind, attribute in ((Shapes, "shapes_type"), (Made, "made_type"), (Packer, "packer_type"),
                            (Unpacker, "unpacker_type")):  # fmt: skip
        if issubclass(part, kind):
            part = type("FaultyCaller", (MadeCaller,), {attribute: part})
            break
    return type("Faulty", (IdlClient,), {"caller_type": part})


def ids(text: str) -> tuple[str, ...]:
    """Full requirement ids: those of calls are those of RPC."""
    return tuple(name if name.startswith("MPRPC-") else idl_ids(name)[0] for name in text.split())


mutant = registering("idl-client", client_of, ids)
PLAIN = """exception A {
}
exception B < A {
}
service S: 0 {
  string get() throws A
}
application App {
  S: 0 storage default
}
"""
GET, GET_1 = To("get"), To("get", version=1)
SHARED = To("shared", version=1)
FULL = {"x": 5, "s": "s", "y": 6, "b": True}
