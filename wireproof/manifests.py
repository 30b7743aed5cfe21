"""The manifest that `wireproof new` writes: every field that concerns the role, with what it means beside it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from specs.protocol import Protocol

FACTS: Mapping[str, tuple[str, ...]] = {
    "stomp-client": (),
    "kcl-host": (),
    "storm-bolt-host": (),
    "storm-spout-host": (),
    "pulsar-client": ("tenant", "namespace", "keepalive_s", "auth"),
    "msgpack-server": ("echo", "add", "fail", "sleep", "count", "bump", "malformed", "raw_wire"),
    "msgpack-client": ("raw_wire",),
    "msgpack-codec": ("raw_wire", "max_depth", "max_message"),
    "msgpack-idl": ("eol", "forward_refs", "id_zero", "missing_default"),
    "msgpack-idl-server": ("encoding", "bare_name", "exception_wire", "missing_default"),
    "msgpack-idl-client": ("encoding", "exception_wire"),
}
"""What a role needs of the table of its protocol, where that is not all of it."""
SCRIPTED = "user code obeys the scripts of the suite; false: judge only what any such program must do"


@dataclass(frozen=True)
class Asked:
    """What the manifest is about. `command` starts its testee, if it has one; `own` is true then."""

    name: str
    bundle: Protocol
    role: str
    profile: str
    address: str
    command: tuple[str, ...]
    own: bool


def text(asked: Asked) -> str:
    """The manifest."""
    return "\n".join([*_head(asked), *_start(asked), *_facts(asked), *_end(asked), ""])


def _head(asked: Asked) -> Iterator[str]:
    name, bundle = asked.name, asked.bundle
    yield f"# What Wireproof judges, and how it is reached. docs/roles/{_page(asked)}.md of Wireproof explains it."
    yield f"#   wireproof check ./{name}.toml            can it be judged, and what is to be written next?"
    yield f"#   wireproof ./{name}.toml --budget=quick   judge it"
    yield ""
    yield "[impl]"
    yield f'name = "{name}"'
    yield f'protocol = "{bundle.name}"'
    yield f'role = "{asked.role}"'
    yield '# version = "1.0"   # of your program: any text, shown in reports'
    more = "" if bundle.valid_profile is None else ", and extensions joined to it by +"
    yield f'profile = "{asked.profile}"   # the dialect that it claims: {", ".join(bundle.profiles)}{more}'


def _page(asked: Asked) -> str:
    pages = {"msgpack-idl": "idl-processor", "msgpack-idl-server": "idl-server", "msgpack-idl-client": "idl-client"}
    page = f"{asked.bundle.name}-{asked.role}"
    return pages.get(page, page)


def _start(asked: Asked) -> Iterator[str]:
    yield ""
    yield "[start]"
    if asked.own:
        yield "# runs in the folder of this file; {python} is the Python that runs the suite"
        yield f"command = {json.dumps(list(asked.command))}"
        return
    ways = {
        "command": (f'command = ["./{asked.name}", "--port", "{{port}}"]', "started here; {port}: a free one"),
        "address": (f'address = "{asked.address or "127.0.0.1:12345"}"', "it is running already"),
        "image": (
            f'image = "{asked.name}:latest"',
            "a container; the extra containers is needed: pip install '.[containers]' in a clone of Wireproof",
        ),
    }
    taken = "address" if asked.address else "command"
    yield "# exactly one of command, address and image"
    for way, (line, what) in ways.items():
        yield f"{'' if way == taken else '# '}{line}   # {what}"
    yield "# port = 12345   # beside image: the port in the container; beside command: the one that it always uses"
    yield "# ready_s = 30   # seconds until it answers its protocol"


def _facts(asked: Asked) -> Iterator[str]:
    bundle = asked.bundle
    wanted = FACTS.get(f"{bundle.name}-{asked.role}", tuple(bundle.facts))
    if not wanted:
        return
    yield ""
    yield f"[{bundle.name}]"
    yield "# a field that is commented out has this value anyway"
    for name in wanted:
        fact = bundle.facts[name]
        if name == "scripted":
            yield f"scripted = true   # {SCRIPTED}"
        else:
            yield f"# {name} = {_value(fact.default)}   # {fact.help}"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _end(asked: Asked) -> Iterator[str]:
    yield ""
    yield f"# Failures that are known and accepted: `wireproof ./{asked.name}.toml --update-baseline` writes them here."
    yield "# [deviations]"
