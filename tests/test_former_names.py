"""Names that manifests, scripts and programs of other people say keep their meaning, wherever what they name is now."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MODULES = [
    "drive",
    "link",
    "ndjson",
    "pipes",
    "program",
    "relay",
    "manifest",
    "fields",
    "launch",
    "running",
    "process",
    "front",
    "printable",
]


def ran(*arguments: str) -> str:
    """What Python prints for them, from the top of the checkout."""
    done = subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.parametrize("protocol", ["stomp", "kcl", "storm", "pulsar", "msgpack"])
def test_a_reference_is_run_by_its_short_name(protocol):
    assert ran("-m", f"impls.{protocol}", "--help").startswith("usage: python -m impls.")


def test_recordings_are_judged_by_the_name_of_old():
    assert "recordings" in ran("-m", "suites.overheard", "--help")


@pytest.mark.parametrize("path", ["impls/stomp/reference.toml", "impls/kcl/reference-child-seed.toml"])
def test_the_manifest_of_a_reference_is_found_by_its_short_path(path, monkeypatch):
    monkeypatch.chdir(ROOT)
    assert ran("-m", "pytest", f"--impl={path}", "--collect-only", "-q", "-p", "no:xdist")


@pytest.mark.parametrize(
    ("module", "attribute"),
    [
        ("impls.stomp.reference", "Server"),
        ("impls.kcl.reference", "ChildNew"),
        ("impls.storm.reference", "BoltNew"),
        ("impls.pulsar.client_memory", "Client"),
        ("impls.msgpack.idl_codec", "IdlCodec"),
        ("impls.msgpack.reference", "Server"),
    ],
)
def test_what_a_manifest_names_is_there_once(module, attribute):
    """`start.python` of a manifest that stands elsewhere."""
    found = importlib.import_module(module)
    assert callable(getattr(found, attribute))
    assert {id(each) for each in sys.modules.values() if getattr(each, "__file__", "") == found.__file__} == {id(found)}


@pytest.mark.parametrize("name", MODULES)
def test_a_module_of_old_is_imported(name):
    assert importlib.import_module(f"impls.{name}").__doc__


def test_what_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError, match=r"impls\.nothing"):
        importlib.import_module("impls.nothing")
