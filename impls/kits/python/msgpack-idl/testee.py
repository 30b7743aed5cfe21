"""A processor of the MessagePack IDL, told what to do. Write what is still to be written; `wireproof check` says
what is missing. The tree and the errors are written as docs/testees.md says."""

import kit


def parse(given):
    """Parse the document source in the profile; answer its tree as ast, or errors with kind, code, line, col and
    message."""
    raise kit.Todo("parse")


OPS = {
    "parse": parse,
}

if __name__ == "__main__":
    kit.serve(OPS)
