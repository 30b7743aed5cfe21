"""Who may import whom. The rules are those of docs/architecture.md; the test reads the imports, it runs nothing."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
LAYERS = ("records", "specs", "strategies", "impls", "suites", "reports", "campaigns", "wireproof")
CODECS = {"google", "google_crc32c", "cramjam", "msgpack", "crc32c"}
"""Libraries that a protocol's own octets may need."""
THIRD_PARTY = {"cramjam"}
"""Libraries that a reference may import beside the standard library. What it may not share with the specification is
what we have written ourselves: compression by a library of other people tests neither against itself."""
IMPURE = {
    "time",
    "random",
    "secrets",
    "socket",
    "select",
    "asyncio",
    "threading",
    "multiprocessing",
    "subprocess",
    "os",
}
WIRE = {"socket", "select", "selectors", "socketserver", "asyncio", "ssl", "subprocess", "docker", "testcontainers"}
"""What reaches out of the process."""
MAY_IMPORT = {
    "records": {"records"},
    "specs": {"specs"} | CODECS,
    "strategies": {"strategies", "specs", "hypothesis"},
    "impls": {"impls", "specs", "docker", "testcontainers"},
    "suites": {"suites", "specs", "strategies", "impls", "records", "pytest", "hypothesis", "reports", "wireproof"},
    "reports": {"reports", "records"},
    "wireproof": {"wireproof", "suites", "reports", "impls", "specs", "pytest"},
    "campaigns": {"campaigns", "suites", "specs", "strategies", "impls", "records", "reports", "pyspark", "pyarrow"},
}
BEYOND = {"launching": {"impls.driver", "impls.references"}, "driver": {"impls.references"}}
"""What a room of the implementations does not know: conversations need what was started, never the other way."""
PARTS_OF_REPORTS = {"spark": {"pyspark", "pyarrow", "specs"}, "site": {"jinja2", "markupsafe"}}
"""What one part of the reports needs and no other may."""


def imported(text: str, module: str) -> Iterator[str]:
    """Full names of what a module imports, wherever in it, also what only the type checker sees."""
    package = module.rpartition(".")[0]
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            if base.partition(".")[0] in LAYERS:
                yield from (f"{base}.{alias.name}" for alias in node.names)
            else:
                yield base
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("importlib.import_module", "__import__"):
            name = node.args[0] if node.args else None
            if isinstance(name, ast.Constant):
                yield str(name.value)
            elif isinstance(name, ast.JoinedStr) and isinstance(name.values[0], ast.Constant):
                yield str(name.values[0].value).rstrip(".")


def within(name: str, allowed: set[str]) -> bool:
    return any(name == top or name.startswith(f"{top}.") for top in allowed)


def protocols(root: Path) -> set[str]:
    return {path.name for path in (root / "specs").iterdir() if (path / "__init__.py").exists()}


def broken(root: Path) -> list[str]:
    """Every import that the rules forbid, as "file: name"."""
    known = protocols(root)
    found = []
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*.py")):
            if any(part.startswith(".") for part in path.relative_to(root).parts):
                continue  # what a set-up script has fetched
            parts = path.relative_to(root).with_suffix("").parts
            module = ".".join(parts)
            names = imported(path.read_text(encoding="utf-8"), module)
            found += [f"{path.relative_to(root)}: {name}" for name in names if not allowed(parts, name, known)]
    return found


def allowed(parts: tuple[str, ...], name: str, known: set[str]) -> bool:
    """May the module at `parts` import `name`?"""
    layer, own = parts[0], parts[1] if len(parts) > 2 else ""
    if parts[:2] == ("impls", "references"):
        own = parts[2] if len(parts) > 3 else ""
    top, _, rest = name.replace("impls.references.", "impls.").partition(".")
    if name == "__future__":
        return True
    if top in LAYERS and rest.partition(".")[0] in known - {own} and own in known:
        return False  # one protocol never knows another
    if top == "specs" and layer in ("specs", "strategies") and not own and rest.partition(".")[0] in known:
        return False  # nor does the core know any
    apart = (("impls", "catalog"), ("wireproof", "templates"))
    if parts[:2] in apart or (parts[:2] == ("impls", "kits") and len(parts) > 3):
        return top not in LAYERS  # a program that starts an implementation lives in its process, not in ours
    if layer == "suites" and top == "wireproof" and name != "wireproof.__version__":
        return False  # the command knows the suites, and they know of it no more than the version
    if layer == "suites" and ".spark" in name:
        return False  # no JVM stands between a user and a verdict
    if layer == "impls" and within(name, BEYOND.get(parts[1], set())):
        return False  # rooms know each other in one direction
    if layer == "impls" and own in known:
        # A reference knows nothing of ours but itself, and the loop that moves octets and time into it.
        return top in sys.stdlib_module_names or within(
            name, {f"impls.references.{own}", "impls.references.front"} | THIRD_PARTY
        )
    if layer == "reports" and within(name, PARTS_OF_REPORTS.get(parts[1], set())):
        return name.partition(".")[0] != "specs" or parts == ("reports", "spark", "rejudge")
    if top in sys.stdlib_module_names:
        return not (layer == "specs" and top in IMPURE) and (layer in ("impls", "reports") or top not in WIRE)
    return within(name, MAY_IMPORT[layer])


