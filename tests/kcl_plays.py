"""Conversations of KCL with faulty or unusual programs in memory, for the tests beside this."""

from impls.driver.drive import Setting, drive
from impls.driver.link import MemoryTransport
from specs.protocol import find
from strategies.kcl import hosting
from strategies.kcl.writer import Writer

KCL = find("kcl")


def config_of(role, profile="kcl1-seed", **learnt):
    return KCL.configure(role, profile, {"scripted": True}, {"noted": True, **learnt})


def judged(role, make, write, profile="kcl1-seed"):
    config = config_of(role, profile)
    w = Writer(config) if role == "child" else hosting.Writer(config)
    if role == "child":
        w.initialize()
    else:
        w.begin()
        w.status()
    write(w)
    if role == "child":
        w.eof()
    return drive(w.plan(), Setting(KCL, config, role, MemoryTransport(make)), "r-").judgement


def asks(*numbers, error=None, batches=((b"1", b"2", b"3"),)):
    def write(w):
        for data in batches:
            w.checkpointer(error)
            w.batch([(octets, "key") for octets in data])
            for number in numbers:
                w.checkpoint(number if number is None or isinstance(number, list) else w.numbers[number])
                w.wait()
            w.status()
        w.final("TERMINATE")
        w.status()
        w.exit()

    return write
