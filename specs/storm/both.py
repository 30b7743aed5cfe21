"""One declaration for several kinds of parties: bolts and spouts, their hosts, or all four."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from specs.rules import Rulebook


class Both:
    """Declares one rule for several kinds of parties. Of requirements "A / B" the first is that of the first kind."""

    def __init__(self, *books: Rulebook) -> None:
        self._books = books

    def _each(self, kind: str, requirements: str, **where: Any) -> Callable[[Any], Any]:
        def registered(body: Any) -> Any:
            names = requirements.split("/")
            for book, name in zip(self._books, names * len(self._books) if len(names) == 1 else names, strict=True):
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
