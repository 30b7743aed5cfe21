"""What a running plan learns of a client, and the plan that must work before anything is judged."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from specs.events import Event, Fact, Said
from specs.plan import Control, Plan, Ref, Say, SendBytes, Wait
from specs.protocol import Memory
from specs.stomp.client.case import Reported, Case
from specs.stomp.client.effects import a_command_was_answered, a_subscription_is_open
from specs.stomp.client.effects_said import said
from specs.stomp.client.effects_told import told
from specs.stomp.client.machine import CONNECTS
from specs.stomp.client.model import ClientModel
from specs.stomp.client.state import ClientState
from specs.stomp.frames import Frame, Style
from specs.stomp.states import Config

ABSENT = "\0absent"
