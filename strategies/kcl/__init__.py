"""What to try on children and hosts of KCL MultiLang."""

from strategies.kcl.discovery import discover

__all__ = ["discover"]
