"""KCL MultiLang: what passes between the Kinesis Client Library's daemon and its child processes."""

from specs.kcl.bundle import protocol

__all__ = ["protocol"]
