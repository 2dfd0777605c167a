"""What each tier of the gate runs, stage by stage."""

from __future__ import annotations

import random
import sys
from collections.abc import Collection
from dataclasses import dataclass, replace
from enum import StrEnum

_OPTIONS = ("-p", "gate.plugin", "-q", "--no-header", "--continue-on-collection-errors")
PYTEST = (sys.executable, "-m", "pytest", *_OPTIONS)
TOOL = f"{sys.prefix}/bin/"
_CLIPPY = ("cargo", "clippy", "--locked", "--quiet", "--all-targets")
_WAITING = ("env", "RUST_TEST_THREADS=6")
"""Tests of the engine wait for most of their time: more of them at once than there are cores."""


class Kind(StrEnum):
    """How a stage tells what it found."""

    COMMAND = "command"
    """By its exit code: one check, which gives the same answer however often it is asked."""
    CARGO = "cargo"
    """By the lines of Rust's test runner."""
    PYTEST = "pytest"
    """Test by test, by the gate's own plugin."""
    COLLECTION = "collection"
    """By which tests pytest finds; none of them runs."""


class Machine(StrEnum):
    """What a stage needs of the machine while other gates work on it."""

    UNTOUCHED = "untouched"
    SHARED = "shared"
    """It has labs, beside those of others."""
    ALONE = "alone"
    """It judges how fast something is, or looks at a place that all labs share."""


@dataclass(frozen=True)
class Stage:
    """One command, and how long it may take at most before it is killed with all it started."""

    name: str
    argv: tuple[str, ...]
    minutes: float
    kind: Kind = Kind.COMMAND
    tests: tuple[str, ...] = ()
    """The tests of a pytest stage; where none are named, all that its command selects."""
    workers: int = 1
    """Processes that share the tests of a pytest stage."""
    together: bool = False
    """Whether the tests of a module or class stay together: what they share is made once."""
    again: bool = True
    """Whether tests that failed are tried once more; a claim that failed once does not hold."""
    machine: Machine = Machine.UNTOUCHED
    only_for: str = ""
    """The mark of the tests that need it; without one all do."""
    hogged: bool = False
    """Whether another process takes all the processor time that it can get meanwhile."""


_ENGINE = Stage("engine", ("make", "-s", "engine"), 25)
_TOOLS = Stage("tools", ("make", "-s", "tools"), 20)

_FIXTURES = (
    "tests/contract",
    "tests/end_to_end",
    "tests/end_to_end/damaged",
    "tests/unit/cli",
    "tests/unit/fakes",
    "tests/unit/kubelab",
    "tests/unit/nodes",
)
"""Directories with a `conftest.py` of their own: to mypy all of these are one module, so each is
checked by itself."""

CHECK = (
    Stage("format", (f"{TOOL}ruff", "format", "--check", "src", "tests", "bench", "gate"), 2),
    Stage("lint", (f"{TOOL}ruff", "check", "src", "tests", "bench", "gate"), 2),
    Stage("types", (f"{TOOL}mypy",), 10),
    *(
        Stage(f"types {each.rpartition('/')[2]}", (f"{TOOL}mypy", f"{each}/conftest.py"), 10)
        for each in _FIXTURES
    ),
    Stage("imports", (f"{TOOL}lint-imports", "--no-cache"), 5),
    Stage("rust format", ("cargo", "fmt", "--check"), 2),
    Stage("go format", ("make", "-s", "go-format"), 10),  # on a new machine this installs Go
    _ENGINE,  # on a new machine this installs what all of Rust needs
    Stage("rust lint", (*_CLIPPY, "--", "-D", "warnings"), 25),
    Stage("schema", (sys.executable, "-m", "dunnage", "schema", "--check", "schema"), 2),
    Stage("reference", (sys.executable, "-m", "dunnage.reference", "--check", "docs/reference"), 2),
)
"""Format, lint, types, import rules and what is generated."""

