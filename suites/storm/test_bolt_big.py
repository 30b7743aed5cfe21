"""Big tuples. Source: the text is silent about how big a message may be."""

from strategies.storm import big
from suites.table import hunts

ROLES = ("bolt",)
DISCIPLINES = ("lock-step",)

test_big_tuples = hunts("Lines of kilobytes and megabytes.", big.tuples(), big.interpret, 0.5, heavy=True)
