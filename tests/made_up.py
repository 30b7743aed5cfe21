"""Two made-up protocols and the parts of their manifests, so that tests of manifests depend on no real one."""

from __future__ import annotations

from specs.protocol import Fact, Protocol
from specs.requirement import Registry, Requirement

IMPL = '[impl]\nname = "it"\nprotocol = "fake"\nrole = "server"\n'
START = '[start]\naddress = "127.0.0.1:7"\n'
IMAGE = '[start]\nimage = "broker:1"\n'
COMMAND = '[start]\ncommand = ["it", "{port}"]\n'


def url(url: str) -> tuple[str, int, dict[str, object]]:
    host, _, port = url.partition("://")[2].rpartition("@")[2].rpartition(":")
    if not port.isdecimal():
        raise ValueError("there is no port")
    return host, int(port), {"login": "fred"}


def protocol(name: str, **changes: object) -> Protocol:
    requirement = Requirement("FAKE-01", "1", "MUST", ("server",), ("2",), "text 1", "It answers.")
    unused = dict.fromkeys(
        ("model", "decoder", "encode", "resolve", "memory", "configure", "describe", "to_json", "from_json")
    )
    given: dict[str, object] = {
        "roles": {"server": "client", "client": "server"},
        "profiles": ("2", "1"),
        "facts": {
            "login": Fact(str, "guest", "the login name"),
            "queue": Fact(str, "/queue/{name}", "where one subscriber gets each message"),
            "keepalive_s": Fact(float, None, "the ping interval in seconds"),
            "scripted": Fact(bool, True, "whether scripts are obeyed"),
            "limit": Fact(int, 7, "a limit"),
        },
        "requirements": Registry([requirement]),
        **unused,
        **changes,
    }
    return Protocol(name=name, **given)  # type: ignore[arg-type]


PROTOCOLS = {"fake": protocol("fake", schemes={"fake": url}), "other": protocol("other")}
