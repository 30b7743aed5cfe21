"""Servers that are made from a document. Source: 004_4ca5b084f7ea0751.txt, services, exceptions, extensions."""

import pytest

from strategies.msgpack import serving

ROLES = ("idl-server",)


@pytest.mark.weight(2)
def test_calls(hunt):
    """Calls of every kind."""
    hunt(serving.calls(), serving.interpret)


@pytest.mark.weight(2)
def test_versions(hunt):
    """Every function of every version in every scope, and what is nearly one."""
    hunt(serving.calls("sweep", "call", "near", "short"), serving.interpret)


def test_late_binding(hunt):
    """Functions that get another implementation while the server runs."""
    hunt(serving.calls("assign", "call"), serving.interpret)


@pytest.mark.weight(2)
def test_values(hunt):
    """Messages there and back: complete, short, long, with nil, with numbers that are too large."""
    hunt(serving.calls("echo", "bad value", "arguments"), serving.interpret)


def test_failures(hunt):
    """Exceptions, the meta service, selectors that are none."""
    hunt(serving.calls("throw", "meta", "selector", "call", "note"), serving.interpret)
