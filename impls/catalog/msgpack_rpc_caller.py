"""A client of msgpack-rpc-python that is told what to call, by JSON objects on stdin (docs/implementations.md)."""

import collections
import collections.abc
import importlib
import json
import os
import sys

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
        self.client, self.open = None, {}

    def do(self, op, said):
        """What is answered to an op."""
        if op == "connect":
            host, _, port = said["address"].rpartition(":")
            self.client = self.rpc.Client(self.rpc.Address(host, int(port)), timeout=TIMEOUT_S, unpack_encoding="utf-8")
            return True
        if op == "disconnect":
            self.client.close()
            return True
        if op == "await":
            return self.outcome(self.open.pop(said["handle"]))
        if op not in ("call", "call_async", "notify"):
            raise LookupError("unsupported")
        params = self.msgpack.unpackb(bytes.fromhex(said["params_hex"]), raw=False)
        if op == "notify":
            self.client.notify(said["method"], *params)
            return True
        future = self.client.call_async(said["method"], *params)
        if op == "call":
            return self.outcome(future)
        handle = len(self.open) + 1
        while handle in self.open:
            handle += 1
        self.open[handle] = future
        return handle

    def outcome(self, future):
        """Result or error of a call."""
        try:
            return {"result_hex": self.msgpack.packb(future.get(), use_bin_type=True).hex()}
        except self.rpc.error.RPCError as error:
            return {"error_hex": self.msgpack.packb(str(error)).hex()}


def main():
    """Serve until stdin ends."""
    caller = Caller()
    for line in sys.stdin:
        said = json.loads(line)
        try:
            answer = {"ok": caller.do(said["op"], said)}
        except Exception as error:  # noqa: BLE001 - whatever the library raises is told
            answer = {"error": str(error) or type(error).__name__}
        print(json.dumps({"id": said["id"], **answer}), flush=True)


if __name__ == "__main__":
    main()
