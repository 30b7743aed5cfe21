"""Consumer: Subscribe, Flow, Message. Source: 001_c0ea8805bb7ed422.txt."""

from strategies.pulsar import aimed

ROLES = ("broker",)


def test_subscriptions(hunt):
    """Subscriptions of every type that are taken, shared, left and given up."""
    hunt(aimed.SUBSCRIPTIONS.programs, aimed.SUBSCRIPTIONS.interpret)


def test_permits(hunt):
    """Permits in small and large pieces."""
    hunt(aimed.PERMITS.programs, aimed.PERMITS.interpret)


def test_rations(hunt):
    """Consumers with a few permits each, and more messages than that."""
    hunt(aimed.RATIONS.programs, aimed.RATIONS.interpret)


def test_delivery(hunt):
    """What is published is delivered, as it was."""
    hunt(aimed.DELIVERY.programs, aimed.DELIVERY.interpret)


def test_shared(hunt):
    """Many consumers of one subscription."""
    hunt(aimed.SHARED.programs, aimed.SHARED.interpret)


def test_failover(hunt):
    """One consumer receives, the others stand by."""
    hunt(aimed.FAILOVER.programs, aimed.FAILOVER.interpret)


def test_names(hunt):
    """Topics and subscriptions whose names are easily confused."""
    hunt(aimed.TOPIC_NAMES.programs, aimed.TOPIC_NAMES.interpret)
