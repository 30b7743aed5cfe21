"""What a STOMP client is held to: what it sends for what it was asked to do, and what it reports."""

from __future__ import annotations

from specs.stomp.client import (  # noqa: F401 - they fill the book
    duties,
    effects,
    forms_connect,
    forms_frames,
    forms_reports,
    forms_sends,
)
from specs.stomp.client.book import BOOK
from specs.stomp.client.machine import MACHINE
from specs.stomp.client.model import ClientModel

__all__ = ["BOOK", "MACHINE", "ClientModel"]
