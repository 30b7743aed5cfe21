"""Protocols are found by being there."""

from __future__ import annotations

import sys

import pytest
from echo import joined

from specs import protocol as protocols


def test_every_protocol_that_is_there_is_found():
    assert "stomp" in protocols.names()
    for name in protocols.names():
        assert protocols.find(name).name == name


def test_a_new_folder_in_each_layer_is_all_it_takes():
    before = protocols.names()
    with joined():
        assert protocols.find("echo").name == "echo"
        assert protocols.names() == sorted([*before, "echo"])
    assert protocols.names() == before
    assert not [
        name for name in sys.modules if name.startswith(("specs.echo", "impls.references.echo", "strategies.echo"))
    ]


def test_what_is_not_there_is_refused_with_what_is():
    with pytest.raises(LookupError, match=r"unknown protocol 'echo'; known: .*stomp"):
        protocols.find("echo")
