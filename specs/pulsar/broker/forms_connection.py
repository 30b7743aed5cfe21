"""What a broker says on any connection: frames, the handshake, signs of life, and how a connection ends.

Source: 001_c0ea8805bb7ed422.txt, "Framing", "Connection establishment" and "Keep Alive".
"""

from __future__ import annotations

from specs.pulsar.broker.book import BOOK
from specs.pulsar.broker.case import Case
from specs.pulsar.broker.causes import ANY_CLIENT, ENDED, ENDING, GARBAGE, IN_ANY_CASE, SIGNS, robustness, unusual
from specs.pulsar.broker.commands import FROM_BROKER, SINCE
from specs.pulsar.broker.duties import ANSWERED
from specs.pulsar.calls import SURVIVES, Misuse, Trait
from specs.pulsar.frames import NOBODY
from specs.pulsar.machine import HANDSHAKE, TALKING, Phase
from specs.pulsar.schema import schema
from specs.pulsar.states import CLOSES, RETRY
from specs.rules import Broken

SLACK_MS = 1000
"""What is added to a keep-alive interval before anybody is blamed for being late."""
EARLY_MS = 100
"""How much sooner than we can tell a keep-alive interval may have run out for the broker."""
OLD_CLIENT = 10
"""ServerError.UnsupportedVersionError."""
NEWER = "PULSAR-VER-01"
CLOSES_THE_SILENT = "PULSAR-KA-04 PULSAR-INV-BROKER-43"
form = BOOK.form

# -- frames ------------------------------------------------------------------------------------------------------------


def _garbled(case: Case, *why: str) -> bool:
    return case.frame is None and case.event is not None and case.event.why in why


def _swapped(case: Case) -> bool:
    """True for a size that is right when it is read backwards."""
    data = case.event.data
    return len(data) >= 4 and int.from_bytes(data[:4], "little") + 4 <= max(len(data), 64)


@form("PULSAR-FRM-01", on="frame, garbles")
def sizes_are_big_endian(case: Case) -> str:
    """Each frame starts with a size of 4 octets, big-endian (seed, "Framing")."""
    wrong = _garbled(case, "over-limit") and _swapped(case)
    return "the size of a frame is right only when it is read backwards" if wrong else ""


@form("PULSAR-FRM-09", on="frame, garbles")
def frames_are_within_the_limit(case: Case) -> str:
    """A frame has at most 5 MB (seed, "Framing")."""
    return "a frame is larger than frames may be" if _garbled(case, "over-limit") else ""


@form("PULSAR-FRM-02", on="frame, garbles")
def commands_lie_within_their_frame(case: Case) -> str:
    """CMD_SIZE is the length of the serialised command (seed, "Simple command")."""
    return "CMD_SIZE is larger than its frame" if _garbled(case, "command-size") else ""


@form("PULSAR-CONN-10", on="CONNECTED, garbles")
def server_version_is_present(case: Case) -> str:
    """server_version is a string that identifies the broker's version (seed, "Connect"). An empty one is a string."""
    if case.frame is not None or case.event.why != "no-command":
        return ""
    try:
        command = schema.BaseCommand.FromString(case.event.data[8 : 8 + int.from_bytes(case.event.data[4:8], "big")])
    except Exception:  # noqa: BLE001 - whatever the library does not understand is no CONNECTED
        return ""
    wrong = command.HasField("connected") and not command.connected.HasField("server_version")
    return "CONNECTED without a server_version" if wrong else ""


@form("PULSAR-FRM-05", on="frame, garbles")
def exactly_the_named_sub_message_is_set(case: Case) -> str:
    """Only one sub-message is set, and `type` names it (seed, introduction)."""
    if case.frame is None:
        return f"the broker sent octets that are no frame: {case.event.why}"
    return "" if case.frame.whole else f"{case.kind} with more than one sub-message"


@form("PULSAR-FRM-03", on="frame", unless=lambda case: case.kind == "MESSAGE")
def nothing_stands_behind_a_simple_command(case: Case) -> str:
    """TOTAL_SIZE is CMD_SIZE + 4 (seed, "Simple command")."""
    return f"{case.kind} with octets behind the command" if case.frame is not None and case.frame.odd else ""


def _versioned(case: Case) -> bool:
    return case.phase in TALKING or case.kind == "AUTH_CHALLENGE"


