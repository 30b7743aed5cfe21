"""Processors of the interface language that say too much, or forget the second of several."""

from __future__ import annotations

from typing import Any

from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_checker import Checker, Part
from impls.references.msgpack.idl_words import Wrong
from tests.mutants.faults import on
from tests.mutants.msgpack_idl_parts import PLAIN, mutant

mutant("says-more", "ERR-02", PLAIN)(
    "Behind each answer there is a remark.", on(Idl, "line").gives(lambda found: found + b"\nwell done")
)


UNMARKED = "service S: 0 {\n  int f()\n}\napplication A {\n  S: 0 s\n}\n"


def _has_no_default(found: dict[str, Any]) -> bool:
    applications = (each for each in found.get("ast", {}).get("definitions", ()) if each["k"] == "application")
    return any(not any(entry.get("default") for entry in each["entries"]) for each in applications)


mutant("default-scope-wanted", "APP-08", UNMARKED, level="ASSUMED")(
    "An application without a default scope is refused, though something else is declared.",
    on(Idl, "parse").gives(
        lambda found: {"errors": [{"kind": "semantic", "line": 1}]} if _has_no_default(found) else found
    ),
)


TWO = """interface I: 1 {
  string get()
}
interface J: 4 {
  string put()
}
service S: 0 {
  implements I: 1
  implements J: 4
  string own()
}
"""


mutant("last-interface-only", "IF-02", TWO)(
    "Of several interfaces the functions of the last are those of the service.",
    on(Idl, "tree").before(
        lambda part: setattr(part, "uses", part.uses[-1:]), when=lambda part: part.what == "service"
    ),
)


VERSIONS = """interface I: 1 {
  string get()
}
interface I: 2 {
  string put()
}
service S: 0 {
  implements I: 1
}
"""


mutant("interfaces-by-name", "IF-02", VERSIONS, accept="IF-03")(
    "Of several versions of an interface the last one is taken for all.",
    on(Idl, "tree").before(
        lambda part, checker: setattr(
            part, "uses", [(w, [n for name, n in checker.interfaces if name == w.text][-1]) for w, _ in part.uses]
        ),
        when=lambda part: part.what == "service",
    ),
)


SHARED = """interface I: 1 {
  string get()
}
service S: 0 {
  implements I: 1
  string first()
}
service T: 0 {
  implements I: 1
  string second()
}
"""


@mutant("functions-in-one-list", "IF-02", SHARED, accept="SVC-04 SVC-01")
class FunctionsInOneList(Idl):
    """Of the services that implement an interface each has the functions of its own of all of them."""

    def tree(self, part: Part, checker: Checker) -> dict[str, Any]:
        made = super().tree(part, checker)
        if part.what == "service" and part.uses:
            shared: dict[str, list[Any]] = vars(checker).setdefault("shared_lists", {})
            known = shared.setdefault(part.uses[0][0].text, [])
            names = {each["name"] for each in known}
            known += [each for each in made["functions"] if each["name"] not in names]
            made["functions"] = list(known)
        return made


@mutant("modifier-left-over", "FIELD-03", "message A {\n  1: optional\n}\n", PLAIN, accept="ERR-02")
class ModifierLeftOver(Idl):
    """The modifier of a field at which a document broke off is that of the first field without one in the next."""

    left = ""

    def read(self, source: str, profile: str) -> list[Part]:
        parser = self.parser_type(source, self.switches)
        before, self.left = self.left, ""
        try:
            parser.document()
        except Wrong:
            words = [word.text for word in parser.words[max(0, parser.at - 2) : parser.at + 1]]
            self.left = "optional" if "optional" in words else ""
        parts = super().read(source, profile)
        for member in [member for part in parts if part.what == "message" for member in part.members][:1]:
            member.mod = member.mod or before
        return parts
