"""The workflow that `wireproof new` writes."""

from __future__ import annotations

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

conformance:
  extends: .wireproof
  variables:
    WIREPROOF_SOURCE: git+https://github.com/OWNER/wireproof
    WIREPROOF_IMPL: ./{folder}{name}.toml
    WIREPROOF_BUDGET: ci
{extras}{build}"""
KINDS = ("github", "gitlab")


def text(kind: str, name: str, build: str, extras: str, folder: str = "") -> tuple[str, str]:
    """Where the workflow belongs in a repository, and what it says. `build` is a line for a shell, `extras` are those
    of the wheel; `folder`, which ends with a slash, is that of the manifest, "" for the root."""
    if kind == "gitlab":
        wanted = f"    WIREPROOF_EXTRAS: {extras}\n" if extras else ""
        before = f"  before_script:\n    - ({build})\n" if build else "  # before_script: build your program here\n"
        return ".gitlab-ci.yml", GITLAB.format(name=name, build=before, extras=wanted, folder=folder)
    wanted = f"          extras: {extras}\n" if extras else ""
    before = f"      - run: {build}" if build else "      # build your program here"
    path = f".github/workflows/{name if folder else 'conformance'}.yml"
    return path, GITHUB.format(name=name, build=before, extras=wanted, folder=folder)
