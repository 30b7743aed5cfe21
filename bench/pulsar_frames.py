"""Encoding and decoding SEND frames, against bare protobuf and google-crc32c on the same frames.

    python -m bench.pulsar_frames

Prints processor time for each frame, and how many percent of the bare speed ours has: the best of several rounds.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import google_crc32c

from specs.codec import Decoder
from specs.pulsar import frames, pulsar_pb2
from specs.pulsar.frames import Draft, resolve

FRAMES, ROUNDS = 2000, 15


def timed(work: Callable[[], object]) -> float:
    """Processor seconds, the best of ROUNDS."""
    best = float("inf")
    for _ in range(ROUNDS):
        begun = time.process_time()
        work()
        best = min(best, time.process_time() - begun)
    return best


def bare_encode(command, headers, payload):
    data = command.SerializeToString()
    content = len(headers).to_bytes(4, "big") + headers + payload
    check = google_crc32c.value(content).to_bytes(4, "big")
    size = 4 + len(data) + 6 + len(content)
    return size.to_bytes(4, "big") + len(data).to_bytes(4, "big") + data + b"\x0e\x01" + check + content


def bare_decode(data):
    at = 0
    while at < len(data):
        total = int.from_bytes(data[at : at + 4], "big")
        size = int.from_bytes(data[at + 4 : at + 8], "big")
        command = pulsar_pb2.BaseCommand.FromString(data[at + 8 : at + 8 + size])
        begin = at + 8 + size
        assert data[begin : begin + 2] == b"\x0e\x01"
        content = data[begin + 6 : at + 4 + total]
        assert google_crc32c.value(content) == int.from_bytes(data[begin + 2 : begin + 6], "big")
        length = int.from_bytes(content[:4], "big")
        headers, payload = content[4 : 4 + length], content[4 + length :]
        at += 4 + total
    return command, headers, payload


def main() -> None:
    for size in (16, 1024, 65_536):
        fields = {"producer_id": 3, "sequence_id": 70_000, "num_messages": 1}
        meta = {"producer_name": "producer-1", "sequence_id": 70_000, "publish_time": 1_700_000_000_000,
                "properties": [{"key": "a", "value": "1"}], "partition_key": "k"}  # fmt: skip
        frame = resolve(Draft("SEND", fields, meta, b"x" * size), None)
        count = FRAMES if size < 10_000 else 100
        stream = frames.encode(frame) * count
        ours = timed(lambda: [frames.encode(frame) for _ in range(count)])  # noqa: B023
        bare = timed(lambda: [bare_encode(frame.command, frame.headers, frame.payload) for _ in range(count)])  # noqa: B023
        read = timed(lambda: Decoder(frames.Grammar()).feed(stream))  # noqa: B023
        plain = timed(lambda: bare_decode(stream))  # noqa: B023
        print(f"payload {size:6}: encode {ours / count * 1e6:7.2f} us ({100 * bare / ours:3.0f} % of bare), "
              f"decode {read / count * 1e6:7.2f} us ({100 * plain / read:3.0f} % of bare)")  # fmt: skip


if __name__ == "__main__":
    main()
