"""What the name of a topic says of it.

Source: 001_c0ea8805bb7ed422.txt, "Topic lookup", and what a manifest declares.
"""

from __future__ import annotations

from specs.pulsar.states import Config


def fate(topic: str) -> str:
    """ "good", "bad" for what no reading takes for a topic, or "either"."""
    scheme, colon, rest = topic.partition("://")
    if not topic or (colon and scheme not in ("persistent", "non-persistent")):
        return "bad"
    parts = rest.split("/")
    good = scheme == "persistent" and len(parts) == 3 and all(parts) and rest.isprintable() and " " not in rest
    return "good" if good else "either"


def denied(config: Config, topic: str) -> bool:
    """True for a topic that may not be published to."""
    return _declared(config.denied, topic)


def terminated(config: Config, topic: str) -> bool:
    """True for a topic that takes no messages."""
    return _declared(config.terminated, topic)


def _declared(pattern: str, topic: str) -> bool:
    return bool(pattern) and topic.rpartition("/")[2].startswith(pattern.partition("{")[0])
