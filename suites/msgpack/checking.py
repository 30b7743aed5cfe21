"""Whether something of MessagePack can be judged: servers, codecs and testees of clients. See `suites.check`.

What is made from documents of the interface language is in `suites.msgpack.checking_idl`.
"""

from __future__ import annotations

import re
from typing import Any

from impls.references.msgpack.net import front
from impls.references.msgpack.reference import Server
from specs.codec import Malformed
from specs.msgpack.calls import METHODS
from specs.msgpack.format import decoded, encoded
from specs.msgpack.frames import shape
from strategies.msgpack import discovery
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look
from suites.checking.peers import serving
from suites.msgpack import checking_idl

CLIENT_OPS = ("connect", "call", "call_async", "await", "notify", "disconnect")
LARGE, LEAST = 1 << 19, 60_000
"""Octets of a value: a line of 1 MiB; and what every codec takes (MP-17 in docs/ambiguities.md)."""


def check(look: Look) -> None:
    """Tell what is to be told of it. Raises CannotCheck, and Broken."""
    roles = {
        "server": _server, "client": _client, "codec": _codec,
        "idl": checking_idl.processor, "idl-server": checking_idl.server, "idl-client": checking_idl.client,
    }  # fmt: skip
    roles[look.impl.role](look)


def _server(look: Look) -> None:
    look.open()
    first = look.first_words(look.config())
    if look.running is not None:
        look.report.good("listens at {}:{}".format(*look.running.address))
    said = look.frames(first)[0].body
    if shape(said) != "response":
        raise CannotCheck(
            f"answers a request by {look.protocol.describe(look.frames(first)[0])[:120]}",
            "the address of a MessagePack-RPC server",
        )
    look.report.good("speaks MessagePack-RPC")
    learnt = discovery.discover(look.asked, lambda found: look.config("", found))
    offered, facts = learnt["offered"], look.impl.facts
    if not facts["echo"]:
        look.report.note("has no method that gives back its argument: values are not judged")
    elif "echo" not in offered:
        look.report.wrong(
            f"fails each call of {facts['echo']!r}, which has to give back its one argument: {said[2]!r:.80}",
            '[msgpack] echo = "the name of such a method"',
        )
    lacking = [name for name in METHODS if facts[name] and name not in offered and name != "echo"]
    for name in lacking:
        look.report.note(
            f"fails each call of {facts[name]!r}", f'[msgpack] {name} = its name, or "" when there is none'
        )
    if not lacking and offered:
        look.report.good(f"offers {', '.join(offered)}")
    if facts["echo"] and learnt.get("old_raw"):
        look.report.note("speaks the format of before 2013, without bin", '[msgpack] raw_wire = "str"')
    if learnt.get("serial"):
        look.report.note("serves one connection at a time: the next one is answered when it is closed")


# --- clients ----------------------------------------------------------------------------------------------------------


def _client(look: Look) -> None:
    testee = contract.lines(look)
    with serving(front(Server(), 0)) as address:
        testee.must("connect", "connecting to a correct server", address=address)
        _result(testee, testee.must("call", "calling echo", method="echo", params_hex="9107"), 7)
        params = encoded((b"x" * LEAST,)).hex()
        _result(
            testee, testee.must("call", f"calling echo with {LEAST} octets", method="echo", params_hex=params), None
        )
        if testee.ask("call", method="echo", params_hex=encoded((b"x" * LARGE,)).hex()).error is not None:
            testee.look.report.note("fails to call echo with 512 KiB, as a client may")
        _failure(testee, testee.ask("call", method="fail", params_hex=encoded(("no",)).hex()))
        handle = testee.ask("call_async", method="echo", params_hex="9108")
        if handle.error is None:
            _result(testee, testee.must("await", "awaiting a call", handle=handle.ok), 8)
        testee.ask("notify", method="bump", params_hex="90")
        testee.must("disconnect", "leaving")
        testee.over("call", method="echo", params_hex="9101")
    contract.offered(testee, CLIENT_OPS)
    contract.ends(testee)


