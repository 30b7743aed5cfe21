"""`python -m wireproof` is the command `wireproof`."""

import sys

from wireproof.cli import main

if __name__ == "__main__":
    sys.exit(main())
