"""Whether something that is made from documents of the MessagePack IDL can be judged. See `suites.check`."""

from __future__ import annotations

from typing import Any

from specs.events import Fact
from specs.msgpack.bundle import EXTENSIONS
from strategies.msgpack import discovery
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look

PLAIN = "message M {\n  1: int x\n}\nservice S: 0 {\n  string f()\n}\napplication A {\n  S: 0 s default\n}\n"
WITH = {
    "def": "message M {\n  1: optional int x = 3\n}\n",
    "td": "typedef list<int> L\nmessage M {\n  1: L x\n}\n",
    "ts": "message M {\n  1: int x\n}\ntypespec cpp M my::M\n",
    "if": "interface I:0 {\n  int f()\n}\nservice S: 0 {\n  implements I:0\n}\n",
    "nosc": "service S: 0 {\n  int f()\n}\n",
}
"""A document for each extension that a document can show."""
WRONG = "message M {\n  1: int x\n  1: int y\n}\n"


def processor(look: Look) -> None:
    """A processor of the interface language. Raises CannotCheck, and Broken."""
    testee = contract.lines(look)
    profile = look.impl.profile
    found = testee.must("parse", "parsing a small document", profile="core", source=PLAIN)
    if not isinstance(found, dict) or "ast" not in found:
        raise CannotCheck(f"parse answers a right document by {found!r:.150}", '{"ast": {"definitions": […]}} in ok')
    definitions = found["ast"].get("definitions") if isinstance(found["ast"], dict) else None
    kinds = [each.get("k") for each in definitions or () if isinstance(each, dict)]
    if kinds != ["message", "service", "application"]:
        contract.wrong_value(testee, "parse", kinds, "there are a message, a service and an application", "its tree")
    else:
        look.report.good("parses a document with a message, a service and an application")
    wrong = testee.ask("parse", profile="core", source=WRONG)
    errors = wrong.ok.get("errors") if isinstance(wrong.ok, dict) else None
    if not errors or not isinstance(errors, list) or not isinstance(errors[0], dict) or "line" not in errors[0]:
        told = wrong.ok if wrong.error is None else f"the error {wrong.error}"
        shape = '{"errors": [{"kind", "code", "line", "col", "message"}]} in ok'
        contract.wrong_value(testee, "parse", told, "the id 1 is used twice", shape)
    else:
        look.report.good("tells what is wrong with a document, and in which line")
    taken = [name for name, text in WITH.items() if _takes(testee, text, name)]
    _claim(look, taken)
    if profile != "core":
        testee.ask("parse", profile=profile, source=PLAIN)
    contract.ends(testee)


def _takes(testee: Testee, text: str, extension: str) -> bool:
    reply = testee.ask("parse", profile=f"core+{extension}", source=text)
    return reply.error is None and isinstance(reply.ok, dict) and "ast" in reply.ok


def _claim(look: Look, taken: list[str]) -> None:
    claimed = look.impl.profile.split("+")[1:]
    fits = "+".join(["core", *(name for name in EXTENSIONS if name in taken or (name == "meta" and name in claimed))])
    lacking = [name for name in claimed if name in WITH and name not in taken]
    more = [name for name in taken if name not in claimed and name != "nosc"]
    if lacking:
        look.report.wrong(
            f"claims {', '.join(lacking)} and does not take documents of that", f'[impl] profile = "{fits}"'
        )
    elif more:
        look.report.note(f"takes documents with {', '.join(more)}, too", f'[impl] profile = "{fits}"')
    else:
        look.report.good(f'the profile is right: profile = "{look.impl.profile}"')


def server(look: Look) -> None:
    """A server that is made from a document. Raises CannotCheck, and Broken."""
    testee = contract.lines(look)
    _behind(testee)
    contract.ends(testee)
    look.open()
    _smoke(look, "serves a document, and answers a call of it", "serve")
    learnt = discovery.discover(look.asked, lambda known: look.config("", known))
    if learnt.get("layout"):
        look.report.good(f"lays out messages as {learnt['layout']}")
    else:
        look.report.note("lays out messages in a way that is not known: values are not judged", "[msgpack] encoding")
    if learnt.get("echo_form") is None:
        look.report.note('does not do {"do": "echo"}: what needs that is not judged')
    for point in learnt.get("refused", ()):
        look.report.note(f"refuses a document that may be refused: {point}")


def _behind(testee: Testee) -> None:
    """Documents that cannot be served are errors."""
    testee.refused("serve", "a document that is wrong", idl=WRONG, application="A", behaviour={})


def client(look: Look) -> None:
    """A client that is made from a document. Raises CannotCheck, and Broken."""
    testee = contract.lines(look)
    given = {"app": "A", "scope": "s", "version": 0, "fn": "f", "args": []}
    testee.refused("call", "a call before connect", **given)
    contract.ends(testee)
    look.open()
    _smoke(look, "connects, and calls a function of a document", "connect or call")
    learnt = discovery.discover(look.asked, lambda known: look.config("", known))
    form, layout = learnt.get("exceptions"), learnt.get("layout")
    look.report.good(f"arguments begin at {learnt['first']}")
    if form:
        look.report.good(f"knows exceptions as {form}")
    else:
        look.report.note("catches no exception of the document", "[msgpack] exception_wire, or caught_as in the answer")
    if layout:
        look.report.good(f"reads messages that are laid out as {layout}")
    else:
        look.report.note("reads messages in no layout that is known: values are not judged")


def _smoke(look: Look, good: str, op: str) -> None:
    assert look.protocol.smoke is not None
    config = look.config()
    recording = look.play(look.protocol.smoke(config), config)
    answers: list[Any] = [each.value for each in recording.events if isinstance(each, Fact) and each.name == "answer"]
    failed = [each for each in answers if isinstance(each, dict) and "ok" not in each]
    if recording.refused or failed:
        raise CannotCheck(f"the first session fails: {recording.refused or failed[0]!r:.150}", f"what carries out {op}")
    if recording.judgement.verdict == "pass":
        look.report.good(good)
        return
    blame = next((blame.breach.why for blame in recording.judgement.faults), recording.judgement.why)
    if not look.frames(recording):
        raise CannotCheck(f"the first session says nothing on the wire ({blame})", f"what carries out {op}")
    look.report.note(f"the first session is not right ({blame}): that will be judged")
