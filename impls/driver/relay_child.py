"""The child that a judged host starts: it hands its stdin and stdout to the suite. Started by hosts, never imported.

    python -I -S relay_child.py PORT TOKEN

It connects to PORT on loopback, says TOKEN and its process id, and then passes on what comes on STDIN, as it comes;
the end of STDIN is the end of what it says. What the suite sends is framed, since a child does more than write: one
octet for the kind, four for the length, and the data.

    o  write to STDOUT      e  write to STDERR      x  end with the status in the data      k  end by the signal in it
    d  read STDIN no more   h  read on

The last two take effect at once, also while STDOUT is full: a host that waits until it is read may not read either.
The end of the suite's side ends it too, and so does the end of its parent's wish to run it. Standard library only, and
of it only what is written in C: each conversation starts one of these, and importing `socket`, `signal` and `threading`
takes as long as starting the interpreter.
"""

from __future__ import annotations

import _queue
import _socket
import _thread
import os
import sys

UNCATCHABLE = (9, 19)
"""SIGKILL and SIGSTOP."""


def upwards(link: _socket.socket, reading: _thread.LockType) -> None:
    """STDIN to the suite, as long as nobody else holds `reading`."""
    try:
        while data := os.read(0, 65536):
            with reading:
                link.sendall(data)
        link.shutdown(_socket.SHUT_WR)
    except OSError:
        pass  # the suite is gone; the other thread sees that too


def exactly(link: _socket.socket, count: int) -> bytes:
    """So many octets; fewer only at the end."""
    data = bytearray()
    while len(data) < count:
        piece = link.recv(min(65536, count - len(data)))
        if not piece:
            break
        data += piece
    return bytes(data)


def downwards(link: _socket.socket, reading: _thread.LockType, todo: _queue.SimpleQueue[tuple[bytes, bytes]]) -> None:
    """What the suite wants: whether to read, here; all else behind what was wanted before."""
    try:
        while len(head := exactly(link, 5)) == 5:
            kind, data = head[:1], exactly(link, int.from_bytes(head[1:], "big"))
            if kind == b"d":
                reading.acquire()
            elif kind == b"h":
                reading.release()
            else:
                todo.put((kind, data))
    except OSError:
        pass  # the suite is gone
    todo.put((b"x", b"0"))


def write(file: int, data: bytes) -> None:
    """All of it. A pipe takes little at a time, so that what is left is not copied each time."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def main() -> None:
    """Until the suite asks for the end, or is gone."""
    link = _socket.socket(_socket.AF_INET, _socket.SOCK_STREAM)
    link.connect(("127.0.0.1", int(sys.argv[1])))
    link.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    link.sendall(f"{sys.argv[2]} {os.getpid()}\n".encode())
    reading = _thread.allocate_lock()
    todo: _queue.SimpleQueue[tuple[bytes, bytes]] = _queue.SimpleQueue()
    _thread.start_new_thread(upwards, (link, reading))
    _thread.start_new_thread(downwards, (link, reading, todo))
    while True:
        kind, data = todo.get()
        if kind == b"o":
            write(1, data)
        elif kind == b"e":
            write(2, data)
        elif kind == b"x":
            os._exit(int(data))
        elif kind == b"k":
            if int(data) not in UNCATCHABLE:
                import signal  # noqa: PLC0415 - seldom needed

                signal.signal(int(data), signal.SIG_DFL)
            os.kill(os.getpid(), int(data))


if __name__ == "__main__":
    main()
