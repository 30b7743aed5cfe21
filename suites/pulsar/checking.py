"""Whether a Pulsar broker, or the testee of a Pulsar client, can be judged. See `suites.check`."""

from __future__ import annotations

import secrets
from typing import Any

from impls.references.pulsar.net import front
from impls.references.pulsar.reference import Broker
from specs.plan import Plan
from specs.pulsar.bundle import VERSIONS
from suites.checking import contract
from suites.checking.contract import Testee
from suites.checking.look import CannotCheck, Look
from suites.checking.peers import serving

OPS = ("connect", "producer", "send", "subscribe", "receive", "ack", "redeliver", "close", "disconnect")
MORE = ("send_async", "await")
UNNAMED = "`name` is absent, as anything may be that is not asked for"
RECEIVE_MS = 300
"""How long a message that was sent may take to come."""
NEWER = 8
"""Versions of the protocol from here on are of the profile `modern`."""


def check(look: Look) -> None:
    """Tell what is to be told of it. Raises CannotCheck, and Broken."""
    if look.impl.role == "client":
        _client(look)
    else:
        look.open()
        _broker(look)


def _broker(look: Look) -> None:
    first = look.first_words(look.config())
    if look.running is not None:
        look.report.good("listens at {}:{}".format(*look.running.address))
    said = look.frames(first)[0]
    if said.kind != "CONNECTED":
        method = str(look.impl.facts["auth"]).partition(":")[0]
        given = f"with credentials of the method {method!r}" if method else "without credentials"
        raise CannotCheck(
            f"refuses a connection {given}: {look.protocol.describe(said)[:160]}",
            '[pulsar] auth = "METHOD:DATA", such as "token:eyJ…"',
        )
    version = said.body.protocol_version
    look.report.good(
        f"speaks Pulsar, protocol version {version} of the {VERSIONS[look.impl.profile]} that were offered"
    )
    newest = look.frames(look.play(_opening(look, "modern"), look.config("modern")))
    newest_version = max([version, *(f.body.protocol_version for f in newest if f.kind == "CONNECTED")])
    fits = "modern" if newest_version >= NEWER else "seed"
    if fits == look.impl.profile:
        look.report.good(f'the profile is right: profile = "{fits}"')
    elif fits == "modern":
        look.report.note(f"speaks version {newest_version}, which is newer than its claim", '[impl] profile = "modern"')
    else:
        look.report.wrong(f"speaks version {newest_version} at most", '[impl] profile = "seed"')
    look.report.good("takes the credentials of the manifest" if look.impl.facts["auth"] else "asks for no credentials")
    _topics(look)


def _opening(look: Look, profile: str) -> Plan:
    assert look.protocol.smoke is not None
    return Plan(look.protocol.smoke(look.config(profile)).steps[:1])


def _topics(look: Look) -> None:
    """Messages through the broker, by the reference client: one subscription shares them, two have each."""
    if look.running is None:
        return
    facts = look.impl.facts
    user = Testee(look, look.tool("impls.references.pulsar", "client"), [])
    method, _, data = str(facts["auth"]).partition(":")
    login = {"auth_method": method, "auth_data": data} if method else {}
    user.must("connect", "a correct client", url="pulsar://{}:{}".format(*look.running.address), **login)
    topic = f"persistent://{facts['tenant']}/{facts['namespace']}/check-{secrets.token_hex(4)}"
    where = "[pulsar] tenant and namespace in which topics are made when they are first used"
    opened: dict[str, Any] = {}
    for name, (subscription, kind) in {"a": ("s", "Shared"), "b": ("s", "Shared"), "c": ("t", "Exclusive")}.items():
        given = {"topic": topic, "subscription": subscription, "type": kind, "name": name, "permits": 10}
        reply = user.ask("subscribe", **given)
        if reply.error is not None:
            raise CannotCheck(f"a correct client cannot subscribe to {topic}: {reply.error}", where)
        opened[name] = reply.ok
    reply = user.ask("producer", topic=topic, name=None)
    if reply.error is not None:
        raise CannotCheck(f"a correct client cannot publish to {topic}: {reply.error}", where)
    sent = [f"{number:02x}" for number in range(6)]
    for payload in sent:
        user.must("send", "a correct client sends", producer=reply.ok, payload_hex=payload, properties={})
    came = {name: _all(user, consumer, len(sent)) for name, consumer in opened.items()}
    if sorted(came["a"] + came["b"]) != sent:
        look.report.note(f"a shared subscription gave {came['a']} and {came['b']} of {sent}: that will be judged")
    elif came["c"] != sent:
        look.report.note(f"another subscription gave {came['c']} of {sent}: that will be judged")
    else:
        look.report.good("a shared subscription gives each message to one consumer, each subscription has all messages")


