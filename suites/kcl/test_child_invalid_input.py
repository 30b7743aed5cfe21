"""What a bad host may send to a child. Source: the text is silent; the catalogue of invalid inputs."""

import pytest

from strategies.kcl import misuse

ROLES = ("child",)
DISCIPLINES = ("lock-step",)


@pytest.mark.weight(4)
def test_misuses(hunt):
    """Each invalid input behind a legal beginning."""
    hunt(misuse.misuses(), misuse.interpret, avoids=True)
