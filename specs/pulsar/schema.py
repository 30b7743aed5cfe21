"""The message definitions, as the compiler made them of pulsar.proto."""

from __future__ import annotations

from typing import Any

from specs.pulsar import pulsar_pb2

schema: Any = pulsar_pb2
"""Its classes are made when it is imported, so nobody can check their types."""