_PURE = Stage(
    "pure", (*PYTEST, "-m", "not live and not browser and not proof"), 20, Kind.PYTEST, workers=2
)
_BUILD = Stage("build", (*PYTEST, "-m", "build"), 60, Kind.PYTEST, only_for="kubernetes")
"""What live tests use and takes minutes to make on a new machine, before their time begins."""
_VM_TOOLS = Stage("vm tools", ("make", "-s", "vm-tools"), 80, only_for="vm")
"""An emulator, and the disk that it boots from, before the time of tests begins."""
_LIVE = Stage(
    "live",
    (*PYTEST, "-m", "(live or browser) and not (proof or quiet or build)"),
    40,
    Kind.PYTEST,
    workers=3,
    together=True,
    machine=Machine.SHARED,
)
_QUIET = Stage(
    "quiet", (*PYTEST, "-m", "quiet and not proof"), 20, Kind.PYTEST, machine=Machine.ALONE
)
"""Tests that have the machine to themselves."""

TEST = (
    *CHECK,
    _TOOLS,
    Stage(
        "rust tests",
        (*_WAITING, "cargo", "test", "--locked", "--quiet", "--no-fail-fast"),
        25,
        Kind.CARGO,
    ),
    _PURE,
    _BUILD,
    _LIVE,
    _QUIET,
)
"""Everything once; what is longer than its proof needs to be is in PROOFS."""

_PROOF = (*PYTEST, "-m", "proof")
COLLECTION = Stage("collection", (*_PROOF, "--collect-only"), 10, Kind.COLLECTION)
"""Which proofs there are."""
PREPARATIONS = (_ENGINE, _TOOLS, _BUILD, _VM_TOOLS)
"""What proofs need, as long as it is not made yet."""
PURE_PROOFS = Stage("proofs pure", _PROOF, 180, Kind.PYTEST, workers=2, again=False)
LIVE_PROOFS = Stage(
    "proofs live",
    _PROOF,
    300,
    Kind.PYTEST,
    workers=3,
    together=True,
    again=False,
    machine=Machine.SHARED,
)
QUIET_PROOFS = Stage("proofs quiet", _PROOF, 720, Kind.PYTEST, again=False, machine=Machine.ALONE)


def proving(marks: Collection[str]) -> Stage:
    """The stage of a proof that has these marks."""
    if "quiet" in marks:
        return QUIET_PROOFS
    return LIVE_PROOFS if {"live", "browser"} & set(marks) else PURE_PROOFS


PROOFS = (COLLECTION, *PREPARATIONS, PURE_PROOFS, LIVE_PROOFS, QUIET_PROOFS)
"""What takes long, or repeats in full what shorter tests show."""


ZONES = ("WEST+11", "EAST-14", "HALF-5:45")
"""Time zones of the hunt, as the `TZ` of POSIX, which needs no list of them."""


def _shuffled(stage: Stage, within: str, *, hogged: bool = False) -> Stage:
    """A stage with its tests in a fresh order, somewhere else; its name tells how it was."""
    seed = random.SystemRandom().randrange(10**6)
    zone = ZONES[seed % len(ZONES)]
    order = (f"--random-order-bucket={within}", f"--random-order-seed={seed}")
    argv = ("env", f"TZ={zone}", *stage.argv, *order)
    return replace(stage, name=f"{stage.name} {seed} {zone}", argv=argv, hogged=hogged)


HUNT = (
    _ENGINE,
    _TOOLS,
    *(_shuffled(_PURE, "global", hogged=True) for _ in range(10)),
    _BUILD,
    *(_shuffled(stage, "module") for _ in range(3) for stage in (_LIVE, _QUIET)),
)
"""What finds tests that pass by chance: again and again, in other orders, on a busy machine."""

TIERS = {"check": CHECK, "test": TEST, "proofs": PROOFS, "hunt": HUNT}
