"""ZSTD frames, read by hand.

Source: RFC 8878. Dictionaries are not known, and the checksum of a frame is not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

from impls.pulsar.wire import Malformed

MAGIC = bytes.fromhex("28b52ffd")
MAX_HUFFMAN_BITS = 11


class TooMuch(Malformed):
    """More than was said to be in the frame."""


# Tables of RFC 8878, section 3.1.1.3.2: the codes of lengths with their baselines and extra bits.
_LITERAL_BITS = [0] * 16 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
_MATCH_BITS = [0] * 32 + [1, 1, 1, 1, 2, 2, 3, 3, 4, 4, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]


def _baselines(start: int, bits: list[int], jumps: dict[int, int]) -> list[int]:
    """Each code begins where the one before it ends, but for some that begin at a power of two."""
    found, at = [], start
    for code, width in enumerate(bits):
        at = jumps.get(code, at)
        found.append(at)
        at += 1 << width
    return found


_LITERAL_BASE = _baselines(0, _LITERAL_BITS, {25: 64})
_MATCH_BASE = _baselines(3, _MATCH_BITS, {43: 131})
_LITERAL_SPREAD = [4, 3, *[2] * 11, 1, 1, 1, *[2] * 9, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1]
_MATCH_SPREAD = [1, 4, 3, *[2] * 6, *[1] * 37, *[-1] * 7]
_OFFSET_SPREAD = [1, 1, 1, 1, 1, 1, 2, 2, 2, *[1] * 15, *[-1] * 5]


class Backwards:
    """A stream of bits that is read from its end: the highest bit of the last octet only says where it begins."""

    def __init__(self, data: bytes) -> None:
        if not data or not data[-1]:
            raise Malformed("a stream of bits without its mark")
        self.data = data
        self.left = 8 * len(data) - 9 + data[-1].bit_length()

    def peek(self, count: int) -> int:
        """The next bits; zeros follow the last one."""
        start = self.left - count
        if start < 0:
            return (int.from_bytes(self.data[:8], "little") & ((1 << max(0, self.left)) - 1)) << -start
        window = int.from_bytes(self.data[start >> 3 : (start >> 3) + 8], "little")
        return window >> (start & 7) & ((1 << count) - 1)

    def read(self, count: int) -> int:
        """The next bits, taken."""
        found = self.peek(count)
        self.left -= count
        return found


class Cell(NamedTuple):
    """A state of a decoding table: its symbol, and how the next state follows from some bits."""

    symbol: int
    bits: int
    base: int


class Table(NamedTuple):
    """A decoding table of finite state entropy."""

    accuracy: int
    cells: list[Cell]


def spread(counts: list[int], accuracy: int) -> Table:
    """The decoding table of a distribution (RFC 8878, section 4.1)."""
    size = 1 << accuracy
    symbols, high = [0] * size, size
    for symbol, count in enumerate(counts):
        if count == -1:
            high -= 1
            symbols[high] = symbol
    step, at = (size >> 1) + (size >> 3) + 3, 0
    for symbol, count in enumerate(counts):
        for _ in range(count):
            symbols[at] = symbol
            at = (at + step) % size
            while at >= high:
                at = (at + step) % size
    following = [abs(count) for count in counts]
    cells = []
    for symbol in symbols:
        number = following[symbol]
        following[symbol] += 1
        bits = accuracy + 1 - number.bit_length()
        cells.append(Cell(symbol, bits, (number << bits) - size))
    return Table(accuracy, cells)


def read_table(data: bytes, at: int, most: int, symbols: int) -> tuple[Table, int]:
    """A distribution as it is written, and where it ends."""
    number, bit = int.from_bytes(data[at : at + 512], "little"), 4
    accuracy = (number & 15) + 5
    if accuracy > most:
        raise Malformed("a table is too accurate")
    left = 1 << accuracy
    counts: list[int] = []
    while left > 0 and len(counts) < symbols:
        width = (left + 1).bit_length()
        value = number >> bit & ((1 << width) - 1)
        bit += width
        low, threshold = (1 << (width - 1)) - 1, (1 << width) - 2 - left
        if value & low < threshold:
            bit -= 1
            value &= low
        elif value > low:
            value -= threshold
        counts.append(value - 1)
        left -= abs(value - 1)
        if value == 1:
            while (zeros := number >> bit & 3) == 3:
                counts += [0] * 3
                bit += 2
                if len(counts) > symbols:
                    break
            counts += [0] * zeros
            bit += 2
    end = at + (bit + 7) // 8
    if left or len(counts) > symbols or end > len(data):
        raise Malformed("a table does not add up")
    return spread(counts, accuracy), end


class Huffman(NamedTuple):
    """A decoding table for literals: (symbol, bits) for each value of the next `bits` bits."""

    bits: int
    cells: list[tuple[int, int]]


def read_huffman(data: bytes, at: int) -> tuple[Huffman, int]:
    """The tree of literals, and where its description ends (RFC 8878, section 4.2.1)."""
    head, at = data[at], at + 1
    if head >= 128:
        count = head - 127
        end = at + (count + 1) // 2
        pairs = [(octet >> 4, octet & 15) for octet in data[at:end]]
        weights = [weight for pair in pairs for weight in pair][:count]
        if len(weights) < count:
            raise Malformed("the weights are cut short")
    else:
        end = at + head
        if end > len(data):
            raise Malformed("the weights are cut short")
        weights = _read_weights(data[at:end])
    total = sum(1 << weight >> 1 for weight in weights)
    bits = total.bit_length()
    rest = (1 << bits) - total
    if not total or bits > MAX_HUFFMAN_BITS or rest & (rest - 1):
        raise Malformed("the weights do not add up")
    weights.append(rest.bit_length())
    cells: list[tuple[int, int]] = []
    for weight in range(1, bits + 1):
        for symbol, own in enumerate(weights):
            if own == weight:
                cells += [(symbol, bits + 1 - weight)] * (1 << (weight - 1))
    if len(cells) != 1 << bits or len(weights) > 256:
        raise Malformed("the weights do not add up")
    return Huffman(bits, cells), end


def _read_weights(data: bytes) -> list[int]:
    table, at = read_table(data, 0, 6, 13)
    stream = Backwards(data[at:])
    states = [stream.read(table.accuracy), stream.read(table.accuracy)]
    weights: list[int] = []
    turn = 0
    while len(weights) < 256:
        cell = table.cells[states[turn]]
        weights.append(cell.symbol)
        states[turn] = cell.base + stream.read(cell.bits)
        if stream.left < 0:
            weights.append(table.cells[states[1 - turn]].symbol)
            break
        turn = 1 - turn
    return weights


class Reader:
    """Reads one frame. `size` is what it may hold at most."""

    def __init__(self, data: bytes, size: int) -> None:
        self.data = data
        self.size = size
        self.out = bytearray()
        self.huffman: Huffman | None = None
        self.tables: list[Table | None] = [None, None, None]
        self.recent = [1, 4, 8]

    def read(self) -> bytes:
        """What is in the frame. Raises Malformed, IndexError where it is cut short, TooMuch."""
        data = self.data
        if data[:4] != MAGIC:
            raise Malformed("no frame")
        flags = data[4]
        single = flags >> 5 & 1
        if flags & 8:
            raise Malformed("a reserved bit")
        width = (single, 2, 4, 8)[flags >> 6]
        at = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + width
        last = False
        while not last:
            if len(data) - at < 3:
                raise Malformed("a block is cut short")
            head = int.from_bytes(data[at : at + 3], "little")
            last, kind, length = bool(head & 1), head >> 1 & 3, head >> 3
            at += 3
            if kind == 1:
                self.add(data[at : at + 1] * min(length, self.size + 1))
                at += 1
                continue
            if length > len(data) - at or kind == 3:
                raise Malformed("a block is cut short")
            block = data[at : at + length]
            at += length
            if kind == 0:
                self.add(block)
            else:
                self.block(block)
        if len(data) - at != 4 * (flags >> 2 & 1):
            raise Malformed("something stands behind the last block")
        return bytes(self.out)

    def add(self, data: bytes) -> None:
        """Add octets to what was found. Raises TooMuch."""
        if len(self.out) + len(data) > self.size:
            raise TooMuch("more than was said")
        self.out += data

    def block(self, data: bytes) -> None:
        """A compressed block: literals, then the sequences that copy them and what was before."""
        literals, at = self.literals(data)
        count, at = self.count(data, at)
        if not count:
            self.add(literals)
            return
        modes = data[at]
        at += 1
        if modes & 3:
            raise Malformed("a reserved bit")
        kinds = ((6, 9, _LITERAL_SPREAD, 36), (4, 8, _OFFSET_SPREAD, 32), (2, 9, _MATCH_SPREAD, 53))
        for number, (shift, most, default, symbols) in enumerate(kinds):
            mode = modes >> shift & 3
            if mode == 0:
                self.tables[number] = spread(default, 5 if number == 1 else 6)
            elif mode == 1:
                self.tables[number] = Table(0, [Cell(data[at], 0, 0)])
                at += 1
            elif mode == 2:
                self.tables[number], at = read_table(data, at, most, symbols)
        self.sequences(Backwards(data[at:]), count, literals)

    def count(self, data: bytes, at: int) -> tuple[int, int]:
        """How many sequences there are, and where that ends."""
        first = data[at]
        if first < 128:
            return first, at + 1
        if first < 255:
            return (first - 128 << 8) + data[at + 1], at + 2
        return data[at + 1] + (data[at + 2] << 8) + 0x7F00, at + 3

    def literals(self, data: bytes) -> tuple[bytes, int]:
        """The literals of a block, and where they end (RFC 8878, section 3.1.1.3.1)."""
        kind, form = data[0] & 3, data[0] >> 2 & 3
        if kind < 2:
            shift, at = ((3, 1), (4, 2), (3, 1), (4, 3))[form]
            length = int.from_bytes(data[:at], "little") >> shift
            if kind == 1:
                return bytes((data[at],)) * min(length, self.size + 1), at + 1
            if length > len(data) - at:
                raise Malformed("literals are cut short")
            return data[at : at + length], at + length
        at, width = ((3, 10), (3, 10), (4, 14), (5, 18))[form]
        head = int.from_bytes(data[:at], "little") >> 4
        length, packed = head & ((1 << width) - 1), head >> width & ((1 << width) - 1)
        end = at + packed
        if end > len(data) or length > self.size:
            raise TooMuch("more than was said") if length > self.size else Malformed("literals are cut short")
        if kind == 2:
            self.huffman, at = read_huffman(data, at)
        if self.huffman is None:
            raise Malformed("there is no tree to use again")
        if form == 0:
            return self.unpack(data[at:end], length), end
        sizes = [int.from_bytes(data[at + 2 * n : at + 2 * n + 2], "little") for n in range(3)]
        at += 6
        found, each = b"", (length + 3) // 4
        for size in sizes:
            found += self.unpack(data[at : min(at + size, end)], each)
            at += size
        return found + self.unpack(data[at:end], length - 3 * each), end

    def unpack(self, data: bytes, length: int) -> bytes:
        """One stream of literals."""
        assert self.huffman is not None
        bits, cells = self.huffman
        stream, found = Backwards(data), bytearray()
        while stream.left > 0:
            symbol, taken = cells[stream.peek(bits)]
            stream.left -= taken
            found.append(symbol)
        if stream.left or len(found) != length:
            raise Malformed("a stream of literals does not add up")
        return bytes(found)

    def sequences(self, stream: Backwards, count: int, literals: bytes) -> None:
        """Copy literals and matches (RFC 8878, section 3.1.1.4)."""
        tables = [table for table in self.tables if table is not None]
        if len(tables) < 3:
            raise Malformed("there is no table to use again")
        states = [stream.read(table.accuracy) for table in tables]
        at = 0
        for number in range(count):
            literal, offset, match = (table.cells[state] for table, state in zip(tables, states, strict=True))
            if literal.symbol > 35 or match.symbol > 52 or offset.symbol > 31:
                raise Malformed("no such code")
            distance = (1 << offset.symbol) + stream.read(offset.symbol)
            length = _MATCH_BASE[match.symbol] + stream.read(_MATCH_BITS[match.symbol])
            run = _LITERAL_BASE[literal.symbol] + stream.read(_LITERAL_BITS[literal.symbol])
            if run > len(literals) - at:
                raise Malformed("more literals than there are")
            self.add(literals[at : at + run])
            at += run
            self.copy(self.distance(distance, run), length)
            if number < count - 1:
                for each in (0, 2, 1):
                    cell = (literal, offset, match)[each]
                    states[each] = cell.base + stream.read(cell.bits)
            if stream.left < 0:
                raise Malformed("the sequences are cut short")
        if stream.left:
            raise Malformed("the sequences do not add up")
        self.add(literals[at:])

    def distance(self, value: int, run: int) -> int:
        """How far back a match lies: small values name one of the last distances."""
        if value > 3:
            self.recent = [value - 3, *self.recent[:2]]
            return value - 3
        place = value - 1 + (run == 0)
        found = self.recent[place] if place < 3 else self.recent[0] - 1
        if place:
            rest = [each for number, each in enumerate(self.recent) if number != min(place, 2)]
            self.recent = [found, *rest]
        return found

    def copy(self, distance: int, length: int) -> None:
        """Repeat what was found `distance` octets ago."""
        if not 0 < distance <= len(self.out):
            raise Malformed("a match begins before the frame")
        start = len(self.out) - distance
        pattern = bytes(self.out[start : start + length])
        self.add((pattern * (length // len(pattern) + 1))[:length])
