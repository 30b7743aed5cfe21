"""A client that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
`wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md."""

import kit


def connect(given):
    """Make a client of the application app of the document idl, and connect it to address."""
    raise kit.Todo("connect")


def call(given):
    """Call fn of the version in scope with args; answer its result, or the exception that was caught."""
    raise kit.Todo("call")


def disconnect(given):
    """Close the connection."""
    raise kit.Todo("disconnect")


OPS = {
    "connect": connect,
    "call": call,
    "disconnect": disconnect,
}

if __name__ == "__main__":
    kit.serve(OPS)
