"""The child that a judged host starts: it hands its stdin and stdout to the suite. Started by hosts, never imported.

    python -I -S relay_child.py PORT TOKEN

It connects to PORT on loopback, says TOKEN and its process id, and then passes on what comes on STDIN, as it comes;
the end of STDIN is the end of what it says. What the suite sends is framed, since a child does more than write: one
octet for the kind, four for the length, and the data.

    o  write to STDOUT      e  write to STDERR      x  end with the status in the data      k  end by the signal in it

The end of the suite's side ends it too, and so does the end of its parent's wish to run it. Standard library only.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading


def upwards(link: socket.socket) -> None:
    """STDIN to the suite."""
    while data := os.read(0, 65536):
        link.sendall(data)
    link.shutdown(socket.SHUT_WR)


def exactly(link: socket.socket, count: int) -> bytes:
    """So many octets; fewer only at the end."""
    data = b""
    while len(data) < count:
        piece = link.recv(min(65536, count - len(data)))
        if not piece:
            break
        data += piece
    return data


def write(file: int, data: bytes) -> None:
    """All of it."""
    while data:
        data = data[os.write(file, data) :]


def main() -> int:
    """The status that the suite asks for."""
    link = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    link.sendall(f"{sys.argv[2]} {os.getpid()}\n".encode())
    threading.Thread(target=upwards, args=(link,), daemon=True).start()
    while len(head := exactly(link, 5)) == 5:
        kind, data = head[:1], exactly(link, int.from_bytes(head[1:], "big"))
        if kind == b"o":
            write(1, data)
        elif kind == b"e":
            write(2, data)
        elif kind == b"x":
            os._exit(int(data))
        elif kind == b"k":
            signal.signal(int(data), signal.SIG_DFL) if int(data) not in (signal.SIGKILL, signal.SIGSTOP) else None
            os.kill(os.getpid(), int(data))
    os._exit(0)


if __name__ == "__main__":
    main()
