"""Clients and servers made from a document that are wrong about a literal of what is nullable."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.idl_parser import Member
from impls.references.msgpack.idl_values import Shapes
from tests.mutants import msgpack_idl_client_parts as client
from tests.mutants import msgpack_idl_server_parts as server

_TEXT = """message M {
  1: optional int? x = 7
  2: int y
}
service S: 0 {
  M make()
  M echo(1: M m)
}
application App {
  S: 0 s default
}
"""


class NilIsTheLiteral(Shapes):
    """nil in an optional nullable field is what it has when it is left out."""

    def member(self, elements: Any, member: Member) -> Any:
        at = self.place(member)
        if at < len(elements) and elements[at] is None and member.mod == "optional" and member.value is not None:
            return self.default(member)
        return super().member(elements, member)


_MADE = client.calls(client.To("make", result=(None, 5), scope="s"), idl=_TEXT)
_ECHOED = server.calls(("echo:s:0", (None, 5)), idl=_TEXT, behaviour={"s/0/echo": {"do": "echo", "n": 0, "arg": 0}})
client.mutant("nil-is-the-literal", "ENC-04", _MADE, accept="ENC-01")(NilIsTheLiteral)
server.mutant("nil-is-the-literal", "ENC-04", _ECHOED, accept="ENC-01 ENC-05")(NilIsTheLiteral)
