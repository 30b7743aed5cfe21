"""What a client has still to do, and what its silence means."""

from __future__ import annotations

from collections.abc import Iterator

from specs.events import Quiet
from specs.model import Allow, Breach, Outcome
from specs.pulsar.client.state import ClientState, blame, ids


def due(state: ClientState) -> Iterator[tuple[str, str, str]]:
    """What the client has still to say or do: the rule, why, and what else it breaks."""
    if state.hung is not None:
        yield state.hung
    if state.left and not state.told:
        return
    waiting = state.waits
    for number, line in state.lines.items():
        if line.pings and not line.over and not line.odd:
            yield "KA-01", f"PING on connection {number} was not answered", "KA-09"
        if line.must and not line.over:
            yield line.must, f"connection {number} stays open: {line.odd}", ""
    if state.doubt or state.beyond or (state.told and state.too_large(*state.told[0])):
        waiting = True
    if state.told and not waiting and not state.lacks_receipt:
        op = state.told[0][0]
        yield ("FLOW-08" if op == "receive" else "CONN-01"), f"{op}: nothing follows", "REQ-03 LOOK-04 LOOK-05 PROD-01"
    stuck = [op for op, _ in state.told] in (["send"], ["await"])  # it waits for a receipt of what it has to send again
    if not waiting and not state.left and (stuck or not state.told):
        for end in state.ends:
            if stuck and end.phase != "open":
                continue
            back = end.forced or any(line.greeted and number > end.line for number, line in state.lines.items())
            if end.kind == "producer" and end.cut and not (end.resend or stuck):
                continue  # it may come back when there is something to send
            if end.phase == "lost" and back:  # whoever hung up by himself may be where the plan does not look
                rule = "SUB-03" if end.kind == "consumer" else "CLP-06"
                yield rule, f"a {end.kind} on {end.topic} was not created again", "CLC-02 SUB-03 CLP-06"
            elif end.phase == "open" and end.resend:
                yield "SEND-14", f"the message {end.resend[0]} was not sent again", "SEND-03"
    for mid, _, rule in state.refused:
        should, must = rule.split()
        if not state.left:
            yield should, f"the message {mid} was not refused", must
    if state.unacked and not state.left and not any(end.phase == "lost" for end in state.ends) and not waiting:
        yield "ACK-13", f"the application's acknowledgement of {state.unacked[0][0]} was not sent", "VER-06"
    if (
        state.payloads
        and not waiting
        and not state.told
        and not state.odd
        and not any(end.phase != "open" for end in state.ends)
    ):
        yield "FRM-15", "a message that the application sent was not sent", "SEND-01"
    for end in state.ends:
        if end.kind == "consumer" and end.phase == "open" and not end.granted and not state.odd and not state.left:
            yield "FLOW-07", f"no permits for {end.topic}", "SUB-03"
        spent = end.pushed and end.granted <= end.pushed and not any(item[3] for item in end.queue)
        if end.kind == "consumer" and end.phase == "open" and spent and not (state.odd or state.left or state.doubt):
            yield "FLOW-07", f"all messages were taken, and no more were permitted for {end.topic}", ""


def quiet(state: ClientState, event: Quiet) -> Outcome:
    """Nothing was said for a while."""
    keepalive = state.config.keepalive_ms
    state = state._replace(idle=state.idle + event.elapsed)
    for number, line in state.lines.items():
        line = line._replace(low=line.low + event.ms)  # noqa: PLW2901
        state = state.put(number, line)
        if keepalive and line.probe and not line.over and line.low > 2 * keepalive + 1000:
            return blame("KA-08", f"the client's PING was not answered for {line.low} ms, the connection is open")
    return _silent(state) if event.final else Allow(state)


def _silent(state: ClientState) -> Outcome:
    lapses: list[Breach] = []
    for rule, why, also in due(state):
        if rule in ("INV-CLIENT-19", "FRM-10", "SEND-15"):
            return blame(rule, why)
        if rule in ("CHK-07", "BAT-09", "CMP-03", "FLOW-07", "CMP-02"):
            level = "SHOULD"
            lapses.append(blame(rule, why, state._replace(refused=()), level=level))
            state = state._replace(refused=())
            continue
        return blame(rule, why, also=also)
    covers = ids("KA-01 SUB-03") if state.ends else ()
    covers += ids(" ".join(sorted(state.tried)))
    covers += ids("KA-07")
    covers += ids("KA-06") if state.config.keepalive_ms and any(line.pinged for line in state.lines.values()) else ()
    covers += ids("FRM-06") if len(state.ends) > 1 else ()
    if any(line.welcomed and not line.version for line in state.lines.values()):
        covers += ids("VER-04")
    return Allow(state, covers, tuple(lapses[:1]))
