"""The bolt and spout of on_pystorm, as streamparse 5.0.1 runs them: `-m streamparse.run on_streamparse.ParsedBolt`."""

from __future__ import annotations

from on_pystorm import ScriptedBolt, ScriptedSpout
from streamparse import Bolt, Spout


class ParsedBolt(ScriptedBolt, Bolt):  # type: ignore[misc]
    """Scripted user code."""


class ParsedSpout(ScriptedSpout, Spout):  # type: ignore[misc]
    """Scripted user code."""
