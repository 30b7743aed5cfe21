"""A server that is made from a document of the MessagePack IDL, told what to do. Write what is still to be written;
`wireproof check` says what is missing. Values are tagged where JSON has nothing for them: see docs/testees.md."""

import kit


def serve(given):
    """Serve the application of the document idl with the behaviour of its slots; answer the port on 127.0.0.1."""
    raise kit.Todo("serve")


def assign(given):
    """Give the slot another behaviour while it serves."""
    raise kit.Todo("assign")


def stop(given):
    """Stop serving."""
    raise kit.Todo("stop")


OPS = {
    "serve": serve,
    "assign": assign,
    "stop": stop,
}

if __name__ == "__main__":
    kit.serve(OPS)
