"""What to try on bolts, spouts and their hosts."""

from strategies.storm.discovery import discover

__all__ = ["discover"]
