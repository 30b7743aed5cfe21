"""The manifests that come with the project."""

from __future__ import annotations

import pytest

from impls.launching.manifest import CATALOG, resolve


@pytest.mark.parametrize("path", sorted(CATALOG.glob("*.toml")), ids=lambda path: path.stem)
def test_every_manifest_of_the_catalogue_is_good(path):
    (found,) = resolve(path.stem)
    assert found.path == path
    assert found.name == path.stem