@form("PULSAR-VER-05", on="frame", when=TALKING, if_=lambda case: case.kind in ("CLOSE_PRODUCER", "CLOSE_CONSUMER"))
def old_clients_are_not_told_of_closed_producers(case: Case) -> str:
    """Below version 5 a client cannot be told: the broker closes the connection (seed, "CloseProducer")."""
    version = case.conn.version
    return f"{case.kind} to a client of version {version}" if version < CLOSES else ""


@form("PULSAR-VER-04", on="frame", when=TALKING, if_=lambda case: case.conn.version == 0 and case.kind != "PONG")
def a_client_without_a_version_is_of_version_0(case: Case) -> str:
    """An absent protocol_version is 0 (seed, "Connect")."""
    return f"{case.kind} to a client of version 0" if SINCE.get(case.kind, 0) > 0 else ""


@form(NEWER, on="frame", if_=_versioned)
def nothing_newer_than_the_client_is_said(case: Case) -> str:
    """No command newer than the version of the client is sent to it (seed, "Connect")."""
    assert case.frame is not None
    if case.kind not in FROM_BROKER:
        return f"{case.kind} from a broker"
    if case.frame.broker is not None and case.conn.version < 18:
        return "broker entry metadata to a client below version 18"
    old = case.conn.version < SINCE.get(case.kind, 0) and case.kind != "PONG"
    return f"{case.kind} to a client of version {case.conn.version}" if old else ""


# -- the handshake -----------------------------------------------------------------------------------------------------


@BOOK.freedom("P-45")
def it_may_ask_for_patience(case: Case) -> bool:
    """ServiceNotReady and TooManyRequests refuse nothing for good (the text is silent)."""
    return case.failed[1] in RETRY


@BOOK.freedom("P-30")
def another_address_may_be_meant_for_others(case: Case) -> bool:
    """Who is there at the address that a lookup names, the text does not say (seed, "LookupResponse")."""
    return bool(case.conn.place)


LIBERTIES = (it_may_ask_for_patience, another_address_may_be_meant_for_others)


def _for_no_reason(case: Case) -> bool:
    """True for an ERROR to a CONNECT in which nothing is wrong."""
    return case.kind == "ERROR" and case.body.error != OLD_CLIENT


def _welcome(case: Case) -> bool:
    return case.conn.hello == "success"


@form(ANY_CLIENT, on="CONNECTED, refuses", if_=lambda case: _welcome(case) and unusual(case.conn.client),
      freed_by=LIBERTIES)  # fmt: skip
def any_client_version_is_taken(case: Case) -> str:
    """The format of client_version is not enforced (seed, "Connect")."""
    wrong = _for_no_reason(case)
    return f"a client that calls itself {case.conn.client!r:.60} was refused: error {case.body.error}" if wrong else ""


@form(HANDSHAKE, on="refuses", if_=_welcome, freed_by=LIBERTIES)
def a_valid_connect_is_not_refused(case: Case) -> str:
    """Valid CONNECT is answered CONNECTED (seed, "Connect")."""
    wrong = _for_no_reason(case)
    return f"CONNECT was refused: error {case.body.error} {case.body.message!r:.200}" if wrong else ""


def _refusal(case: Case) -> bool:
    return case.conn.hello == "refusal"


@form(Misuse.CREDENTIALS.requirement, on="CONNECTED, refuses", also=" ".join(Misuse.CREDENTIALS.beside), if_=_refusal)
def bad_credentials_are_refused(case: Case) -> str:
    """Credentials that are not valid are answered ERROR (seed, "Connect")."""
    return "bad credentials were accepted" if case.kind == "CONNECTED" else ""


@form("PULSAR-CONN-05", on="refuses", if_=_refusal)
def bad_credentials_are_called_so(case: Case) -> str:
    """That ERROR has the request id -1 and AuthenticationError (practice)."""
    name, error = case.body.request_id, case.body.error
    wrong = name != NOBODY or error != 3
    return f"bad credentials were answered with request id {name}, error {error}" if wrong else ""


@form("PULSAR-VER-03", on="CONNECTED")
def the_lower_version_is_agreed_on(case: Case) -> str:
    """CONNECTED names the lower one of both versions (practice)."""
    named, version = case.body.protocol_version, case.conn.version
    return f"CONNECTED with version {named} to a client of {version}" if named > version else ""


