"""JUnit XML: one case for each requirement, for the machines that draw a build's test results.

A case fails or errs exactly when it is a reason for the run's exit status 1. What failed and was accepted, or is only a
recommendation, is told without failing.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from records.text import printable
from reports import terminal, transcript
from reports.result import Result
from reports.summary import Summary

MAX_TEXT: Final = 2000


def render(summary: Summary, results: Path | None = None) -> str:
    """The document. Every text is printable, so that no character is in it that XML 1.0 forbids.

    `results` is where the traces are; without it failures are told without their conversations.
    """
    protocol = printable(summary.run.protocol or "protocol", 80)
    suite = Element("testsuite", name=f"wireproof {printable(summary.run.impl, 200)}".strip())
    for found in summary.results:
        _requirement(suite, protocol, found, results)
    for stale in summary.stale:
        _case(suite, f"{protocol}.baseline", stale.entry.id, "failure", message=f"stale baseline entry: {stale.why}")
    for entry in summary.expired:
        _case(suite, f"{protocol}.baseline", entry.id, "failure", message="the baseline entry has expired")
    for number, row in enumerate(summary.troubles, 1):
        name = f"{number} {row.where}".strip()
        _case(suite, f"{protocol}.harness", name, "error", message=row.message or "unknown", detail=row.detail)
    if not summary.complete:
        _case(suite, f"{protocol}.harness", "the run is complete", "error", message="the run is incomplete")
    if summary.exit_code and not any(case.find(tag) is not None for case in suite for tag in ("failure", "error")):
        _case(suite, f"{protocol}.harness", "something was judged", "error", message=summary.sentence)
    counts = {"tests": "*", "failures": "*/failure", "errors": "*/error", "skipped": "*/skipped"}
    for name, path in counts.items():
        suite.set(name, str(len(suite.findall(path))))
    suite.set("time", f"{summary.seconds:.3f}")
    root = Element("testsuites")
    root.append(suite)
    indent(root)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _requirement(suite: Element, protocol: str, found: Result, results: Path | None) -> None:
    classname = f"{protocol}.{found.requirement.section or 'requirements'}"
    level = found.failed_as or found.requirement.level
    told = "\n".join(_story(found, results))
    if found.standing == "failed":
        _case(suite, classname, found.id, "failure", message=f"{level}: {found.message}", detail=told)
    elif found.standing == "error":
        _case(suite, classname, found.id, "error", message=found.message, detail=told)
    elif found.standing == "accepted" and found.accepted:
        message = f"known deviation: {found.accepted.reason} ({level}: {found.message})"
        _case(suite, classname, found.id, "skipped", message=message)
    elif found.standing == "warned":
        case = _case(suite, classname, found.id)
        SubElement(case, "system-out").text = _lines(f"warning, {level}: {found.message}\n{told}")
    elif found.standing == "passed":
        case = _case(suite, classname, found.id)
        SubElement(case, "system-out").text = f"judged {found.judged} times"
    else:
        _case(suite, classname, found.id, "skipped", message=found.message)


def _story(found: Result, results: Path | None) -> list[str]:
    """What is known of a failure, one line for each thing."""
    fault = found.fault
    told = [found.requirement.statement, found.requirement.source and f"source: {found.requirement.source}"]
    if fault:
        told.append(fault.expected and f"expected: {fault.expected}")
        told.append(f"came: {found.message}")
        told.append(terminal.seen(fault))
    if found.witness:
        told.append(f"trace: {found.witness}")
        trace = transcript.load(results, found.witness) if results else None
        told += transcript.lines(trace) if trace else []
    return [printable(line, MAX_TEXT) for line in told if line]


def _case(
    suite: Element, classname: str, name: str, outcome: str = "", *, message: str = "", detail: str = ""
) -> Element:
    case = SubElement(suite, "testcase", classname=printable(classname, 200), name=printable(name, 200), time="0")
    if outcome:
        SubElement(case, outcome, message=printable(message, MAX_TEXT)).text = _lines(detail)
    return case


def _lines(text: str) -> str:
    return "\n".join(printable(line, MAX_TEXT) for line in text.split("\n"))
