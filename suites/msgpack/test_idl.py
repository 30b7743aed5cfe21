"""Processors of the interface language. Source: 004_4ca5b084f7ea0751.txt, all sections."""

from strategies.msgpack import idl
from suites.table import hunts

ROLES = ("idl",)

test_documents = hunts("Documents of every kind, in every layout.", idl.documents(), idl.legal, 3)
test_types = hunts(
    "Messages, exceptions, aliases.", idl.documents("message", "exception", "typedef", most=3), idl.legal, 2
)
test_services = hunts(
    "Services, their versions, interfaces, applications.",
    idl.documents("service", "interface", "application", "exception", most=4),
    idl.legal,
    2,
)
test_alike = hunts("Documents of what is easily taken for the same.", idl.alikes(), idl.alike, 0.5)
test_comments = hunts("Documents full of comments.", idl.documents(most=5), idl.commented)
test_mutations = hunts("Documents with one fault, whichever.", idl.documents(most=3), idl.wrong, 4)
test_faults_of_types = hunts(
    "Fields and types that are wrong.",
    idl.documents("message", "exception", "typedef", most=2),
    idl.mutating(
        "duplicate id",
        "duplicate name",
        "two modifiers",
        "late modifier",
        "nullable twice",
        "bad id",
        "digits of another script",
        "no id",
        "unknown type",
        "type arguments",
        "arguments of what takes none",
        "container without arguments",
        "void value",
        "endless message",
        "name twice",
        "built-in name",
    ),
)
test_faults_of_exceptions = hunts(
    "Bases that are wrong, and ids that belong to them.",
    idl.documents("message", "exception", most=2),
    idl.mutating("bad base", "two bases", "id of the base", "id of a far base", "base cycle", "inherited name"),
)
test_faults_of_words = hunts(
    "A word is missing, there twice, in the place of the next one, or stuck to it, or in other letters.",
    idl.documents(most=2),
    idl.mutating(
        "word dropped",
        "word doubled",
        "words swapped",
        "words glued",
        "word in other letters",
        "cut",
        "default without sign",
    ),
    2,
)
test_faults_of_services = hunts(
    "Services, functions and applications that are wrong.",
    idl.documents("service", "application", most=2),
    idl.mutating(
        "service twice",
        "bad version",
        "function twice",
        "argument twice",
        "argument without id",
        "commas",
        "throws",
        "throws twice",
        "function without type",
        "function without parentheses",
        "entry without scope",
        "entry with early default",
        "entry of another version",
        "entry of another service",
        "scope twice",
        "two defaults",
    ),
    2,
)
test_faults_of_extensions = hunts(
    "Defaults, aliases, foreign types, interfaces and scopes that are wrong, where they are claimed.",
    idl.documents("message", "service", most=2),
    idl.mutating(
        "open comment",
        "stray closer",
        "default of another type",
        "default out of range",
        "default null",
        "default of a container",
        "alias cycle",
        "alias of nothing",
        "alias of void",
        "typespec of nothing",
        "no interface",
        "interface clash",
        "interface implements",
        "scope _",
        "service BuiltInService",
    ),
)
test_widths = hunts(
    "The ends of every type of integers as defaults, and the numbers behind them.", idl.widths(), idl.bounds
)
test_lines = hunts("Where the fault of a plain document is said to be.", idl.documents("message", most=5), idl.lines)
test_forgetting = hunts(
    "What one document declares is unknown to the next.", idl.documents(most=5), idl.forgetting, 0.7
)
test_breaking_off = hunts(
    "Documents that break off somewhere, and behind each a plain one.", idl.documents(most=3), idl.broken_off, 0.7
)
test_repeating = hunts("One document, again and again.", idl.documents(most=2), idl.repeating, 0.5)
test_open_points = hunts(
    "What may be refused, and must be read rightly by whoever takes it.", idl.documents(), idl.shuffled, 0.7
)
test_hostile_documents = hunts("Depth, length, and what is no document.", idl.hostilities(), idl.hostile, 0.5)
