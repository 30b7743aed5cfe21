"""What the rules look at: one event of a server, and the call that it answers."""

from __future__ import annotations

from typing import Any

from specs.lazy import lazy
from specs.msgpack import values
from specs.msgpack.idl.promises import Promise
from specs.msgpack.idl.server.calls import Call, fits, read_as
from specs.msgpack.idl.server.machine import ServerState
from specs.msgpack.idl.wire import Unfit, Way, omission


class Case:
    """One event of a server. For an answer, `error` and `result` are what it holds. `refuses`: it reports that it does
    not do what it was told, and `error` says why."""

    profile = ""
    during = ""
    left = ()
    about: Any = None

    def __init__(self, state: ServerState, body: tuple[Any, ...] | None = None, *, report: Any = None) -> None:
        self.state, self.phase = state, state.phase
        self.number, self.error, self.result = body[1:] if body is not None else (None, None, None)
        self.refuses = report is not None and "ok" not in report
        if report is not None:
            self.error = report.get("error")
        self.at = next(
            (n for n, call in enumerate(state.calls) if call.id == self.number and type(self.number) is int), None
        )

    @lazy
    def call(self) -> Call | None:
        """The call that is answered, None when there is none."""
        return None if self.at is None else self.state.calls[self.at]

    @property
    def answered(self) -> Call:
        """The call that is answered, where there is one."""
        assert self.call is not None
        return self.call

    @lazy
    def said(self) -> str:
        """The answer, for people."""
        error, result = values.describe(self.error), values.describe(self.result)
        return f"{self.answered.method} was answered by error={error!s:.80} result={result!s:.80}"

    def _fits(self, alternatives: tuple[Any, ...]) -> bool:
        assert self.state.app is not None
        types = self.state.app.types
        return any(fits(want, self.error, self.result, types) for want in alternatives)

    @lazy
    def fits(self) -> bool:
        """True when the answer is one that the call may have."""
        return self.answered.free or self._fits(self.answered.wanted)

    @lazy
    def fits_early(self) -> bool:
        """True when it was one before another function was assigned."""
        return self._fits(self.answered.early)

    @lazy
    def fits_elsewhere(self) -> bool:
        """True when it is one that another scope of the same service would give."""
        return self._fits(tuple(want for want in self.answered.foreign if want not in self.answered.wanted))

    @lazy
    def fits_newer(self) -> bool:
        """True when it is one that a newer version would give."""
        return self._fits(tuple(want for want in self.answered.newer if want not in self.answered.wanted))

    @lazy
    def fits_declared(self) -> bool:
        """True when the answer is what is declared of names without scope or version."""
        return self._fits(self.answered.declared)

    @lazy
    def throws(self) -> str:
        """The path of the exception that must travel as the server declares; "" when there is none, or no such
        declaration, and where something else that may be reached fits the answer as well: a bare name may be that of a
        version which throws nothing of the kind."""
        want, *others = self.answered.wanted
        declared = want[0] == "path" and bool(self.state.config.declares("exception_wire"))
        return want[1] if declared and self._fits((want,)) and not self._fits(tuple(others)) else ""

    @property
    def rule(self) -> str:
        """What the call is about; "" when any answer is right. Whoever tells no version at all has no meta service."""
        found = self.answered.rule
        if found is None or self.answered.free:
            return ""
        return (Promise.META if found is Promise.NEWEST and self.error is not None and not self.fits else found).value

    @lazy
    def value_wanted(self) -> Any:
        """The alternative that is a value; None when there is none, or it is no value of a type."""
        return next((want for want in self.answered.wanted if want[0] == "value"), None)

    @lazy
    def got(self) -> Any:
        """What the result means as a value of the type that is wanted; Unfit when it is none of it."""
        assert self.state.app is not None
        return read_as(self.value_wanted, self.result, self.state.app.types)

    def wants(self, *kinds: str) -> bool:
        """True when a value was wanted of one of these types, or one that may hold some."""
        app, want = self.state.app, self.value_wanted
        return app is not None and want is not None and app.types.holds(want[1], frozenset(kinds))

    @lazy
    def wants_message(self) -> bool:
        """True when a message was wanted."""
        app, want = self.state.app, self.value_wanted
        return app is not None and want is not None and want[1].name in app.types.messages

    @lazy
    def differing(self) -> Way | None:
        """What sort of default the first field has in which the answer is another value."""
        if not self.is_another_value or self.got is None or self.value_wanted[2] is None:
            return None
        assert self.state.app is not None
        found = self.state.app.types.differing(self.value_wanted[2], self.got, self.value_wanted[1])
        return None if found is None else omission(found)

    @property
    def is_another_value(self) -> bool:
        """True when the result is a value of the type that is wanted, and another one."""
        return self.error is None and not isinstance(self.got, Unfit)
