"""Storm multilang: what passes between a shell bolt or spout of Storm and the program that it runs."""

from specs.storm.bundle import protocol

__all__ = ["protocol"]