def _all(user: Testee, consumer: Any, count: int) -> list[str]:
    found: list[str] = []
    wait_ms = int(RECEIVE_MS * user.look.patience)
    while len(found) <= count:
        message = user.must("receive", "a correct client receives", consumer=consumer, timeout_ms=wait_ms)
        if message is None:
            break
        found.append(message["payload_hex"])
    return found


# --- clients ----------------------------------------------------------------------------------------------------------


def _client(look: Look) -> None:
    testee = contract.lines(look)
    profile = look.impl.profile

    def broker(url: str, other: str) -> Broker:
        return Broker(url=url, other_url=other, profile=profile)

    with serving(front(broker, 0)) as address:
        _ops(testee, f"pulsar://{address}")
    contract.offered(testee, OPS if "send_async" in testee.missing else (*OPS, *MORE))
    if "send_async" in testee.missing:
        look.report.note("has no send_async: several messages under way at once are not judged")
    contract.ends(testee)


def _ops(testee: Testee, url: str) -> None:
    facts = testee.look.impl.facts
    method, _, data = str(facts["auth"]).partition(":")
    login = {"auth_method": method, "auth_data": data} if method else {}
    testee.must("connect", "against a correct broker", url=url, **login)
    topic = f"persistent://{facts['tenant']}/{facts['namespace']}/check-{secrets.token_hex(4)}"
    # as a run does: what is not asked for is left out
    given = {"topic": topic, "subscription": "s", "type": "Shared", "name": "", "permits": 10}
    consumer = testee.must("subscribe", "subscribing; an empty name means that none is asked for", **given)
    producer = testee.must("producer", f"making a producer; {UNNAMED}", topic=topic)
    payload = bytes(range(256)) * 4
    sent = {"payload_hex": payload.hex(), "key": "k", "properties": {"check": "a"}}
    message_id = testee.must("send", "sending", producer=producer, **sent)
    if not isinstance(message_id, str):
        contract.wrong_value(testee, "send", message_id, "it is no text", "the id of the message, as a text")
    ref = _received(testee, consumer, payload, key="k", properties={"check": "a"})
    if ref is not None:
        testee.ask("ack", consumer=consumer, ref=ref, cumulative=False)
    handle = testee.try_out("send_async", producer=producer, payload_hex="01", properties={})
    if handle.unsupported:
        testee.missing.append("send_async")
    else:
        testee.must("await", "awaiting what send_async began", handle=handle.ok)
        _received(testee, consumer, b"\1")
    if testee.ask("redeliver", consumer=consumer).error is None and not handle.unsupported:
        _received(testee, consumer, b"\1")
    empty = testee.ask("receive", consumer=consumer, timeout_ms=100)
    if empty.error is not None or empty.ok is not None:
        told = empty.ok if empty.error is None else f"the error {empty.error}"
        contract.wrong_value(testee, "receive", told, "no message is left", "null when none came in time")
    testee.ask("close", producer=producer)
    testee.over("send", producer=producer, payload_hex="00", properties={})
    testee.ask("close", consumer=consumer)
    testee.must("disconnect", "leaving")


def _received(testee: Testee, consumer: Any, payload: bytes, **more: Any) -> Any:
    found = testee.must("receive", "a message was sent", consumer=consumer, timeout_ms=2500)
    wrong = contract.has(found, {"ref": object, "payload_hex": str, "properties": dict})
    if not wrong and found["payload_hex"].lower() != payload.hex():
        wrong = f"the payload of {len(payload)} octets has become {found['payload_hex'][:40]!r}"
    for name, value in more.items():
        if not wrong and found.get(name) != value:
            wrong = f"{name!r} is {found.get(name)!r} and was {value!r}"
    if wrong:
        shape = '{"ref", "payload_hex", "key", "properties": {texts}}'
        contract.wrong_value(testee, "receive", found, wrong, shape)
        return None
    return found["ref"]
