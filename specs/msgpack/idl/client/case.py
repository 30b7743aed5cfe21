"""What the rules look at: one event of a client, and the call that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.lazy import lazy
from specs.msgpack import values
from specs.msgpack.idl.client.calls import ANYTHING, Call, filled, placed, read, reported
from specs.msgpack.idl.client.machine import ClientState
from specs.msgpack.idl.tree import Function
from specs.msgpack.idl.wire import LAYOUTS, Types, Unfit, Way, omission


class Case:
    """One event of a client. Of a request: `method` and `params`. Of a report: `told`, what it says, `found`, what its
    `ok` holds, and `op`, what it is about. `said`: text about anything else."""

    profile = ""
    during = ""
    left = ()

    def __init__(
        self, state: ClientState, body: tuple[Any, ...] | None = None, *, report: Mapping[str, Any] | None = None,
        said: str = "",
    ) -> None:  # fmt: skip
        self.state, self.phase, self.said = state, state.phase, said
        self.call: Call | None = state.call
        self.about: Any = self.call
        self.number, self.method, self.params = body[1:] if body is not None else (None, "", ())
        self.op = state.told[0][0] if state.told else ""
        self.told: Mapping[str, Any] = report or {}
        found = self.told.get("ok")
        self.found: Mapping[str, Any] = found if isinstance(found, dict) else {}
        self.refuses = report is not None and ("ok" not in report or report.get("error") is not None)

    @property
    def called(self) -> Call:
        """The call, where there is one."""
        assert self.call is not None
        return self.call

    @property
    def function(self) -> Function:
        """What is called, where that is known."""
        assert self.called.function is not None
        return self.called.function

    @property
    def types(self) -> Types:
        """Those of the document."""
        assert self.state.app is not None
        return self.state.app.types

    @property
    def paths(self) -> Mapping[str, str]:
        """The path of each exception of the document."""
        return self.state.app.paths if self.state.app is not None else {}

    # -- requests ------------------------------------------------------------------------------------------------------

    @lazy
    def asks(self) -> bool:
        """True while the call that goes on was not sent, and this is no other one."""
        waits = self.call is not None and not self.call.sent and self.call.function is not None
        return waits and not self.asks_for_versions

    @lazy
    def asks_for_versions(self) -> bool:
        """True for a request of the meta service that the client was not told to make: whoever makes it waits for its
        answer, and does nothing else until then (ML-32)."""
        of_meta = isinstance(self.method, str) and self.method.startswith("getVersion:")
        return of_meta and (self.call is None or self.call.sent or self.method not in self.call.names)

    @lazy
    def is_known(self) -> bool:
        """True when it is known what the arguments must mean."""
        if not self.asks or self.called.given is ANYTHING:
            return False
        return bool(self.state.config.layout) or not self.takes_message

    @lazy
    def elements(self) -> tuple[Any, ...]:
        """The params as messages are laid out."""
        return placed(self.types, self.state.config.first, self.params)

    @lazy
    def meant(self) -> Any:
        """What the params mean; Unfit when they are not the arguments of the function."""
        return read(self.types, self.elements, self.function)

    @lazy
    def is_meant(self) -> bool:
        """True when the params mean what the client was told, whatever stands in gaps."""
        return bool(self.meant == self.called.given)

    @lazy
    def fills_gaps(self) -> bool:
        """True when there is something in the place of no argument or field."""
        return filled(self.types, self.elements, self.function)

    @lazy
    def has_more(self) -> bool:
        """True when something stands behind the place of the last argument."""
        return any(part is not None for part in self.elements[self.types.size(self.function.args) :])

    @lazy
    def fits_another_layout(self) -> bool:
        """True when the params mean what they must if messages are laid out otherwise than they are read."""
        others = (self.types._replace(layout=layout) for layout in LAYOUTS if layout != self.types.layout)
        first = self.state.config.first
        return any(read(t, placed(t, first, self.params), self.function) == self.called.given for t in others)

    @lazy
    def differing_argument(self) -> Way | None:
        """What sort of default the first argument or field has that means something else, if it is optional."""
        if isinstance(self.meant, Unfit):
            return None
        for field, (_, got), (_, want) in zip(self.function.args, self.meant[1], self.called.given[1], strict=True):
            if got != want:
                inner = self.types.differing(want, got, field.type) if got is not None and want is not None else None
                return omission(inner or field) if (inner or field).mod == "optional" else None
        return None

    def takes(self, *kinds: str) -> bool:
        """True when some argument is of one of these types, or may hold some."""
        return any(self.types.holds(each.type, frozenset(kinds)) for each in self.function.args)

    @lazy
    def takes_message(self) -> bool:
        """True when some argument is a message, or may hold one."""
        return self.takes(*self.types.messages)

    @lazy
    def request_said(self) -> str:
        """The request, for people."""
        return f"{values.describe(self.method, 80)} was called with {values.describe(self.params, 200)}"

    # -- reports -------------------------------------------------------------------------------------------------------

    @property
    def wanted(self) -> tuple[Any, ...]:
        """What may be reported of the call; () while it was not answered."""
        return self.called.wanted[0] if self.call is not None and self.call.wanted else ()

    def wants(self, kind: str) -> bool:
        """True when this kind of thing has to be reported of the call."""
        return self.wanted[:1] == (kind,)

    @lazy
    def failed(self) -> bool:
        """True when the call is reported as failed."""
        return self.refuses or any(self.found.get(name) is not None for name in ("exception", "error"))

    @lazy
    def caught(self) -> str | None:
        """The exception of the document as which it is caught, by name; None for none. It may be named by its path."""
        name = self.found.get("caught_as")
        if not isinstance(name, str) or name in self.paths:
            return name if isinstance(name, str) else None
        return next((each for each, path in self.paths.items() if path == name), None)

    @lazy
    def value(self) -> Any:
        """The value that is reported; Unfit when there is none of the type."""
        _, kind, _ = self.wanted
        try:
            defaults = "def" in self.state.config.extensions
            return reported(self.found.get("result"), kind, self.types, defaults=defaults)
        except Unfit as unfit:
            return unfit
        except (TypeError, ValueError, KeyError, OverflowError, AttributeError) as wrong:
            return Unfit(None, f"no {kind.name}: {wrong!r:.60}")

    @lazy
    def fits(self) -> bool:
        """True when what is reported is the value that was answered."""
        return not self.failed and bool(self.value == self.wanted[2])

    @lazy
    def differing(self) -> Way | None:
        """What sort of default the first field of the result has that is another value."""
        _, kind, want = self.wanted
        if isinstance(self.value, Unfit) or self.value is None or want is None:
            return None
        found = self.types.differing(want, self.value, kind)
        return None if found is None else omission(found)

    @lazy
    def report_said(self) -> str:
        """The report, for people."""
        return f"{self.called.name} is reported as {dict(self.told)!s:.200}"
