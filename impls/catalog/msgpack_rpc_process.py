"""Runs a server of msgpack-rpc-python on loopback: python msgpack_rpc_process.py PORT

The library wants tornado 4.5, which asks the module `collections` for names that Python 3.10 moved; they are put back.
It listens on every interface whatever it is told, so that the address is put into it as well.
"""

import collections
import collections.abc
import importlib
import os
import sys

for _name in ("MutableMapping", "Callable", "Mapping", "Iterable"):
    setattr(collections, _name, getattr(collections.abc, _name))
sys.path[:0] = [folder for folder in os.environ.get("WIREPROOF_MSGPACK_RPC", "").split(os.pathsep) if folder]


class Methods:
    """What is called; a notification is a call as well."""

    counted = 0

    def echo(self, value):
        return value

    def add(self, one, other):
        return one + other

    def fail(self, text):
        raise ValueError(text)

    def sleep(self, ms):
        answer = importlib.import_module("msgpackrpc.server").AsyncResult()
        importlib.import_module("tornado.ioloop").IOLoop.current().call_later(ms / 1000, answer.set_result, ms)
        return answer

    def count(self):
        return self.counted

    def bump(self):
        self.counted += 1


def main(port: int) -> None:
    """Serve until a signal ends it."""
    try:
        rpc = importlib.import_module("msgpackrpc")
        tcpserver = importlib.import_module("tornado.tcpserver")
    except ImportError as error:
        sys.exit(
            f"{error}: pip install --target FOLDER msgpack-rpc-python tornado==4.5.3; WIREPROOF_MSGPACK_RPC=FOLDER"
        )
    listen = tcpserver.TCPServer.listen
    tcpserver.TCPServer.listen = lambda self, port, address="": listen(self, port, "127.0.0.1")
    server = rpc.Server(Methods())
    server.listen(rpc.Address("127.0.0.1", port))
    server.start()


if __name__ == "__main__":
    main(int(sys.argv[1]))
