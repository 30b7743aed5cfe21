"""Connection establishment and Keep Alive. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import connecting
from suites.table import hunts

ROLES = ("broker",)

test_hellos = hunts("CONNECT in every version.", connecting.hellos(), connecting.saying_hello)
test_silences = hunts("Connections on which nothing is said.", connecting.silences(), connecting.keeping)
