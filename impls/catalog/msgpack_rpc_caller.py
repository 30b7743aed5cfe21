"""A client of msgpack-rpc-python that is told what to call, by JSON objects on stdin (docs/implementations.md)."""

import collections
import collections.abc
import importlib
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "kits" / "python"))
import kit

for _name in ("MutableMapping", "Callable", "Mapping", "Iterable"):
    setattr(collections, _name, getattr(collections.abc, _name))
sys.path[:0] = [folder for folder in os.environ.get("WIREPROOF_MSGPACK_RPC", "").split(os.pathsep) if folder]
TIMEOUT_S = 2
"""When a call is given up: before the tester gives the library up, which in a short run is after five seconds."""


class Caller:
    """One connection, and the calls that are not awaited yet."""

    def __init__(self):
        try:
            self.rpc = importlib.import_module("msgpackrpc")
        except ImportError as error:
            sys.exit(
                f"{error}: pip install --target FOLDER msgpack-rpc-python tornado==4.5.3; WIREPROOF_MSGPACK_RPC=FOLDER"
            )
        self.msgpack = importlib.import_module("msgpack")
        self.client, self.open = None, kit.Handles()

    def connect(self, said):
        address = self.rpc.Address(*kit.place(said["address"]))
        self.client = self.rpc.Client(address, timeout=TIMEOUT_S, unpack_encoding="utf-8")
        return True

    def disconnect(self, said):
        self.client.close()
        return True

    def notify(self, said):
        self.client.notify(said["method"], *self.params(said))
        return True

    def call(self, said):
        return self.outcome(self.client.call_async(said["method"], *self.params(said)))

    def call_async(self, said):
        return self.open.keep(self.client.call_async(said["method"], *self.params(said)))

    def awaited(self, said):
        return self.outcome(self.open.drop(said["handle"]))

    def params(self, said):
        return self.msgpack.unpackb(bytes.fromhex(said["params_hex"]), raw=False)

    def outcome(self, future):
        """Result or error of a call."""
        try:
            return {"result_hex": self.msgpack.packb(future.get(), use_bin_type=True).hex()}
        except self.rpc.error.RPCError as error:
            return {"error_hex": self.msgpack.packb(str(error)).hex()}


if __name__ == "__main__":
    caller = Caller()
    names = ("connect", "disconnect", "notify", "call", "call_async")
    kit.serve({"await": caller.awaited, **{name: getattr(caller, name) for name in names}})