def _result(testee: Testee, found: Any, value: Any) -> None:
    """A call that succeeded."""
    wrong = contract.has(found, {"result_hex": str})
    if not wrong:
        try:
            got = decoded(bytes.fromhex(found["result_hex"]))[0]
        except (Malformed, ValueError):
            wrong = f"'result_hex' is no MessagePack: {found['result_hex'][:40]!r}"
        else:
            wrong = f"the result {value!r} has become {got!r:.60}" if value is not None and got != value else ""
    if wrong:
        contract.wrong_value(testee, "call", found, wrong, '{"result_hex": the result, as MessagePack in hex}')


def _failure(testee: Testee, reply: Any) -> None:
    """A call that failed: told as an error of the call, or as an error."""
    if reply.error is None and contract.has(reply.ok, {"error_hex": str}):
        contract.wrong_value(
            testee, "call", reply.ok, "the server has answered an error", '{"error_hex": …}, or by an error'
        )


# --- codecs -----------------------------------------------------------------------------------------------------------


def _codec(look: Look) -> None:
    look.open()
    config = look.config()
    found = look.play(_first(look), config)
    if found.refused:
        raise CannotCheck(found.refused, "start.command = a command that can be run")
    if not look.frames(found):
        raise look.mute(found, "answered nothing to a line", "one line for each line of stdin, flushed")
    learnt = discovery.discover(look.asked, lambda known: look.config("", known))
    way = learnt["way"]
    if way == "none":
        raise CannotCheck(
            "gives back neither 5, nor true, nor 'a', in any of the ways that codecs are spoken to",
            "a filter: for each line of hex one line, flushed: the hex of what was decoded and encoded again, or ERR",
        )
    look.report.good("answers as a filter of lines of hex" if way == "filter" else f"answers JSON objects ({way})")
    if way == "filter":
        _filter(look)
    elif way == "plain":
        _objects(look)
    if learnt["old_raw"]:
        look.report.note("speaks the format of before 2013, without bin")
    if learnt.get("layout"):
        look.report.good(f"knows messages of documents, laid out as {learnt['layout']}")


def _first(look: Look) -> Any:
    assert look.protocol.smoke is not None
    return look.protocol.smoke(look.config())


def _filter(look: Look) -> None:
    """The contract of filters: an answer for each line, errors told, large values, the end."""
    dialogue = look.dialogue()
    seconds = contract.ANSWER_S * look.patience
    large, least = encoded(b"x" * LARGE).hex(), encoded(b"x" * LEAST).hex()
    takes = f"{LARGE >> 10} KiB"
    for what, line, wanted in (
        ("what is no MessagePack (c1)", "c1", ""),
        ("hex with a letter that is none", "0g", ""),
        ("a value in front of another one", "0505", ""),
        ("an integer", "05", "05"),
        (f"{LEAST} octets", least, least),
        ("512 KiB", large, large),
        ("an integer behind an error", "06", "06"),
    ):
        said = dialogue.line(line, seconds, pieces=3)
        if line == large and said.startswith("ERR"):
            look.report.note("refuses a value of 512 KiB, as a codec may", "[msgpack] max_message = what it takes")
            takes = f"{LEAST} octets"
            continue
        if wanted and said.lower() != wanted:
            look.report.wrong(f"answers {what} by {said[:60]!r}", "the hex of what was decoded and encoded again")
            return
        if said.startswith("ERR"):
            continue
        if not re.fullmatch("(?:[0-9a-fA-F]{2})*", said):
            look.report.wrong(f"answers {what} by {said[:60]!r}", "hex, or ERR and why, on one line")
            return
        if not wanted and line != "0g":
            look.report.note(f"takes {what} and makes {said[:20]!r} of it: that will be judged")
    look.report.good(f"answers each line by hex or by ERR, and goes on; takes {takes} in one line")
    contract.ends(Testee(look, dialogue, []))


def _objects(look: Look) -> None:
    testee = contract.lines(look)
    testee.refused("decode", "decoding what is no MessagePack (c1)", hex="c1")
    if testee.must("decode", "decoding 5", hex="05") != {"value": 5}:
        contract.wrong_value(testee, "decode", "another value", "05 is 5", '{"value": 5}')
    contract.ends(testee)
