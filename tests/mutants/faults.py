"""Faults in one line: a class that is right but for one method, made from the class that is right in everything.

    on(Session, "answer").skips(when=lambda number: number == 0)    it is not carried out
    on(Server, "call").takes(method=lambda method: method.lower())  it is called with something else
    on(Idl, "path").gives(lambda found: found[1:])                  what it gives is changed
    on(Caller, "end").instead(lambda self: self.drop())             something else is done in its place
    .before(...), .after(...), .repeats()                           something is done besides, or all of it twice
    .raises(...), .forgives(...)                                    an error is raised, or does not come through
    has(Refusing, codes=frozenset({0xDB}))                          an attribute is another

Each function asks by name for what it needs: `self`, parameters of the method, `calls` (1 when the method is called
for the first time on this object) and, behind it, what it `found` or the `error` it met. Any other name is an error as
soon as the fault is made. A type, such as `int`, is given what it changes.

What registers a fault as a decorator of a class takes one of these as well, behind the sentence that explains it:

    mutant("no-id-0", "RESP-01", ONE)(
        "The request with id 0 is taken for one without id and never answered.",
        on(Session, "answer").skips(when=lambda number: number == 0),
    )
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

Asking = Callable[..., Any]
"""A function whose parameters say what it asks for."""
Given = tuple[Any, ...]
"""What a method is called with, in the order of its parameters."""


def named(told: Any, fault: type | None) -> type:
    """The faulty part, with the sentence that explains it for a docstring: `told` is that, or a class that has it."""
    return told if fault is None else has(fault, __doc__=told)


def has(part: type, **attributes: Any) -> type:
    """A part with other attributes."""
    return type(part.__name__, (part,), {"__module__": part.__module__, **attributes})


def without(members: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Members of a message, all but some."""
    return {name: value for name, value in members.items() if name not in names}


class on:
    """A method of a part, and what can be wrong with it. Where there is a `when`, it is wrong only where that holds."""

    def __init__(self, part: type, method: str) -> None:
        self._part, self._method = part, method
        self._signature = inspect.signature(getattr(part, method))
        self._names = tuple(self._signature.parameters)
        kinds = {each.kind for each in self._signature.parameters.values()}
        self._plain = kinds == {inspect.Parameter.POSITIONAL_OR_KEYWORD}
        self._counter = f"calls of {method}"

    def instead(self, body: Asking, *, when: Asking | None = None) -> type:
        """`body` is done in place of the method."""
        does, holds = self._asking(body), self._asking(when)
        return self._with(lambda given: does(given) if holds(given) else self._sound(given))

    def skips(self, *, when: Asking | None = None) -> type:
        """The method is not carried out. One that runs in steps is over at once."""
        nothing = () if inspect.isgeneratorfunction(getattr(self._part, self._method)) else None
        return self.instead(lambda: nothing, when=when)

    def raises(self, error: Asking, *, when: Asking | None = None) -> type:
        """The method raises what `error` makes."""
        makes, holds = self._asking(error), self._asking(when)

        def faulty(given: Given) -> Any:
            if holds(given):
                raise makes(given)
            return self._sound(given)

        return self._with(faulty)

    def takes(this, /, **changes: Asking) -> type:
        """The method is called with other arguments: each of `changes` makes the one that it is named for."""
        makes = {this._names.index(name): this._asking(change, name) for name, change in changes.items()}

        def faulty(given: Given) -> Any:
            return this._sound(tuple(makes[at](given) if at in makes else one for at, one in enumerate(given)))

        return this._with(faulty)

    def gives(self, change: Asking) -> type:
        """The method gives what `change` makes of what it found."""
        makes = self._asking(change, "found")
        return self._with(lambda given: makes((*given, self._sound(given))))

    def repeats(self, *, when: Asking | None = None) -> type:
        """The method is carried out a second time."""
        holds = self._asking(when)

        def faulty(given: Given) -> Any:
            found = self._sound(given)
            return self._sound(given) if holds(given) else found

        return self._with(faulty)

    def forgives(self, error: type[BaseException], body: Asking = lambda: None, *, when: Asking | None = None) -> type:
        """Where the method raises such an `error`, `body` is done instead of what the error would lead to."""
        does, holds = self._asking(body, "error"), self._asking(when, "error")

        def faulty(given: Given) -> Any:
            try:
                return self._sound(given)
            except error as met:
                if not holds((*given, met)):
                    raise
                return does((*given, met))

        return self._with(faulty)

    def before(self, more: Asking, *, when: Asking | None = None) -> type:
        """`more` is done before the method is carried out."""
        does, holds = self._asking(more), self._asking(when)

        def faulty(given: Given) -> Any:
            if holds(given):
                does(given)
            return self._sound(given)

        return self._with(faulty)

    def after(self, more: Asking, *, when: Asking | None = None) -> type:
        """`more` is done when the method has been carried out."""
        does, holds = self._asking(more, "found"), self._asking(when, "found")

        def faulty(given: Given) -> Any:
            found = self._sound(given)
            if holds((*given, found)):
                does((*given, found))
            return found

        return self._with(faulty)

    def _sound(self, given: Given) -> Any:
        """The method as it is."""
        method = getattr(self._part, self._method)
        if self._plain:
            return method(*given)
        bound = inspect.BoundArguments(self._signature, dict(zip(self._names, given, strict=True)))
        return method(*bound.args, **bound.kwargs)

    def _asking(self, function: Asking | None, change: str = "") -> Callable[[Given], Any]:
        """The function, given what it asks for by name, or a type what it changes; without one, what always holds."""
        if function is None:
            return lambda given: True
        names = (*self._names, change) if change in ("found", "error") else self._names
        asked = inspect.signature(function).parameters if inspect.isfunction(function) else (change,)
        if unknown := set(asked) - {*names, "calls"}:
            raise TypeError(f"{self._part.__name__}.{self._method} has no {', '.join(sorted(unknown))}, only {names}")
        places = [names.index(name) if name in names else None for name in asked]
        return lambda given: function(*(self._calls(given[0]) if at is None else given[at] for at in places))

    def _calls(self, one: Any) -> int:
        return int(one.__dict__[self._counter])

    def _with(self, faulty: Callable[[Given], Any]) -> type:
        """The part with a faulty method."""

        def called(*given: Any, **by_name: Any) -> Any:
            if by_name or not self._plain or len(given) < len(self._names):
                bound = self._signature.bind(*given, **by_name)
                bound.apply_defaults()
                given = tuple(bound.arguments.values())
            given[0].__dict__[self._counter] = given[0].__dict__.get(self._counter, 0) + 1
            return faulty(given)

        return has(self._part, **{self._method: called})
