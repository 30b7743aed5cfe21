"""The dependency groups of pyproject.toml: whatever names one names one that exists."""

from __future__ import annotations

import configparser
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GROUPS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["dependency-groups"]


def test_a_group_includes_groups_that_exist():
    included = {part["include-group"] for group in GROUPS.values() for part in group if isinstance(part, dict)}
    assert len(included) > 5
    assert included - set(GROUPS) == set()


def test_tox_installs_groups_that_exist():
    tox = configparser.ConfigParser(interpolation=None)
    tox.read(ROOT / "tox.ini", encoding="utf-8")
    named = {name: tox[name].get("dependency_groups", "").split() for name in tox.sections()}
    assert sum(map(len, named.values())) > 10
    assert {(name, group) for name, groups in named.items() for group in groups if group not in GROUPS} == set()