def test_no_module_imports_what_it_may_not():
    assert broken(ROOT) == []


def test_every_layer_was_walked():
    for layer in ("records", "specs", "strategies", "impls", "reports", "campaigns", "wireproof"):
        assert any((ROOT / layer).rglob("*.py")), layer
    assert "stomp" in protocols(ROOT)


def planted(root, file, line):
    """What is found broken in a tree with one line in one file."""
    for name in ("specs/stomp/__init__.py", "specs/pulsar/__init__.py", file):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("")
    (root / file).write_text(f"from __future__ import annotations\n{line}\n")
    return broken(root)


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("specs/model.py", "import time"),
        ("specs/model.py", "from random import choice"),
        ("specs/model.py", "import hypothesis"),
        ("specs/model.py", "import specs.stomp.frames"),
        ("specs/stomp/model.py", "import os.path"),
        ("specs/stomp/model.py", "from specs.pulsar import frames"),
        ("specs/stomp/model.py", "from ..pulsar import frames"),
        ("specs/stomp/model.py", "from impls import link"),
        ("strategies/common.py", "from impls import drive"),
        ("strategies/common.py", "from specs.stomp import frames"),
        ("strategies/stomp/a.py", "from strategies.pulsar import b"),
        ("strategies/stomp/a.py", "import socket"),
        ("impls/driver/drive.py", "import strategies.common"),
        ("impls/driver/drive.py", "from records import rows"),
        ("impls/references/stomp/reference.py", "from specs.codec import Reader"),
        ("impls/references/stomp/parser.py", "def f():\n    from specs.stomp.frames import Frame"),
        ("impls/references/stomp/parser.py", "from impls.driver.link import Link"),
        ("impls/references/stomp/parser.py", "from impls.references.pulsar import frames"),
        ("impls/launching/launch.py", "from impls.driver.link import Link"),
        ("impls/driver/drive.py", "import impls.references.stomp.reference"),
        ("impls/references/stomp/parser.py", "import requests"),
        ("impls/references/stomp/parser.py", "import importlib\nimportlib.import_module('specs.codec')"),
        ("suites/stomp/test_it.py", "from reports.spark import matrix"),
        ("suites/stomp/test_it.py", "import subprocess"),
        ("suites/cli.py", "from wireproof.cli import main"),
        ("wireproof/cli.py", "import subprocess"),
        ("impls/catalog/start_it.py", "import impls.launching.launch"),
        ("records/rows.py", "from specs import events"),
        ("records/rows.py", "import pandas"),
        ("reports/summary.py", "import pyspark"),
        ("reports/summary.py", "from specs.model import judge"),
        ("reports/spark/matrix.py", "import impls.driver.drive"),
        ("reports/spark/matrix.py", "from specs.model import judge"),
        ("reports/spark/matrix.py", "import jinja2"),
        ("reports/site/pages.py", "import pyspark"),
        ("reports/summary.py", "import markupsafe"),
    ],
)
def test_a_planted_violation_is_found(tmp_path, file, line):
    assert [found.partition(":")[0] for found in planted(tmp_path, file, line)] == [file]


@pytest.mark.parametrize(
    ("file", "line"),
    [
        ("specs/requirement.py", "from pathlib import Path"),
        ("specs/pulsar/frames.py", "import google.protobuf, crc32c"),
        ("specs/stomp/model.py", "from specs.model import Allow\nfrom .frames import Frame"),
        ("strategies/stomp/a.py", "from hypothesis import strategies\nfrom specs.stomp import frames"),
        ("impls/driver/link.py", "import socket, select, time"),
        ("impls/catalog/start_it.py", "import coilmq.start"),
        ("impls/launching/containers.py", "def f():\n    import testcontainers.core"),
        ("impls/references/stomp/reference.py", "import random\nfrom impls.references.stomp.parser import Parser"),
        ("impls/references/pulsar/compress.py", "import cramjam"),
        ("suites/stomp/test_it.py", "import pytest\nfrom reports.summary import table\nfrom records import rows"),
        ("suites/head.py", "from wireproof import __version__"),
        ("wireproof/cli.py", "from suites.options import add_options"),
        ("reports/spark/matrix.py", "import pyspark.sql\nfrom reports import tables"),
        ("reports/spark/rejudge.py", "import pyspark.sql\nfrom specs.model import judge"),
        ("reports/site/pages.py", "import jinja2, markupsafe"),
    ],
)
def test_what_the_rules_allow_is_not_reported(tmp_path, file, line):
    assert planted(tmp_path, file, line) == []
