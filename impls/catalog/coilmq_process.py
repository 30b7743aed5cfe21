"""Runs CoilMQ on loopback: python coilmq_process.py PORT

CoilMQ accepts a CONNECT only when its host header equals the machine's fully qualified name, which no manifest can
know. In this process alone the machine is called "localhost"; CoilMQ itself runs as it was installed.
"""

import importlib
import signal
import socket
import sys


def main(port: str) -> None:
    """Serve until SIGTERM."""
    try:
        start = importlib.import_module("coilmq.start")
    except ImportError as error:
        sys.exit(f"{error}: CoilMQ is not installed for {sys.executable}; pip install coilmq")
    socket.getfqdn = lambda name="": "localhost"
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # it ends in good order on an interrupt only
    start.main(["-b", "127.0.0.1", "-p", port])


if __name__ == "__main__":
    main(sys.argv[1])
