"""The workflow that `wireproof new` writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

GITHUB = """\
# Judges {name} for each change. Put the repository of Wireproof that you use in place of OWNER.
name: conformance
on: [push, pull_request]
permissions:
  contents: read
jobs:
  wireproof:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
{build}
      - uses: OWNER/wireproof@main
        with:
          impl: ./{folder}{name}.toml
          budget: ci
{extras}"""
GITLAB = """\
# Judges {name} for each change. Put the place of Wireproof that you use in place of OWNER, here and below.
include:
  - remote: https://raw.githubusercontent.com/OWNER/wireproof/main/templates/wireproof.gitlab-ci.yml

{job}:
  extends: .wireproof
  variables:
    WIREPROOF_SOURCE: git+https://github.com/OWNER/wireproof
    WIREPROOF_IMPL: ./{folder}{name}.toml
    WIREPROOF_BUDGET: ci
{extras}{build}"""
KINDS = ("github", "gitlab")
GITLAB_FILE = ".gitlab-ci.yml"
"""The only one that GitLab reads by itself."""


@dataclass(frozen=True)
class Workflow:
    """A workflow: its `path` from the root of the repository, its text, and what is still to be done with it."""

    path: str
    text: str
    told: str = ""


def workflow(kind: str, name: str, build: str, extras: str, folder: str, there: Callable[[str], bool]) -> Workflow:
    """The workflow of an implementation. `build` is a line for a shell, `extras` are those of the wheel; `folder`,
    which ends with a slash, is that of the manifest, "" for the root. `there` says which paths the repository has: one
    that has a workflow already gets another one beside it."""
    if kind == "gitlab":
        wanted = f"    WIREPROOF_EXTRAS: {extras}\n" if extras else ""
        before = f"  before_script:\n    - ({build})\n" if build else "  # before_script: build your program here\n"
        beside = there(GITLAB_FILE)
        path, job = (f".gitlab/{name}.yml", f"conformance-{name}") if beside else (GITLAB_FILE, "conformance")
        told = f"put `include: [{{local: {path}}}]` into the {GITLAB_FILE} that is there" if beside else ""
        text = GITLAB.format(name=name, build=before, extras=wanted, folder=folder, job=job)
        return Workflow(path, text, told)
    wanted = f"          extras: {extras}\n" if extras else ""
    before = f"      - run: {build}" if build else "      # build your program here"
    path = ".github/workflows/conformance.yml"
    path = f".github/workflows/{name}.yml" if folder or there(path) else path
    return Workflow(path, GITHUB.format(name=name, build=before, extras=wanted, folder=folder))
