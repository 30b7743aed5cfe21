"""A MessagePack codec, told what to do. Write what is still to be written; `wireproof check` says what is missing.
It is a filter: lines of hex in, lines of hex out."""

import kit


def again(octets):
    """Decode octets that are one value, encode it again, and give the octets; raise for what is refused."""
    raise kit.Todo("again")


if __name__ == "__main__":
    kit.serve_filter(again)
