"""Actions that are sent without waiting. Source: the text forbids it to hosts; the catalogue of invalid inputs."""

import pytest

from strategies.kcl import pipelining

ROLES = ("child",)
DISCIPLINES = ("pipelined",)


@pytest.mark.weight(0.7)
def test_pipelines(hunt):
    """Several actions in one write: each gets its status, in order."""
    hunt(pipelining.pipelines(), pipelining.interpret)
