"""What each tier of the gate runs, stage by stage."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum

_OPTIONS = ("-p", "gate.plugin", "-q", "--no-header", "--continue-on-collection-errors")
PYTEST = (sys.executable, "-m", "pytest", *_OPTIONS)
TOOL = f"{sys.prefix}/bin/"
_CLIPPY = ("cargo", "clippy", "--release", "--locked", "--quiet", "--all-targets")


class Kind(StrEnum):
    """How a stage tells what it found."""

    COMMAND = "command"
    """By its exit code: one check, which gives the same answer however often it is asked."""
    CARGO = "cargo"
    """By the lines of Rust's test runner."""
    PYTEST = "pytest"
    """Test by test, by the gate's own plugin."""


@dataclass(frozen=True)
class Stage:
    """One command, and how long it may take at most before it is killed with all it started."""

    name: str
    argv: tuple[str, ...]
    minutes: float
    kind: Kind = Kind.COMMAND
    workers: int = 1
    """Processes that share the tests of a pytest stage."""


CHECK = (
    Stage("format", (f"{TOOL}ruff", "format", "--check", "src", "tests", "bench", "gate"), 2),
    Stage("lint", (f"{TOOL}ruff", "check", "src", "tests", "bench", "gate"), 2),
    Stage("types", (f"{TOOL}mypy",), 10),
    Stage("imports", (f"{TOOL}lint-imports", "--no-cache"), 5),
    Stage("rust format", ("cargo", "fmt", "--check"), 2),
    Stage("rust lint", (*_CLIPPY, "--", "-D", "warnings"), 25),
    Stage("engine", ("make", "-s", "engine"), 25),
    Stage("schema", (sys.executable, "-m", "dunnage", "schema", "--check", "schema"), 2),
    Stage("reference", (sys.executable, "-m", "dunnage.reference", "--check", "docs/reference"), 2),
)
"""Format, lint, types, import rules and what is generated."""

_SHORT = ("-m", "not live and not browser and not proof")
_LIVE = ("-m", "(live or browser) and not proof")

TEST = (
    *CHECK,
    Stage("tools", ("make", "-s", "tools"), 20),
    Stage(
        "rust tests",
        ("cargo", "test", "--release", "--locked", "--quiet", "--no-fail-fast"),
        25,
        Kind.CARGO,
    ),
    Stage("pure", (*PYTEST, *_SHORT), 20, Kind.PYTEST, workers=2),
    Stage("live", (*PYTEST, *_LIVE), 45, Kind.PYTEST),
)
"""Everything once; what is longer than its proof needs to be is in PROOFS."""

PROOFS = (
    Stage("engine", ("make", "-s", "engine"), 25),
    Stage("tools", ("make", "-s", "tools"), 20),
    Stage("proofs", (*PYTEST, "-m", "proof"), 180, Kind.PYTEST),
)
"""What takes long and repeats in full what shorter tests show."""

TIERS = {"check": CHECK, "test": TEST, "proofs": PROOFS}
