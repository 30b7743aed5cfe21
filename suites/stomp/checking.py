"""Whether a STOMP server, or the testee of a STOMP client, can be judged. See `suites.check`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from impls.driver.dialogue import Broken, Reply
from impls.driver.drive import Recording
from impls.launching.launch import unused_port
from impls.references.front import HOST, Front
from impls.references.stomp.__main__ import StompPeer
from impls.references.stomp.reference import Server
from specs.events import Closed, Quiet
from specs.plan import Plan, Say
from specs.stomp.bundle import connect
from specs.stomp.frames import Frame, Style
from specs.stomp.states import Config
from strategies.stomp import discovery
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look
from suites.checking.peers import serving

NEWEST = tuple(reversed(discovery.VERSIONS))
OPS = (
    "connect", "send", "subscribe", "unsubscribe", "ack", "nack", "begin", "commit", "abort", "receive", "disconnect",
)  # fmt: skip


def check(look: Look) -> None:
    """Tell what is to be told of it. Raises CannotCheck."""
    if look.impl.role == "client":
        _client(look)
    else:
        look.open()
        _server(look)


# --- servers ----------------------------------------------------------------------------------------------------------


def _server(look: Look) -> None:
    config = look.config(learnt={"supports": discovery.VERSIONS})
    first = look.first_words(config)
    if look.running is not None:
        look.report.good("listens at {}:{}".format(*look.running.address))
    answers = {version: _greeting(look, config, version) for version in NEWEST}
    spoken = {version: frame for version, frame in answers.items() if frame is not None}
    if not spoken:
        raise _refused(look, config, first)
    named = [version for version, frame in spoken.items() if (frame.get("version") or "1.0") == version]
    stated = next((name for frame in spoken.values() if (name := frame.get("server"))), "")
    look.report.good(f"speaks STOMP {', '.join(named or spoken)}" + (f"; it is {stated}" if stated else ""))
    _claim(look, named, spoken)
    with_login = "with the login of the manifest" if config.login else "without a login"
    look.report.good(f"takes a session {with_login}, and the host {config.host!r}")
    version = look.impl.profile if look.impl.profile in named else (named or list(spoken))[0]
    _destinations(look, look.config(version, {"supports": tuple(spoken)}))


def _greeting(look: Look, config: Config, version: str) -> Frame | None:
    """CONNECTED as the answer to a client that offers this version only, or None."""
    recording = look.play(Plan((Say(0, connect(config, version=version), style=Style(version)),)), config)
    return next((frame for frame in look.frames(recording) if frame.command == "CONNECTED"), None)


def _claim(look: Look, named: list[str], spoken: dict[str, Frame]) -> None:
    """Which profile to claim."""
    profile = look.impl.profile
    if named and profile not in named:
        look.report.wrong(f"does not speak the profile {profile} that it claims", f'[impl] profile = "{named[0]}"')
    elif named and named[0] != profile:
        look.report.note(f"speaks {named[0]} as well, which is newer than its claim", f'[impl] profile = "{named[0]}"')
    elif named:
        look.report.good(f'the profile is right: profile = "{profile}"')
    odd = {version: frame.get("version") for version, frame in spoken.items() if version not in named}
    for version, other in odd.items():
        what = "no version" if other is None else f"version:{other}"
        look.report.note(f"answers a client that offers {version} alone by {what}: that will be judged")


def _refused(look: Look, config: Config, first: Recording) -> CannotCheck:
    """Nobody gets a session: why, and what to write."""
    for host in dict.fromkeys(["/", "localhost", look.running.address[0] if look.running else HOST]):
        other = replace(config, host=host)
        if host != config.host and any(_greeting(look, other, version) for version in NEWEST):
            return CannotCheck(f"refuses the host {config.host!r}, and takes {host!r}", f'[stomp] host = "{host}"')
    said = next((frame for frame in look.frames(first) if frame.command == "ERROR"), None)
    told = f": {_text(said)}" if said is not None else f" by {look.protocol.describe(look.frames(first)[0])[:100]}"
    if config.login:
        return CannotCheck(
            f"refuses the login {config.login!r} of the manifest{told}",
            "[stomp] login and passcode of a user who may do everything, or host = the virtual host that is meant",
        )
    return CannotCheck(
        f"refuses a session without a login{told}",
        '[stomp] login = "…" and passcode = "…"; or host = the virtual host that is meant',
    )


def _text(frame: Frame) -> str:
    body = frame.body.decode("utf-8", "backslashreplace").strip()
    return " / ".join(part for part in (frame.get("message") or "", body[:120]) if part) or "ERROR without a word"


def _destinations(look: Look, config: Config) -> None:
    """Whether the queue is a queue, and the topic a topic."""
    fan_out = replace(config, queue=replace(config.queue, fanout=True))
    copies: dict[int, set[int]] = {}
    for place, kind in enumerate(discovery.FAMILIES):
        template = (config.queue, config.topic)[place].template
        refusal = _unusable(look, fan_out, place)
        if refusal:
            look.report.wrong(f"{kind} = {template!r} cannot be used: {refusal}", f'[stomp] {kind} = "…{{name}}"')
            continue
        found = copies[place] = discovery.copies(look.asked, fan_out, place)
        right, wanted = ({1}, "one subscriber") if place == 0 else ({2}, "each subscriber")
        if found == right:
            look.report.good(f"{kind} = {template!r} gives each message to {wanted}")
        elif place == 0 and found == {0} and not discovery.shared(look.asked, fan_out, place):
            look.report.good(f"{kind} = {template!r} takes one subscriber at a time, and refuses others")
        elif config.queue.template != config.topic.template:
            how = {frozenset({2}): "every subscriber", frozenset({1}): "one subscriber only", frozenset({0}): "nobody"}
            seen = how.get(frozenset(found), f"{' or '.join(map(str, sorted(found)))} of two subscribers")
            look.report.wrong(
                f"{kind} = {template!r} gives a message to {seen}",
                f'[stomp] {kind} = a destination that gives each message to {wanted}; write what "'
                f'{discovery.FAMILIES[1 - place]}" says when there is no other kind',
            )
        else:
            look.report.note(f"there is one kind of destination, {template!r}, which is judged as what it does")


def _unusable(look: Look, config: Config, place: int) -> str:
    """Why a message to oneself does not come, or ""."""
    recording = look.play(discovery.own(config, place), config, whole=True)
    said = look.frames(recording)
    error = next((frame for frame in said if frame.command == "ERROR"), None)
    if error is not None:
        return f"ERROR {_text(error)}"
    if any(frame.command == "MESSAGE" for frame in said):
        return ""
    if any(isinstance(event, Closed) and event.by == look.impl.role for event in recording.events):
        return "the connection is closed"
    if not any(frame.command == "RECEIPT" for frame in said):
        silent = any(isinstance(event, Quiet) and event.final for event in recording.events)
        return "SUBSCRIBE is not answered" if silent else "SUBSCRIBE has no RECEIPT"
    return ""  # one that gives a subscriber nothing of its own; whether others get it is asked next


# --- clients ----------------------------------------------------------------------------------------------------------


def _client(look: Look) -> None:
    testee = contract.lines(look)
    with serving(Front(lambda _: Server(nack="discard", empty_names="accept"), [0], StompPeer)) as address:
        version = _versions(testee, address)
        _ops(testee, address, version)
        _alone(testee)
        contract.offered(testee, OPS)
        contract.ends(testee)
        if look.deadline.left() > contract.ANSWER_S:
            _nul(look, address, version)


def _versions(testee: Testee, address: str) -> str:
    """The version that it claims, if it speaks it; tells which it speaks. Raises CannotCheck."""
    look, spoken, why = testee.look, [], ""
    for version in NEWEST:
        reply = testee.try_out("connect", **_session(testee, address, version))
        if reply.error is None:
            spoken.append(version)
            testee.ask("disconnect")
        else:
            why = why or f"{version}: {reply.error}"
    if not spoken:
        raise CannotCheck(f"connect fails against a correct server ({why})", "what carries out 'connect'")
    look.report.good(f"connects to a correct server, in STOMP {', '.join(spoken)}")
    if look.impl.profile not in spoken:
        look.report.wrong(f"cannot connect in the profile {look.impl.profile}", f'[impl] profile = "{spoken[0]}"')
        return spoken[0]
    if spoken[0] != look.impl.profile:
        look.report.note(
            f"speaks {spoken[0]} as well, which is newer than its claim", f'[impl] profile = "{spoken[0]}"'
        )
    return look.impl.profile


def _session(testee: Testee, address: str, version: str) -> dict[str, Any]:
    facts = testee.look.impl.facts
    host = {"host": facts["host"], "versions": [version], "heart_beat": [0, 0]}
    return {"address": address, "login": facts["login"] or None, "passcode": facts["passcode"] or None, **host}


def _ops(testee: Testee, address: str, version: str) -> None:
    """Every op of the contract once, with a correct server."""
    ask, place = testee.ask, "/queue/check"
    testee.must("connect", "a second connection of the same program", **_session(testee, address, version))
    mode = "client" if version == "1.0" else "client-individual"
    testee.must("subscribe", "subscribing to a queue", destination=place, sub="s1", ack=mode)
    body = bytes(range(1, 256)) * 300
    _with_receipt(testee, "send", destination=place, body_hex=body.hex(), headers={"check": "yes"})
    ref = _received(testee, body, place)
    for op in ("ack", "nack"):
        if ref is not None:
            ask(op, ref=ref)
            testee.must("send", "sending again", destination=place, body_hex="32", headers={})
            ref = _received(testee, b"2", place)
    if ask("begin", transaction="t1").error is None:
        ask("send", destination=place, body_hex="33", headers={}, transaction="t1")
        _with_receipt(testee, "commit", transaction="t1")
        ask("begin", transaction="t2")
        ask("abort", transaction="t2")
        _received(testee, b"3", place)
    empty = ask("receive", timeout_ms=100)
    if empty != Reply():
        told = empty.ok if empty.error is None else f"the error {empty.error}"
        contract.wrong_value(testee, "receive", told, "no message is left", "null when none came in time")
    testee.refused("ack", "an ack of a message that was never given", ref="no such ref")
    ask("unsubscribe", sub="s1")
    testee.must("disconnect", "leaving a session")
    testee.over("send", destination=place, body_hex="31", headers={})


def _with_receipt(testee: Testee, op: str, **given: Any) -> None:
    """An op that has to work, with a receipt if the library has one for it. What a library makes of a RECEIPT behind a
    MESSAGE is judged, and is nothing that its program could mend."""
    reply = testee.try_out(op, **given, receipt=True)
    if reply.unsupported:
        testee.must(op, "without a receipt, which it does not offer here", **given)
    elif reply.error is not None:
        testee.look.report.note(
            f"{op} with a receipt is answered by the error {reply.error!r} although its RECEIPT comes",
            f"what waits in {op!r}, unless the library itself fails there: then that will be judged",
        )


def _nul(look: Look, address: str, version: str) -> None:
    """A body with a NUL, in a process of its own: a program that forgets its length may not survive that."""
    testee = Testee(look, look.dialogue(), [])
    write = "content-length where a body has a NUL, if the library leaves that to its user"
    try:
        testee.must("connect", "once more", **_session(testee, address, version))
        testee.must("subscribe", "once more", destination="/queue/nul", sub="s1", ack="auto")
        testee.must("send", "a body with a NUL", destination="/queue/nul", body_hex="610062", headers={})
        found = testee.must("receive", "a body with a NUL", timeout_ms=1000)
    except Broken as error:
        look.report.note(f"a body with a NUL comes to no good: it {error.why}", write)
        return
    except CannotCheck as error:
        look.report.note(f"a body with a NUL comes to no good: {error.why}", write)
        return
    if not isinstance(found, dict) or found.get("body_hex") != "610062":
        look.report.note("a body with a NUL does not come back whole", write)
    else:
        look.report.good("a body with a NUL comes back whole")


def _received(testee: Testee, body: bytes, place: str) -> Any:
    """The ref of the message that has to come next; None when it was not told rightly."""
    found = testee.must("receive", "a message was sent and subscribed to", timeout_ms=2000)
    if found is None:
        contract.wrong_value(testee, "receive", None, "a message was under way", "the message that has come")
        return None
    shape = '{"ref", "headers": {texts}, "body_hex", "sub"}'
    wrong = contract.has(found, {"ref": object, "headers": dict, "body_hex": str, "sub": (str, type(None))})
    if not wrong and found["body_hex"].lower() != body.hex():
        wrong = f"the body of {len(body)} octets has become {found['body_hex'][:40]!r}"
    if not wrong and found["headers"].get("destination") != place:
        wrong = f"the header destination is {found['headers'].get('destination')!r}"
    if not wrong and not all(isinstance(text, str) for text in found["headers"].values()):
        wrong = "not every header is a text"
    if not wrong and found["sub"] != "s1":
        wrong = f"'sub' is {found['sub']!r} and not what subscribe was told"
    if wrong:
        contract.wrong_value(testee, "receive", found, wrong, shape)
        return found.get("ref") if isinstance(found, dict) else None
    return found["ref"]


def _alone(testee: Testee) -> None:
    """Nobody listens: an error, and the program lives on."""
    nobody = f"{HOST}:{unused_port()}"
    testee.refused("connect", "a connect where nobody listens", **_session(testee, nobody, testee.look.impl.profile))
