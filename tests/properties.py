"""The properties of the suites that users run; see `suites.properties`."""

from suites.properties import properties

__all__ = ["properties"]
