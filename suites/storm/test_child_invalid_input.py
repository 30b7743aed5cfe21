"""What a bad host may send to a bolt or a spout. Source: the text is silent; the catalogue of invalid inputs."""

import pytest

from strategies.storm import misuse

ROLES = ("bolt", "spout")
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(3)
def test_misuses(hunt):
    """Each invalid input behind a legal beginning."""
    hunt(misuse.misuses(), misuse.interpret, avoids=True)
