"""Connection establishment and Keep Alive. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import connecting

ROLES = ("broker",)


def test_hellos(hunt):
    """CONNECT in every version."""
    hunt(connecting.hellos(), connecting.saying_hello)


def test_silences(hunt):
    """Connections on which nothing is said."""
    hunt(connecting.silences(), connecting.keeping)
