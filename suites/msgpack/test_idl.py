"""Processors of the interface language. Source: 004_4ca5b084f7ea0751.txt, all sections."""

import pytest

from strategies.msgpack import idl

ROLES = ("idl",)


@pytest.mark.weight(3)
def test_documents(hunt):
    """Documents of every kind, in every layout."""
    hunt(idl.documents(), idl.legal)


@pytest.mark.weight(2)
def test_types(hunt):
    """Messages, exceptions, aliases."""
    hunt(idl.documents("message", "exception", "typedef", most=3), idl.legal)


@pytest.mark.weight(2)
def test_services(hunt):
    """Services, their versions, interfaces, applications."""
    hunt(idl.documents("service", "interface", "application", "exception", most=4), idl.legal)


@pytest.mark.weight(4)
def test_mutations(hunt):
    """Documents with one fault, whichever."""
    hunt(idl.documents(most=3), idl.wrong)


def test_faults_of_types(hunt):
    """Fields and types that are wrong."""
    names = (
        "duplicate id", "duplicate name", "two modifiers", "late modifier", "nullable twice", "bad id", "no id",
        "unknown type", "type arguments", "arguments of what takes none",
        "container without arguments", "void value",
        "endless message", "name twice", "built-in name",
    )  # fmt: skip
    hunt(idl.documents("message", "exception", "typedef", most=2), idl.mutating(*names))


def test_faults_of_exceptions(hunt):
    """Bases that are wrong, and ids that belong to them."""
    names = ("bad base", "two bases", "id of the base", "id of a far base", "base cycle", "inherited name")
    hunt(idl.documents("message", "exception", most=2), idl.mutating(*names))


@pytest.mark.weight(2)
def test_faults_of_words(hunt):
    """A word is missing, there twice, in the place of the next one, or stuck to it, or in other letters."""
    names = (
        "word dropped", "word doubled", "words swapped", "words glued", "word in other letters", "cut",
        "default without sign",
    )  # fmt: skip
    hunt(idl.documents(most=2), idl.mutating(*names))


@pytest.mark.weight(2)
def test_faults_of_services(hunt):
    """Services, functions and applications that are wrong."""
    names = (
        "service twice", "bad version", "function twice", "argument twice", "argument without id", "commas", "throws",
        "throws twice",
        "function without type", "function without parentheses", "entry without scope", "entry with early default",
        "entry of another version", "entry of another service", "scope twice", "two defaults",
    )  # fmt: skip
    hunt(idl.documents("service", "application", most=2), idl.mutating(*names))


def test_faults_of_extensions(hunt):
    """Defaults, aliases, foreign types, interfaces and scopes that are wrong, where they are claimed."""
    names = (
        "open comment", "stray closer", "default of another type", "default out of range", "default null",
        "default of a container", "alias cycle", "alias of nothing", "alias of void", "typespec of nothing",
        "no interface", "interface clash", "interface implements", "scope _", "service BuiltInService",
    )  # fmt: skip
    hunt(idl.documents("message", "service", most=2), idl.mutating(*names))


def test_lines(hunt):
    """Where the fault of a plain document is said to be."""
    hunt(idl.documents("message", most=5), idl.lines)


@pytest.mark.weight(0.7)
def test_forgetting(hunt):
    """What one document declares is unknown to the next."""
    hunt(idl.documents(most=5), idl.forgetting)


@pytest.mark.weight(0.5)
def test_repeating(hunt):
    """One document, again and again."""
    hunt(idl.documents(most=2), idl.repeating)


@pytest.mark.weight(0.7)
def test_open_points(hunt):
    """What may be refused, and must be read rightly by whoever takes it."""
    hunt(idl.documents(), idl.shuffled)


@pytest.mark.weight(0.5)
def test_hostile_documents(hunt):
    """Depth, length, and what is no document."""
    hunt(idl.hostilities(), idl.hostile)
