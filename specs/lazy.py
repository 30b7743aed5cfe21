"""A value that is computed when it is first asked for, and kept.

`functools.cached_property` of Python 3.11 takes a lock each time a value is missing. What rules look at is made for one
event and is never shared, so it needs none.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - stands where `property` would
    """Decorates a method without arguments. The instance needs a `__dict__`. Who knows the value already may set it."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self._compute, self._name = compute, compute.__name__
        self.__doc__ = compute.__doc__

    if TYPE_CHECKING:  # one with `__set__` would be asked before what is kept

        def __set__(self, case: object, value: Value) -> None: ...

    @overload
    def __get__(self, case: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, case: object, owner: type) -> Value: ...

    def __get__(self, case: object | None, owner: type) -> lazy[Value] | Value:
        if case is None:
            return self
        value = self._compute(case)
        object.__setattr__(case, self._name, value)
        return value
