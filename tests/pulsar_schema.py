"""Makes the protobuf module from pulsar.proto.

    python -m tests.pulsar_schema [FOLDER]

The module is checked in, so that whoever judges needs no compiler, and tests/test_pulsar_wire.py sees to it that it is
current. Needs grpcio-tools (dependency group `pulsar-schema`).
"""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent / "specs" / "pulsar"


def generate(folder: Path) -> Path:
    """Write pulsar_pb2.py into `folder`. Raises RuntimeError when the compiler refuses."""
    from grpc_tools import protoc  # noqa: PLC0415 - only who changes the schema needs the compiler

    failed = protoc.main(["protoc", f"-I{HERE}", f"--python_out={folder}", str(HERE / "pulsar.proto")])
    if failed:
        raise RuntimeError(f"protoc ended with {failed}")
    return folder / "pulsar_pb2.py"


if __name__ == "__main__":
    print(generate(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE))
