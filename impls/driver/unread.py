"""What was sent and has not been read yet by the program at the other end, as the kernel of this machine tells.

A frame in pieces is one only for a program that reads each piece apart: what is written while it has not read yet comes
with the piece before. Linux knows of a pipe, and of a connection whose other end is on this machine (sock_diag(7)).
"""

from __future__ import annotations

import fcntl
import socket
import struct
import termios

_NETLINK_SOCK_DIAG, _SOCK_DIAG_BY_FAMILY, _REQUEST = 4, 20, 1
_ANY_STATE, _NO_COOKIE = 0xFFFFFFFF, 0xFFFFFFFF
_HEAD = struct.Struct("=IHHII")
"""Of a netlink message: its length, type, flags, number, and the port of its sender."""
_REQUESTED = struct.Struct("=BBBBI")
"""Family, protocol, extensions, padding, states: what stands before the two ends of a connection in a request."""
_ENDS = 48
"""Octets of the two ends of a connection."""
_ANSWERED = struct.Struct("=IIIII")
"""Behind these in an answer: expiry, octets to be read, octets to be sent, user, inode."""
_ANSWER = _HEAD.size + 4 + _ENDS + _ANSWERED.size


def of_pipe(file: int) -> int | None:
    """Octets in a pipe of which `file` is either end; None when it can't be told."""
    try:
        return int(struct.unpack("=i", fcntl.ioctl(file, termios.FIONREAD, b"\0" * 4))[0])
    except OSError:
        return None


def of_connection(ours: socket.socket) -> int | None:
    """Octets that the other end of a TCP connection has received and its program has not read; None when it can't be
    told: that end is not on this machine, or in a network of its own."""
    try:
        theirs, here = ours.getpeername(), ours.getsockname()
        family = ours.family
        ends = struct.pack("!HH", theirs[1], here[1]) + _octets(family, theirs[0]) + _octets(family, here[0])
        ends += struct.pack("=III", 0, _NO_COOKIE, _NO_COOKIE)
        body = _REQUESTED.pack(family, socket.IPPROTO_TCP, 0, 0, _ANY_STATE) + ends
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as kernel:
            kernel.setblocking(False)
            kernel.send(_HEAD.pack(_HEAD.size + len(body), _SOCK_DIAG_BY_FAMILY, _REQUEST, 1, 0) + body)
            answer = kernel.recv(4096)
    except (AttributeError, OSError):  # no Linux, or not allowed here
        return None
    if len(answer) < _ANSWER or _HEAD.unpack_from(answer)[1] != _SOCK_DIAG_BY_FAMILY:
        return None
    return int(_ANSWERED.unpack_from(answer, _HEAD.size + 4 + _ENDS)[1])


def _octets(family: int, address: str) -> bytes:
    """An address as the 16 octets of sock_diag."""
    return socket.inet_pton(family, address).ljust(16, b"\0")
