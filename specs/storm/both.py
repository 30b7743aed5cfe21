"""One declaration for two kinds of parties: bolts and spouts, or their hosts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specs.rules import Rulebook


class Both:
    """Declares one rule for two kinds of parties. Of requirements "A / B" the first is that of the first kind."""

    def __init__(self, first: Rulebook, second: Rulebook) -> None:
        self._books = first, second

    def _each(self, kind: str, requirements: str, **where: Any) -> Callable[[Any], Any]:
        def registered(body: Any) -> Any:
            names = requirements.split("/")
            for book, name in zip(self._books, names * 2 if len(names) == 1 else names, strict=False):
                getattr(book, kind)(name.strip(), **where)(body)
            return body

        return registered

    def form(self, requirements: str, **where: Any) -> Callable[[Any], Any]:
        """See `Rulebook.form`."""
        return self._each("form", requirements, **where)

    def duty(self, requirements: str, **where: Any) -> Callable[[Any], Any]:
        """See `Rulebook.duty`."""
        return self._each("duty", requirements, **where)

    def excuse(self, **where: Any) -> Callable[[Any], Any]:
        """See `Rulebook.excuse`."""

        def registered(body: Any) -> Any:
            for book in self._books:
                book.excuse(**where)(body)
            return body

        return registered

    def freedom(self, id_: str) -> Callable[[Any], Any]:
        """See `Rulebook.freedom`."""

        def registered(body: Any) -> Any:
            found = [book.freedom(id_)(body) for book in self._books]
            return found[0]

        return registered

    def effect(self, *actions: str) -> Callable[[Any], Any]:
        """See `Rulebook.effect`."""

        def registered(after: Any) -> Any:
            for book in self._books:
                book.effect(*actions)(after)
            return after

        return registered
