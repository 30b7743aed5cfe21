"""Makes the templates of all languages: `python impls/kits/generate.py` writes them, `--check` says whether they are
stale. What they say is in roles.toml, the code around it in languages.py.
"""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from impls.kits.languages import LANGUAGES, Language, Role  # noqa: E402


def roles() -> list[Role]:
    """All roles that are told what to do. A codec is a filter, and has no ops."""
    found: dict[str, Any] = tomllib.loads((HERE / "roles.toml").read_text("utf-8"))
    told = [
        Role(name, each["what"], each["hint"], tuple(each["ops"].items()), tuple(each.get("at_once", ())))
        for name, each in found.items()
    ]
    return [*told, Role("msgpack-codec", "A MessagePack codec", "It is a filter: lines of hex in, lines of hex out.")]


def templates() -> dict[Path, str]:
    """Every template by its path."""
    found = {}
    for language in LANGUAGES:
        for role in roles():
            found[HERE / language.name / role.name / language.file] = text_of(language, role)
    return found


def text_of(language: Language, role: Role) -> str:
    """One template."""
    parts = [language.head(role), *(language.op(name, what) for name, what in role.ops), language.tail(role)]
    return language.gap.join(parts)


def main(arguments: list[str]) -> int:
    """1 when something is stale and nothing was to be written."""
    stale = []
    for path, text in templates().items():
        if not path.exists() or path.read_text("utf-8") != text:
            stale.append(path)
            if "--check" not in arguments:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
    for path in stale:
        print(f"{path.relative_to(HERE)}: {'stale' if '--check' in arguments else 'written'}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
