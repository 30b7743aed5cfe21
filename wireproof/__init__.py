"""Wireproof as it is installed: the command `wireproof`. The version of the suite stands here and nowhere else.

The suite itself keeps the names that it has in the checkout (`specs`, `suites`, ...). They are too common to be
installed beside the packages of other people, so the wheel carries them below `wireproof/tree`, and the command puts
that folder on the path of its own process.
"""

__version__ = "0.1.0"
