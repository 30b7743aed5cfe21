"""Programs of the catalogue that stand on the kits, around the real libraries: each is checked as a user's would be.

The libraries are fetched by the setup.sh of each folder, or come with the system. What is not there is skipped, and
fails when REQUIRE_KITS=1.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from checks import check

from impls.launching.manifest import CATALOG

NODE = os.environ.get("WIREPROOF_NODE", "")


def there(*paths: str) -> str:
    """What is missing of these paths in the catalogue, or ""."""
    return next((path for path in paths if not (CATALOG / path).exists()), "")


def module(name: str) -> str:
    """The name of a module of Python that is missing, or ""."""
    return "" if importlib.util.find_spec(name) else f"pip install {name}"


def gem(name: str) -> str:
    """The gem that is missing, or ""."""
    if shutil.which("ruby") is None:
        return "ruby"
    ended = subprocess.run(["ruby", "-e", f"require {name!r}"], capture_output=True, check=False)
    return name if ended.returncode else ""


def stale(built: str, *sources: str) -> str:
    """A program that was built before what it is made of was changed last, or ""."""
    if lacking := there(built):
        return lacking
    made = (CATALOG / built).stat().st_mtime
    return f"{built} is older than its source" if any((CATALOG / s).stat().st_mtime > made for s in sources) else ""


KIT = "../kits/java/Kit.java"
STORM = "storm/.lib/storm2/classes/testee/StormHost.class", "storm/java/StormHost.java", KIT
HAS_JS = bool(NODE) and Path(NODE, "node_modules/@msgpack/msgpack").exists()
PROGRAMS = {
    "stomp-py-client": lambda: there("stomp/.lib/python/stomp"),
    "stompest-client": lambda: there("stomp/.lib/python/stompest"),
    "stompjs-client": lambda: there("stomp/.lib/node/node_modules/@stomp/stompjs"),
    "stompit-client": lambda: there("stomp/.lib/node/node_modules/stompit"),
    "go-stomp-client": lambda: stale("stomp/.lib/go/gostomp", "stomp/go/gostomp/main.go", "../kits/go/kit.go"),
    "vertx-stomp-client": lambda: stale("stomp/.lib/java/classes/OnVertx.class", "stomp/java/OnVertx.java", KIT),
    "ruby-stomp-client": lambda: gem("stomp"),
    "pulsar-client": lambda: module("pulsar"),
    "codec-msgpack": lambda: module("msgpack"),
    "codec-umsgpack": lambda: module("umsgpack"),
    "codec-msgpack-js": lambda: "" if HAS_JS else "WIREPROOF_NODE",
    "codec-go": lambda: stale("msgpack/.lib/go/filter", "msgpack/go/filter/main.go", "../kits/go/kit.go"),
    "codec-java": lambda: stale("msgpack/.lib/java/classes/Filter.class", "msgpack/java/Filter.java", KIT),
    "codec-ruby": lambda: gem("msgpack"),
    "kclpy-1": lambda: there("kcl/.lib/amazon_kclpy-1.3.1"),
    "kclpy-3": lambda: there("kcl/.lib/amazon_kclpy-3.2.0"),
    "aws-kcl-node": lambda: there("kcl/.lib/node/node_modules/aws-kcl"),
    "kcl-1-host": lambda: stale("kcl/.lib/kcl1/classes/testee/Hosting.class", "kcl/java/Hosting.java", KIT),
    "kcl-3-host": lambda: stale("kcl/.lib/kcl3/classes/testee/Hosting.class", "kcl/java/Hosting.java", KIT),
    "pystorm-bolt": lambda: there("storm/.lib/pystorm"),
    "pystorm-spout": lambda: there("storm/.lib/pystorm"),
    "storm-py-bolt": lambda: there("storm/.lib/resources"),
    "storm-2.8-bolt-host": lambda: stale(*STORM),
    "storm-2.8-spout-host": lambda: stale(*STORM),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_on_a_kit_is_ready(name):
    lacking = PROGRAMS[name]()
    if lacking and os.environ.get("REQUIRE_KITS") == "1":
        pytest.fail(f"REQUIRE_KITS=1, and {lacking} is missing")
    if lacking:
        pytest.skip(f"missing: {lacking}")
    found = check(name)
    assert (found.code, found.wrong) == (0, []), found.text
