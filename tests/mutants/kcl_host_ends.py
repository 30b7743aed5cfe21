"""Faulty hosts: the end of the child in each action, and what stands beside the number of a checkpoint."""

from __future__ import annotations

from typing import Any

from impls.references.kcl.host import Host, Hosts, Session
from strategies.kcl.hosting import Writer
from tests.mutants.faults import on
from tests.mutants.kcl_kit import host

SEQ, NEW = "kcl1-seq", "kcl3"


class _Inattentive(Session):
    """Looks at the end of its child between two calls only."""

    def do(self, name: str, value: Any) -> bool:
        open_ = bool(self.host.action) and not self.host.final
        return (name in ("exit", "kill") and open_) or super().do(name, value)

    def hang_up(self) -> None:
        """The conversation is over."""


class _Inattentives(Hosts):
    session = _Inattentive


def _ended(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.wait(0)
    w.exit(1)


host("end-inside-a-call-unseen", "PROC-09", _ended, sessions=_Inattentives, accept="INV-HOST-14")(
    "The end of the child while a call is open is never seen.", Host
)


def _is_left(self: Host) -> bool:
    return bool(self.gone and self.action and not self.closed and not self.held)


def _over_at_end_of(action: str) -> type:
    return on(Host, "go_on").instead(
        lambda self: self.answer(), when=lambda self: _is_left(self) and self.action == action
    )


def _ended_in_initialize(w: Writer) -> None:
    w.begin()
    w.wait(0)
    w.exit(1)


def _ended_in_request(w: Writer) -> None:
    w.call("shutdownRequested")
    w.wait(0)
    w.exit(0)


host("end-is-success-in-a-batch", "PROC-09", _ended, accept="INV-HOST-14")(
    "A child that ends inside a batch has done it.", _over_at_end_of("processRecords")
)
host("end-is-success-in-initialize", "PROC-09", _ended_in_initialize, accept="INV-HOST-14", begun=False)(
    "A child that ends inside initialize has done it.", _over_at_end_of("initialize")
)
host("end-is-success-when-requested", "PROC-09", _ended_in_request, accept="INV-HOST-14", profile=NEW, level="SHOULD")(
    "A child that ends inside shutdownRequested has done it.", _over_at_end_of("shutdownRequested")
)


def _sub(w: Writer) -> None:
    w.batch([(b"x", "key")])
    w.checkpoint(w.numbers[-1], sub=0)
    w.wait(0)


host("sub-number-0-is-none", "CHECKPOINT-12", _sub, profile=SEQ, level="SHOULD")(
    "The subSequenceNumber 0 of a request is null in the answer.",
    on(Host, "send").takes(
        members=lambda members: (
            {**members, "subSequenceNumber": None}
            if members["action"] == "checkpoint" and members.get("subSequenceNumber") == 0
            else members
        )
    ),
)
