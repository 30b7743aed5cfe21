"""The former name of `python -m suites.offline`."""

from __future__ import annotations

import sys

from suites.offline import main

if __name__ == "__main__":
    sys.exit(main())
