"""The manifests that come with the project."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from impls.launching.manifest import CATALOG, resolve


@pytest.mark.parametrize("path", sorted(CATALOG.glob("*.toml")), ids=lambda path: path.stem)
def test_every_manifest_of_the_catalogue_is_good(path):
    (found,) = resolve(path.stem)
    assert found.path == path
    assert found.name == path.stem


def test_a_library_is_not_mistaken_for_a_folder_of_the_catalogue(tmp_path):
    (tmp_path / "msgpack.py").write_text("packb = bytes\n\n\ndef unpackb(octets, **_):\n    return octets\n")
    command = [sys.executable, "msgpack_filter.py", "msgpack"]
    env = os.environ | {"PYTHONPATH": str(tmp_path)}
    ended = subprocess.run(command, cwd=CATALOG, env=env, input="c3\n", capture_output=True, text=True, check=False)
    assert (ended.stdout, ended.stderr) == ("c3\n", "")
