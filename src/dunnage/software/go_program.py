"""What a program that Go built says of its making: its modules, their sums, and the settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Module:
    """A module as it was compiled: `version` as in `go.mod`, `sum` as in `go.sum`."""

    version: str
    sum: str


@dataclass(frozen=True)
class GoProgram:
    """What `go version -m` tells of one program."""

    go: str
    """The version of Go, without the word `go`."""
    modules: Mapping[str, Module]
    """By path, the program's own module too; one that was replaced has its replacement's data."""
    settings: Mapping[str, str]
    """Of the build: `-trimpath`, `GOAMD64`, …"""


def parse(said: str) -> GoProgram:
    """Read what `go version -m` says of one program; raises ValueError when it says nothing."""
    head, *lines = said.splitlines() or [""]
    _, found, go = head.rpartition(": go")
    if not found:
        raise ValueError(f"`go version -m` says nothing of a program: {head}")
    modules: dict[str, Module] = {}
    settings: dict[str, str] = {}
    path = ""
    for kind, *fields in (line.strip("\t").split("\t") for line in lines):
        if kind in ("mod", "dep"):
            path = fields[0]
        if kind in ("mod", "dep", "=>"):
            modules[path] = Module(fields[1], fields[2] if len(fields) > 2 else "")
        elif kind == "build":
            name, _, value = fields[0].partition("=")
            settings[name] = value
    return GoProgram(go.partition(" ")[0], modules, settings)