@form(HANDSHAKE, on="AUTH_CHALLENGE")
def nobody_is_challenged_without_a_login(case: Case) -> str:
    """Where no login is configured, CONNECT is answered CONNECTED."""
    return "" if case.before.config.auth else "AUTH_CHALLENGE where no login is configured"


# -- signs of life -----------------------------------------------------------------------------------------------------


@form(ANSWERED, on="PONG", when=TALKING)
def a_pong_answers_a_ping(case: Case) -> str:
    """The broker answers PING with PONG: one for each (seed, "Keep Alive")."""
    return "" if case.conn.pings else "PONG without a PING"


def _keepalive(case: Case) -> int:
    return case.before.config.keepalive_ms


def _silent(case: Case, for_ms: int) -> bool:
    """True once a client of which nothing is heard for so long must have been noticed."""
    conn = case.conn
    return conn.phase is Phase.LIVE and conn.version >= 1 and not conn.may_close and conn.low > for_ms + SLACK_MS


def _unasked(case: Case) -> bool:
    return case.frame is not None or _silent(case, 2 * _keepalive(case))


@form("PULSAR-KA-03", on="PING, time", if_=lambda case: _keepalive(case) and _unasked(case))
def pings_come_now_and_then(case: Case) -> str:
    """The broker sends PING periodically to clients of version 1 or newer (seed, "Keep Alive")."""
    late = case.frame is None and not case.conn.pinged
    return f"no PING on the connection {case.number} in {case.conn.low} ms" if late else ""


def _unheard(case: Case) -> bool:
    conn = case.conn
    config = case.before.config
    ended = case.event is not None and conn.up + EARLY_MS >= config.soonest_ms
    return bool(config.keepalive_ms and conn.pinged and (ended or _silent(case, config.latest_ms)))


@form(CLOSES_THE_SILENT.split(maxsplit=1)[0], on="ends, time", also=CLOSES_THE_SILENT.split()[1], if_=_unheard)
def who_gives_no_sign_of_life_is_closed(case: Case) -> str:
    """Without a sign of life within the timeout the connection ends (seed, "Keep Alive")."""
    open_still = case.event is None
    return f"the connection {case.number} is open after {case.conn.low} ms without a sign of life" if open_still else ""


def _wordless(case: Case) -> bool:
    config = case.before.config
    limit = config.soonest_ms // 2 if case.event is not None else config.latest_ms + SLACK_MS
    return bool(
        config.keepalive_ms and case.phase is Phase.NEW and (case.conn.up if case.event else case.conn.low) > limit
    )


@form("PULSAR-CONN-11", on="ends, time", if_=_wordless)
def who_says_nothing_is_closed(case: Case) -> str:
    """Without CONNECT within the keep-alive interval the connection ends (practice)."""
    open_still = case.event is None
    return f"a connection on which nothing was said is open after {case.conn.low} ms" if open_still else ""


# -- the end -----------------------------------------------------------------------------------------------------------

_SURVIVED = tuple(each for each in Misuse if each.liberty == SURVIVES)


def _survivable(case: Case) -> bool:
    conn = case.conn
    return conn.must_close is None and conn.may_close is not None and conn.may_close.liberty == SURVIVES


@form(" ".join(each.requirement for each in _SURVIVED), on="ends", if_=_survivable,
      which=lambda case: case.conn.may_close.requirement)  # fmt: skip
def what_can_be_survived_does_not_end_a_connection(case: Case) -> Broken:
    """What has no effect does no harm (practice)."""
    assert case.conn.may_close is not None
    return Broken(f"the broker closed the connection after {case.conn.why}", also=case.conn.may_close.beside,
                  level="SHOULD")  # fmt: skip


