"""The references for Pulsar, each against the other."""

from __future__ import annotations

import pytest

from impls.references.pulsar.client_memory import Client, SeedClient
from impls.references.pulsar.reference import Broker, Seed

# --- each against the other -----------------------------------------------------------------------------------------


class Pair:
    """The reference client in front of the reference broker."""

    def __init__(self, client, broker) -> None:
        self.client, self.broker = client, broker
        self.talks, self.sessions = [client.open()], {}
        self.answers = []

    def pump(self) -> None:
        moved = True
        while moved:
            moved = False
            while len(self.talks) < len(self.talks[0].caller.channels):
                self.talks.append(self.client.open())
            for place, talk in enumerate(self.talks):
                if talk.channel is None:
                    continue
                if place not in self.sessions:
                    self.sessions[place] = self.broker.open()
                session = self.sessions[place]
                if data := talk.take():
                    session.send(data)
                    moved = True
                elif talk.closed and not session.hung:
                    session.hang_up()
                    moved = True
                if (data := session.take()) and not talk.closed:
                    talk.send(data)
                    moved = True
                elif session.closed and not talk.channel.hung_up:
                    talk.channel.received(b"")
                    moved = True
            for name, answer in self.talks[0].facts():
                if name == "answer":
                    self.answers.append(answer)
                    moved = True

    def do(self, op, **given):
        expected = len(self.answers) + 1
        self.talks[0].do(op, given)
        for _ in range(30_000):
            self.pump()
            if len(self.answers) == expected:
                break
            self.client.advance(1)
            self.broker.advance(1)
        answer = self.answers[expected - 1]
        assert "ok" in answer, (op, answer)
        return answer["ok"]


@pytest.mark.parametrize("partition", ["", "part-3-"])
@pytest.mark.parametrize("seed", range(16))
def test_client_and_broker_agree_whatever_their_switches(seed, partition):
    profile = (Client, Broker) if seed % 2 else (SeedClient, Seed)
    pair = Pair(profile[0].random(seed), profile[1].random(seed, unloads="never"))
    topic = f"persistent://public/default/{partition}t"
    pair.do("connect", url="pulsar://127.0.0.1:6650")
    producer = pair.do("producer", topic=topic, name=None)
    kind = "Shared" if seed % 3 else "Exclusive"
    consumer = pair.do("subscribe", topic=topic, subscription="s", type=kind, name="n", permits=3)
    handles = [
        pair.do(
            "send_async", producer=producer, payload_hex="61" * n, key="k" if n % 2 else None, properties={"n": str(n)}
        )
        for n in range(7)
    ]
    assert len({pair.do("await", handle=handle) for handle in handles}) == 7
    first = [pair.do("receive", consumer=consumer, timeout_ms=2000) for _ in range(7)]
    assert sorted((each["properties"]["n"], each["payload_hex"]) for each in first) == [
        (str(n), "61" * n) for n in range(7)
    ]
    for each in first[::2]:
        pair.do("ack", consumer=consumer, ref=each["ref"], cumulative=False)
    pair.do("receive", consumer=consumer, timeout_ms=200)
    pair.do("redeliver", consumer=consumer)
    missing = {each["properties"]["n"] for each in first[1::2]}
    while missing:
        again = pair.do("receive", consumer=consumer, timeout_ms=2000)
        missing.discard(again["properties"]["n"])
        pair.do("ack", consumer=consumer, ref=again["ref"], cumulative=False)
    for talk in pair.talks:
        talk.do("drop", None)
    pair.do("send", producer=producer, payload_hex="ff", key=None, properties={"n": "last"})
    while (found := pair.do("receive", consumer=consumer, timeout_ms=2000))["properties"]["n"] != "last":
        pair.do("ack", consumer=consumer, ref=found["ref"], cumulative=False)
    pair.do("close", producer=producer)
    pair.do("close", consumer=consumer)
    pair.do("disconnect")
