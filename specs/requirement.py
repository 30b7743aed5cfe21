"""The requirements that a protocol's text makes, loaded from its requirements.toml.

Ids are those of the product for ever: never renumbered, never used again. The file holds sections, each with what most
of its requirements have in common:

    [[section]]
    name = "Framing"
    level = "MUST"
    roles = ["server"]
    profiles = ["1"]

    [section.requirement.ECHO-FRM-01]
    source = "the text, 1"
    statement = "…"
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

LEVELS = ("MUST", "SHOULD", "MAY", "ASSUMED")
"""How binding a requirement is; ASSUMED is our reading where the text is silent."""
BASES = ("text", "derived", "robustness")
"""What a requirement rests on; the last two are shown apart from what the text itself demands."""
MARKS = ("as-written", "defect", "gap")
"""Its source as it stands, a defect with the reading we chose, or a gap filled from elsewhere."""

COMMON = ("level", "roles", "profiles", "source", "basis", "mark")
"""What a section may say for all of its requirements."""


@dataclass(frozen=True, slots=True)
class Requirement:
    """One normative statement.

    `id` is printed wherever it is told of, and never used again. `section` is that of the text, `level` one of LEVELS,
    `basis` one of BASES, `mark` one of MARKS. `roles` are the roles it binds, `profiles` the dialects it is judged in.
    `source` is the place in the text, `statement` a sentence that stands alone. `untestable` says why no conversation
    can show it; "" when one can.
    """

    id: str
    section: str
    level: str
    roles: tuple[str, ...]
    profiles: tuple[str, ...]
    source: str
    statement: str
    basis: str = "text"
    mark: str = "as-written"
    untestable: str = ""


class Registry(Mapping[str, Requirement]):
    """All requirements of one protocol, in the order of its file."""

    def __init__(self, requirements: Iterable[Requirement]) -> None:
        self._by_id: dict[str, Requirement] = {}
        for requirement in requirements:
            if requirement.id in self._by_id:
                raise ValueError(f"requirement {requirement.id} is given twice")
            self._by_id[requirement.id] = requirement

    def __getitem__(self, key: str) -> Requirement:
        return self._by_id[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_id)

    def __len__(self) -> int:
        return len(self._by_id)

    def binding(self, role: str, profile: str) -> list[Requirement]:
        """What an implementation in `role` that claims `profile`, or several joined by `+`, must answer for."""
        claimed = {profile, *profile.split("+")}
        return [r for r in self._by_id.values() if role in r.roles and not claimed.isdisjoint(r.profiles)]

    def select(self, pattern: str = "*", levels: Iterable[str] = LEVELS) -> list[Requirement]:
        """Requirements whose id matches a shell pattern and whose level is one of `levels`."""
        wanted = set(levels)
        return [r for r in self._by_id.values() if fnmatchcase(r.id, pattern) and r.level in wanted]


def load(path: Path) -> Registry:
    """Read a requirements.toml. Raises ValueError naming the requirement and the field that is wrong."""
    with path.open("rb") as file:
        document = tomllib.load(file)
    return Registry(_requirement(entry) for entry in _entries(document))


def _entries(document: Mapping[str, Any]) -> Iterator[Mapping[str, object]]:
    """Every requirement with all of its fields: what it does not say itself its section says."""
    for section in document.get("section", ()):
        for name in section.keys() - {"name", "requirement", *COMMON}:
            raise ValueError(f"section {section.get('name')}: {name} is not what requirements have in common")
        common = {name: value for name, value in section.items() if name in COMMON}
        for name, entry in section.get("requirement", {}).items():
            yield {"id": name, "section": section["name"], **common, **entry}


def _requirement(entry: Mapping[str, object]) -> Requirement:
    fields = dict(entry)
    for name in ("roles", "profiles"):
        value = fields.get(name, [])
        if not isinstance(value, list) or not value:
            raise ValueError(f"requirement {fields.get('id')}: {name} must be a list that is not empty")
        fields[name] = tuple(value)
    try:
        requirement = Requirement(**fields)  # type: ignore[arg-type]
    except TypeError as error:
        raise ValueError(f"requirement {fields.get('id')}: {error}") from None
    for name, allowed in (("level", LEVELS), ("basis", BASES), ("mark", MARKS)):
        if getattr(requirement, name) not in allowed:
            raise ValueError(f"requirement {requirement.id}: {name} must be one of {', '.join(allowed)}")
    return requirement
