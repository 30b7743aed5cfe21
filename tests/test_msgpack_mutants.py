"""Every seeded fault of MessagePack is seen by its witness, and blamed on the requirement that it breaks."""

from collections import Counter

import pytest

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from impls.references.msgpack.client import Client
from impls.references.msgpack.idl import Idl
from impls.references.msgpack.idl_client import IdlClient
from impls.references.msgpack.idl_codec import IdlCodec
from impls.references.msgpack.idl_server import IdlServer
from impls.references.msgpack.reference import Server
from specs.model import Blame, Breach
from specs.protocol import find
from tests.mutants.every import of_protocol
from tests.mutants.msgpack_kit import FACTS as DECLARED
from tests.mutants.msgpack_kit import PROFILES

MUTANTS = of_protocol("msgpack")
MSGPACK = find("msgpack")
PEERS = {
    "server": lambda: Server(malformed="close"),
    "codec": IdlCodec,
    "client": Client,
    "idl": Idl,
    "idl-server": IdlServer,
    "idl-client": IdlClient,
}
FACTS = {name: fact.default for name, fact in MSGPACK.facts.items()}


def config_for(role, way="plain"):
    learnt = {"way": way, "layout": "array-1", "echo_form": 0} if role in ("codec", "idl-server") else {}
    learnt = {"layout": "array-1", "exceptions": "list"} if role == "idl-client" else learnt
    return MSGPACK.configure(role, PROFILES.get(role, "core"), FACTS | DECLARED.get(role, {}), learnt)


def judged(plan, role, make, config):
    transport = MemoryTransport(make)
    found = drive(plan, Setting(MSGPACK, config, role, transport), "m-").judgement
    faults = found.faults
    if transport.crash and role == "server":
        faults = (Blame(Breach("server", MSGPACK.crash, transport.crash), 0),)
    return found, faults


def level_of(blame):
    return blame.breach.level or MSGPACK.requirements[blame.breach.requirement].level


def test_there_are_enough_mutants():
    count = Counter(mutant.role for mutant in MUTANTS)
    assert len({(mutant.role, mutant.name) for mutant in MUTANTS}) == len(MUTANTS)
    assert count["server"] >= 40
    assert count["codec"] >= 30
    assert count["client"] >= 20
    assert count["idl"] >= 60
    assert count["idl-server"] >= 30
    assert count["idl-client"] >= 40
    for mutant in MUTANTS:
        assert mutant.blames <= MSGPACK.requirements.keys(), mutant.name
        assert mutant.why.endswith("."), mutant.name


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_passes_on_the_reference(mutant):
    config = config_for(mutant.role)
    found, faults = judged(mutant.witness(config), mutant.role, PEERS[mutant.role], config)
    assert (found.verdict, faults) == ("pass", ()), found


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_witness_shows_the_fault(mutant):
    config = config_for(mutant.role)
    found, faults = judged(mutant.witness(config), mutant.role, mutant.make, config)
    assert faults, found
    if mutant.requirement in {feature.requirement for feature in MSGPACK.features} and mutant.role != "codec":
        return  # explained by what is left in the shortest plan: see the hunts
    assert {blame.breach.requirement for blame in faults} <= mutant.blames, found
    assert any(level_of(blame) == mutant.level for blame in faults), found


@pytest.mark.parametrize("role", list(PEERS))
def test_every_requirement_is_broken_by_some_mutant(role):
    bound = {
        r.id
        for r in MSGPACK.requirements.binding(role, PROFILES.get(role, "core"))
        if not r.untestable and r.level != "MAY"
    }
    assert bound <= {mutant.requirement for mutant in MUTANTS if mutant.role == role}
