"""Every freedom that the texts leave to a server, as a named switch.

A server that takes another legal turn at each of these points still conforms, so nothing that judges servers may object
to any combination of them.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

IN_OCTETS = 4096
"""Who writes octet by octet does so at the end of what there is: a text of megabytes takes forever so."""


def switch(*values: bool | int | str) -> Any:
    """A dataclass field that takes one of `values`; the first is its default."""
    return field(default=values[0], metadata={"values": values})


@dataclass(frozen=True, slots=True, kw_only=True)
class Switches:
    """One behaviour out of all legal ones. Raises ValueError for a value that is not among the legal ones.

    `recommended` alone names a recommendation that may be missed: False writes values in other forms than the smallest
    and puts data beside an error.
    """

    # Answers (RPC spec, The order of the response)
    order: str = switch("first", "last", "random")
    delay_ms: int = switch(0, 3, 20)  # at most; drawn for each answer
    workers: int = switch(64, 1, 2)  # calls of one connection that go on at the same time
    pieces: str = switch("whole", "octets", "some")
    chatter: str = switch("none", "notification", "request")  # what a server says of its own accord

    # Errors (RPC spec, Response Message, error)
    error: str = switch("text", "list", "map", "number", "zero", "false", "empty", "nested")
    arity: str = switch("error", "ignore")  # of what has too many arguments
    recommended: bool = switch(True, False)

    # What is no message (both specs are silent)
    malformed: str = switch("close", "error-then-close", "error-and-continue", "ignore")
    error_id: str = switch("nil", "zero", "own")
    extra_elements: str = switch("malformed", "accept")
    same_id: str = switch("two", "error", "close")  # of a request whose id is still open

    # Values (format spec)
    old_raw: bool = switch(False, True)
    one_number: bool = switch(False, True)
    floats: str = switch("keep", "double", "shortest")
    unknown_ext: str = switch("opaque", "error", "close")
    timestamps: str = switch("keep", "shortest", "widest")
    bad_timestamps: str = switch("opaque", "error", "close")
    bad_text: str = switch("pass", "error", "replace", "bin", "close", "ignore")
    repeated_keys: str = switch("keep", "last", "first", "error")
    odd_keys: str = switch("keep", "error", "text", "close")
    shuffle_maps: bool = switch(False, True)
    max_depth: int = switch(256, 24, 512)
    too_deep: str = switch("close", "error-then-close", "ignore")

    # Connections (RPC spec, silent): who ends one on which nothing is open
    ends: str = switch("client", "server")

    def __post_init__(self) -> None:
        for name, values in SWITCHES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} must be one of {values}, not {getattr(self, name)!r}")


SWITCHES: Mapping[str, tuple[bool | int | str, ...]] = {
    each.name: each.metadata["values"] for each in fields(Switches) if "values" in each.metadata
}


def draw(seed: int) -> dict[str, Any]:
    """One legal value for each switch; half of them the default."""
    chance = random.Random(seed)
    return {name: chance.choice(values) if chance.random() < 0.5 else values[0] for name, values in SWITCHES.items()}


def from_text(name: str, text: str) -> Any:
    """The value of switch `name` that is written `text`. Raises ValueError, naming what is legal."""
    if name not in SWITCHES:
        raise ValueError(f"no switch is called {name!r}; known: {', '.join(sorted(SWITCHES))}")
    for value in SWITCHES[name]:
        if str(value).lower() == text.lower():
            return value
    raise ValueError(f"{name} must be one of {', '.join(map(str, SWITCHES[name]))}, not {text!r}")
