"""`python -m tests.mutants`: see `tests.mutants.hunted`."""

import sys

from tests.mutants.hunted import main

if __name__ == "__main__":
    sys.exit(main())
