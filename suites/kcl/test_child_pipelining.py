"""Actions that are sent without waiting. Source: the text forbids it to hosts; the catalogue of invalid inputs."""

from strategies.kcl import pipelining
from suites.table import hunts

ROLES = ("child",)
DISCIPLINES = ("pipelined",)

test_pipelines = hunts(
    "Several actions in one write: each gets its status, in order.", pipelining.pipelines(), pipelining.interpret, 0.7
)
