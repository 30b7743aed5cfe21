"""Events of a STOMP conversation for tests of the model of a server, and what it makes of them."""

from __future__ import annotations

from specs.events import Quiet, Said
from specs.model import judge
from specs.protocol import find
from specs.stomp.frames import Frame
from specs.stomp.model import StompModel
from specs.stomp.states import Config

TOPIC = "/topic/t"
STOMP_LEVELS = {name.removeprefix("STOMP-1.2-"): one.level for name, one in find("stomp").requirements.items()}


def client(command, *headers, conn=0, body=b""):
    return Said(conn, "client", Frame(command, headers, body))


def server(command, *headers, conn=0, body=b""):
    return Said(conn, "server", Frame(command, headers, body))


def session(version):
    answer = [("version", version)] if version != "1.0" else []
    return client("CONNECT", ("accept-version", version), ("host", "/")), server("CONNECTED", *answer)


def verdict(*events):
    found = judge(StompModel(), Config(), (*events, Quiet(10_000, final=True)), "server")
    return found.verdict, [(b.breach.requirement.removeprefix("STOMP-1.2-"), b.breach.level) for b in found.faults]


QUEUE = ("destination", "/queue/q")


def receipted(*frames):
    """Each frame with a receipt of its own and its RECEIPT behind it."""
    events = []
    for number, frame in enumerate(frames):
        asked = Frame(frame.frame.command, (*frame.frame.headers, ("receipt", f"r{number}")), frame.frame.body)
        events += [Said(frame.conn, "client", asked), server("RECEIPT", ("receipt-id", f"r{number}"), conn=frame.conn)]
    return events


def delivery(number, sub="0"):
    headers = [
        ("k", f"{number}"),
        ("message-id", f"m{number}"),
        ("subscription", sub),
        ("ack", f"a{number}"),
        ("content-length", "1"),
    ]
    return server("MESSAGE", QUEUE, *headers, body=b"x")
