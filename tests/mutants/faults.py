"""Faults in one line: a class that is right but for one method, made from the class that is right in everything.

    skips(Session, "answer", when=lambda number: number == 0)    the method is not carried out
    takes(Server, "call", method=lambda method: method.lower())  it is called with something else
    gives(Idl, "path", lambda found: found[1:])                  what it gives is changed
    instead(Caller, "end", lambda self: self.drop(), when=...)   something else is done in its place
    before(...), after(...), repeats(...)                        something is done besides, or all of it twice
    raises(...), forgives(...)                                   an error is raised, or does not come through
    has(Refusing, codes=frozenset({0xDB}))                       an attribute is another

Each function asks by name for what it needs: `self`, parameters of the method and, behind it, what it `found`. A name
that the method does not have is an error as soon as the fault is made. A type, such as `int`, is given what it changes.

What registers a fault as a decorator of a class
takes one of these as well, behind the sentence that explains it:

    mutant("no-id-0", "RESP-01", ONE)(
        "The request with id 0 is taken for one without id and never answered.",
        skips(Session, "answer", when=lambda number: number == 0),
    )
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

Asking = Callable[..., Any]
"""A function whose parameters say what it asks for."""


def named(told: Any, fault: type | None) -> type:
    """The faulty part, with the sentence that explains it for a docstring: `told` is that, or a class that has it."""
    return told if fault is None else has(fault, __doc__=told)


def has(part: type, **attributes: Any) -> type:
    """A part with other attributes."""
    return type(part.__name__, (part,), {"__module__": part.__module__, **attributes})


def instead(part: type, method: str, body: Asking, *, when: Asking | None = None) -> type:
    """`body` is done in place of the method: always, or where `when` holds."""
    sound, names = _of(part, method)
    does, holds = _asking(body, names), _asking(when, names)
    return _with(part, method, lambda given: does(given) if holds(given) else sound(*given))


def skips(part: type, method: str, *, when: Asking | None = None) -> type:
    """The method is not carried out: never, or not where `when` holds."""
    return instead(part, method, lambda: None, when=when)


def raises(part: type, method: str, error: Asking, *, when: Asking | None = None) -> type:
    """The method raises what `error` makes: always, or where `when` holds."""
    sound, names = _of(part, method)
    makes, holds = _asking(error, names), _asking(when, names)

    def faulty(given: tuple[Any, ...]) -> Any:
        if holds(given):
            raise makes(given)
        return sound(*given)

    return _with(part, method, faulty)


def takes(part: type, method: str, /, **changes: Asking) -> type:
    """The method is called with other arguments: each of `changes` makes the one that it is named for."""
    sound, names = _of(part, method)
    makes = {names.index(name): _asking(change, names, name) for name, change in changes.items()}

    def faulty(given: tuple[Any, ...]) -> Any:
        return sound(*(makes[at](given) if at in makes else one for at, one in enumerate(given)))

    return _with(part, method, faulty)


def gives(part: type, method: str, change: Asking) -> type:
    """The method gives what `change` makes of what it found."""
    sound, names = _of(part, method)
    makes = _asking(change, (*names, "found"), "found")
    return _with(part, method, lambda given: makes((*given, sound(*given))))


def repeats(part: type, method: str, *, when: Asking | None = None) -> type:
    """The method is carried out a second time: always, or where `when` holds after the first."""
    sound, names = _of(part, method)
    holds = _asking(when, names)

    def faulty(given: tuple[Any, ...]) -> Any:
        found = sound(*given)
        return sound(*given) if holds(given) else found

    return _with(part, method, faulty)


def forgives(part: type, method: str, error: type[BaseException], body: Asking = lambda: None) -> type:
    """Where the method raises `error`, `body` is done instead of what the error would lead to."""
    sound, names = _of(part, method)
    does = _asking(body, names)

    def faulty(given: tuple[Any, ...]) -> Any:
        try:
            return sound(*given)
        except error:
            return does(given)

    return _with(part, method, faulty)


def before(part: type, method: str, more: Asking, *, when: Asking | None = None) -> type:
    """`more` is done before the method is carried out: always, or where `when` holds."""
    sound, names = _of(part, method)
    does, holds = _asking(more, names), _asking(when, names)

    def faulty(given: tuple[Any, ...]) -> Any:
        if holds(given):
            does(given)
        return sound(*given)

    return _with(part, method, faulty)


def after(part: type, method: str, more: Asking, *, when: Asking | None = None) -> type:
    """`more` is done when the method has been carried out: always, or where `when` holds by then."""
    sound, names = _of(part, method)
    does, holds = _asking(more, (*names, "found")), _asking(when, (*names, "found"))

    def faulty(given: tuple[Any, ...]) -> Any:
        found = sound(*given)
        if holds((*given, found)):
            does((*given, found))
        return found

    return _with(part, method, faulty)


def without(members: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """Members of a message, all but some."""
    return {name: value for name, value in members.items() if name not in names}


def _of(part: type, method: str) -> tuple[Asking, tuple[str, ...]]:
    """The method as it is, which takes all of its arguments in their order, and the names of its parameters."""
    sound = getattr(part, method)
    signature = inspect.signature(sound)
    if all(each.kind is each.POSITIONAL_OR_KEYWORD for each in signature.parameters.values()):
        return sound, tuple(signature.parameters)

    def called(*given: Any) -> Any:
        bound = inspect.BoundArguments(signature, dict(zip(signature.parameters, given, strict=True)))
        return sound(*bound.args, **bound.kwargs)

    return called, tuple(signature.parameters)


def _asking(function: Asking | None, names: tuple[str, ...], plain: str = "") -> Callable[[tuple[Any, ...]], Any]:
    """The function, given what it asks for by name, or `plain` if it is a type; without one, what always holds."""
    if function is None:
        return lambda given: True
    asked = inspect.signature(function).parameters if inspect.isfunction(function) else (plain,)
    places = [names.index(name) for name in asked]
    return lambda given: function(*(given[at] for at in places))


def _with(part: type, method: str, faulty: Callable[[tuple[Any, ...]], Any]) -> type:
    """The part with a faulty method, which is handed its arguments in the order of its parameters."""
    signature = inspect.signature(getattr(part, method))

    plain = all(each.kind is each.POSITIONAL_OR_KEYWORD for each in signature.parameters.values())

    def called(*given: Any, **by_name: Any) -> Any:
        if by_name or not plain or len(given) < len(signature.parameters):
            bound = signature.bind(*given, **by_name)
            bound.apply_defaults()
            given = tuple(bound.arguments.values())
        return faulty(given)

    return has(part, **{method: called})
