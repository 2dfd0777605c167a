"""Stays of Redis and of Java alone in a lab, and what is changed behind our back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from group_files import directory
from recorded import as_stay, recorded

from dunnage.contracts.host import Host
from dunnage.contracts.platform import Platform, RunningMember, Seen
from dunnage.contracts.software import SoftwareStore, Tree
from dunnage.contracts.substrate import Substrate
from dunnage.contracts.testbed import Testbed
from dunnage.findings.parity.compare import compare
from dunnage.hosts.control_groups.here import control_groups
from dunnage.model.deployment import Deployment
from dunnage.model.layout import Place, Service, Software
from dunnage.model.parity import Cause
from dunnage.model.record import StayRecord
from dunnage.model.study import Limits
from dunnage.platforms.docker import Docker
from dunnage.platforms.native import Native
from dunnage.runner.inspection import inspect
from dunnage.software.trees import DebianSoftware
from dunnage.wording.parity import sentence

TREES = DebianSoftware()

JAVA = Software("cassandra", "5.0")


@dataclass(frozen=True)
class Lab:
    testbed: Testbed
    substrate: Substrate

    @property
    def host(self) -> Host:
        return self.testbed.group("db")[0]


@contextmanager
def living(
    lab: Lab,
    deployment: Deployment,
    trees: SoftwareStore = TREES,
    change: Callable[[Service], Service] = lambda service: service,
) -> Iterator[tuple[Platform, Callable[[], StayRecord]]]:
    """A Redis, formed, and how to have its stay recorded as it is now."""
    make: type[Native | Docker] = Native if deployment.platform == "native" else Docker
    platform = make(deployment, (lab.host,), lab.substrate, trees, f"b1-{deployment.name}")
    with recorded(platform, deployment, lab.testbed.clock, change) as living:
        yield living


def undeclared(a: StayRecord, b: StayRecord) -> list[str]:
    """Everything that tells two stays apart when no factor is declared."""
    return [sentence(found) for found in compare(a, b, ()) if found.cause is Cause.UNDECLARED]


def caught(texts: list[str], *words: str) -> bool:
    return any(all(word in text for word in words) for text in texts)


MEBIBYTE = 2**20


@contextmanager
def rewritten(
    member: RunningMember, controller: str, one: Mapping[str, str], two: Mapping[str, str]
) -> Iterator[None]:
    """Other values in files of a member's control group, named as version 1 or 2 names them."""
    assert isinstance(member.process, Seen)
    group = directory(member.process.control_group, controller)
    named = one if control_groups().version == 1 else two
    values = {group / name: value for name, value in named.items()}
    before = {file: file.read_text().strip() for file in values}
    try:
        for file, value in values.items():
            file.write_text(value)
        yield
    finally:
        # The next stay has the same groups.
        for file, value in before.items():
            file.write_text(f"{value}\n")


# What a process says for itself of huge pages outlives its next program.
WITHOUT_HUGE_PAGES = """
import ctypes, os, sys
PR_SET_THP_DISABLE = 41
assert ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) == 0
os.execv(sys.argv[1], sys.argv[1:])
"""


@dataclass(frozen=True)
class Changed:
    """Trees that look like ours, at the same place, with one file that is another."""

    source: Path

    def tree(self, software: Software) -> Tree:
        return replace(TREES.tree(software), source=self.source)


REGISTRY = ":044B "
"""Port of Java's registry, 1099, as `/proc/net/tcp` has it."""


@contextmanager
def java(
    lab: Lab, name: str, *options: str, limits: Limits | None = None, tools: str = ""
) -> Iterator[StayRecord]:
    """A Java server, of nothing but Java itself, and what it says once it listens."""
    tree = TREES.tree(JAVA)
    lab.host.put_tree(tree.source, tree.prefix)
    home = f"{lab.host.scratch}/java"
    process = lab.host.start(
        [f"{tree.prefix}/bin/java", *options, "sun.rmi.registry.RegistryImpl"],
        unit=f"member-{name}",
        log=f"{home}/log",
        env={"LC_ALL": "C", **({"JAVA_TOOL_OPTIONS": tools} if tools else {})},
        limits=limits,
    )
    place = Place("java-1", "server", lab.host.name, home, home, tree.prefix, {})
    seen = Seen(process.pid, lab.host.control_group(f"member-{name}"))
    member = RunningMember("java-1", lab.host, seen)
    try:
        ends = time.monotonic() + 30.0
        while REGISTRY not in lab.host.run(["cat", "/proc/net/tcp", "/proc/net/tcp6"]).stdout:
            late = time.monotonic() > ends or process.poll() is not None
            assert not late, lab.host.get(f"{home}/log")
        yield as_stay(name, inspect(member, place, ()))
    finally:
        process.signal("KILL")
        process.wait(10.0)
        lab.host.remove(home)


@contextmanager
def replaced(lab: Lab, path: str) -> Iterator[None]:
    """Show the host another file at a path: the same with one more byte."""
    other = f"{lab.host.scratch}/other"
    script = 'cp -- "$1" "$2" && printf x >> "$2" && mount --bind -- "$2" "$1"'
    done = lab.host.run(["sh", "-c", script, "sh", path, other])
    try:
        assert done.code == 0, done.stderr
        yield
    finally:
        lab.host.run(["umount", path])
        lab.host.remove(other)
