"""CRC-32C (Castagnoli), by folding.

A message is a polynomial over GF(2), and its checksum is what is left of it modulo a polynomial of degree 32. So the
first half may be replaced by its product with x^n mod P, which reaches only 32 bits further than itself: each fold
halves what is left at the price of some shifts of whole numbers, which Python does fast.
"""

from __future__ import annotations

from functools import lru_cache

POLYNOMIAL = 0x82F63B78
"""x^32 + x^28 + x^27 + … + 1 without its highest term, the highest power in the lowest bit."""
ENOUGH = 96
"""Octets that are left to the table."""


def _table() -> list[int]:
    found = []
    for octet in range(256):
        value = octet
        for _ in range(8):
            value = value >> 1 ^ (POLYNOMIAL if value & 1 else 0)
        found.append(value)
    return found


_TABLE = _table()


def _times(one: int, other: int) -> int:
    """The product of two remainders, reduced."""
    found = 0
    for bit in range(31, -1, -1):  # x^0 is the highest bit
        if other >> bit & 1:
            found ^= one
        one = one >> 1 ^ (POLYNOMIAL if one & 1 else 0)
    return found


@lru_cache(maxsize=512)
def _power(bits: int) -> int:
    """x^bits modulo the polynomial."""
    found, base = 1 << 31, 1 << 30
    while bits:
        if bits & 1:
            found = _times(found, base)
        base = _times(base, base)
        bits >>= 1
    return found


def crc32c(data: bytes) -> int:
    """The checksum of `data`: 0xe3069283 for b"123456789"."""
    if len(data) > ENOUGH:
        # What starts the register at all ones is the same as the first 32 bits inverted.
        return _tail(_fold(int.from_bytes(data, "little") ^ 0xFFFFFFFF, len(data)), 0)
    return _tail(data, 0xFFFFFFFF)


def _tail(data: bytes, value: int) -> int:
    for octet in data:
        value = _TABLE[(value ^ octet) & 0xFF] ^ value >> 8
    return value ^ 0xFFFFFFFF


def _fold(number: int, size: int) -> bytes:
    """Fewer octets with the same remainder. The first octet of the message is the lowest of the number."""
    while size > ENOUGH:
        head = (size - 4) // 2  # octets that go; what is left must reach 32 bits further than they do
        kept = 8 * (size - head)
        low = number & ((1 << 8 * head) - 1)
        number >>= 8 * head
        # head · x^kept: the remainder of x^(kept) times head has 8·head + 31 bits, its last one x^0 at the end.
        factor, shift = _power(kept), kept - (8 * head + 31)
        product = 0
        while factor:
            bit = factor & -factor
            product ^= low << bit.bit_length() - 1
            factor ^= bit
        number ^= product << shift
        size -= head
    return number.to_bytes(size, "little")