@BOOK.freedom("P-88")
def it_may_have_gone_before_it_heard(case: Case) -> bool:
    """A sign of life that comes as the timeout runs out may cross the end (seed, "Keep Alive")."""
    conn, keepalive = case.conn, case.before.config.soonest_ms
    crossing = conn.unread > conn.synced and conn.since <= min(SLACK_MS, keepalive // 2)
    return crossing and conn.rest + conn.since + EARLY_MS >= keepalive > 0


def _unprovoked(case: Case) -> bool:
    """True where nothing explains that the broker ends a connection; at rest, where it had time to end one."""
    conn, state, keepalive = case.conn, case.before, case.before.config.keepalive_ms
    if case.event is None:
        there = (each for each in state.conns.values() if each.phase is Phase.LIVE and each.version)
        return bool(keepalive) and any(each.age > 2 * keepalive for each in there)
    keepalive = state.config.soonest_ms
    if conn.must_close or conn.may_close or (conn.place and conn.phase in (Phase.NEW, Phase.ASKED)):
        return False
    if case.number not in state.conns or (conn.phase is Phase.NEW and (not keepalive or conn.up >= keepalive // 2)):
        return False
    if conn.pinged and (not keepalive or conn.up + EARLY_MS >= keepalive):
        return False  # nobody knows how long it waits for a sign of life, or it has waited
    if conn.version < 4 and any(entry.batched or Trait.COMPRESSED in entry.traits for entry in state.entries):
        return False  # it cannot be told what is there for it
    if conn.version < 1 and keepalive and conn.up + EARLY_MS >= keepalive:
        return False  # who must not be asked for a sign of life may be taken for dead
    return not (conn.midway and (not keepalive or conn.up + EARLY_MS >= keepalive))


def _after_a_strange_ack(case: Case) -> bool:
    """True where an ACK of what is unknown, or known already, is all that could have ended a connection; at rest, where
    one that has consumers is still there."""
    if Misuse.STRANGE_ACK not in case.before.said:
        return False
    if case.event is None:
        return any(each.phase is Phase.LIVE and each.consumers for each in case.before.conns.values())
    return bool(case.conn.consumers) and not any(case.conn.requests.values()) and _unprovoked(case)


@form(Misuse.STRANGE_ACK.requirement, on="ends, rest", if_=_after_a_strange_ack,
      freed_by=(it_may_have_gone_before_it_heard,))  # fmt: skip
def strange_acks_do_no_harm(case: Case) -> Broken | str:
    """An ACK of what is unknown, or known already, has no effect (follows from the seed, "Ack")."""
    if case.event is None:
        return ""
    others = Misuse.ACK_OF_OTHERS in case.before.said
    return Broken(f"{ENDING}: a strange ACK was said", steady=_untold(case), otherwise=IN_ANY_CASE,
                  also=(Misuse.ACK_OF_OTHERS.requirement,) if others else ())  # fmt: skip


def _untold(case: Case) -> bool:
    """True on a connection that is too old to be told that what it has open was closed."""
    return case.conn.version < CLOSES and bool(case.conn.producers or case.conn.consumers)


@form(SIGNS, on="ends, rest", if_=_unprovoked, freed_by=(it_may_have_gone_before_it_heard,), causes=ENDED)
def a_connection_stays_on_which_nothing_is_wrong(case: Case) -> Broken | str:
    """Who answers is not closed (seed, "Keep Alive"). Who is too old to be told that the broker closed what it has open
    loses the connection: always is not that."""
    return "" if case.event is None else Broken(ENDING, steady=_untold(case))


# -- at rest -----------------------------------------------------------------------------------------------------------


def _alive(misuse: Misuse) -> None:
    @form(robustness(misuse), on="rest, taken", if_=lambda case: misuse in case.before.said
          and (case.event is None or case.before.latest is misuse))  # fmt: skip
    def the_broker_is_there_after_what_was_wrong(case: Case) -> str:
        """Whatever one client says, the broker is there for others (practice)."""
        return f"the broker takes no more connections: {case.event.value!s:.200}" if case.event is not None else ""


for _misuse in Misuse:
    if _misuse not in GARBAGE:
        _alive(_misuse)


@form(Misuse.NO_FRAME.requirement, on="rest, taken", if_=lambda case: not GARBAGE.isdisjoint(case.before.said))
def garbage_does_not_end_the_broker(case: Case) -> str:
    """A frame that cannot be parsed ends the connection, and not the broker."""
    return f"the broker takes no more connections: {case.event.value!s:.200}" if case.event is not None else ""


@form(HANDSHAKE, on="taken", unless=lambda case: case.before.latest is not None)
def connections_are_taken(case: Case) -> str:
    """The client opens a connection, and CONNECT is answered (seed, "Connection establishment")."""
    return f"the broker takes no more connections: {case.event.value!s:.200}"
