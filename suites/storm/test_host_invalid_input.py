"""What a bad child may do to its host. Source: the text is silent; the catalogue of invalid inputs."""

import pytest

from strategies.storm import unruly

ROLES = ("bolt-host", "spout-host")
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(4)
def test_misuses(hunt):
    """Each invalid input behind a legal beginning."""
    hunt(unruly.misuses(), unruly.interpret, avoids=True)
