"""Facts about this machine and how a lab divides it."""

from __future__ import annotations

import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path

from dunnage.hosts.namespace.cores import Partition
from dunnage.hosts.namespace.network import InForce
from dunnage.model.study import TestbedSpec
from dunnage.model.value import Scalar

_SYSTEM = Path("/sys/devices/system")


def machine_facts() -> dict[str, Scalar]:
    """Hardware and kernel settings that bear on a measurement."""
    memory = Path("/proc/meminfo").read_text()
    return {
        "cpu.model": cpu_model(Path("/proc/cpuinfo").read_text()),
        "cpu.count": os.cpu_count(),
        "cpu.governor": _first_line(_SYSTEM / "cpu/cpu0/cpufreq/scaling_governor"),
        "memory.total": _kibibytes(memory, "MemTotal"),
        "memory.swap": _kibibytes(memory, "SwapTotal"),
        "memory.transparent_hugepages": _chosen(
            Path("/sys/kernel/mm/transparent_hugepage/enabled")
        ),
        "kernel": platform.release(),
        "kernel.clocksource": _first_line(_SYSTEM / "clocksource/clocksource0/current_clocksource"),
    }


def lab_facts(
    spec: TestbedSpec, partition: Partition, cgroups: int, in_force: Mapping[str, InForce]
) -> dict[str, Scalar]:
    """How the lab divides the machine, and what its network really has."""
    facts: dict[str, Scalar] = {
        "hosts.kind": "namespace",
        "hosts.cgroups": cgroups,
        "hosts.memory": None if spec.memory is None else int(spec.memory),
        "cores.apart": partition.apart,
        "cores.siblings_parted": partition.siblings_parted,
        "network.steer": spec.steer,
    }
    for group, cores in partition.groups.items():
        facts[f"cores.{group}"] = ",".join(map(str, cores))
    for host, interface in in_force.items():
        facts[f"network.{host}.mtu"] = interface.mtu
        facts[f"network.{host}.rps"] = interface.rps
    return facts


def cpu_model(cpuinfo: str) -> str:
    """Name of the processor, or the architecture where the kernel tells no name."""
    named = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return named[1].strip() if named else platform.machine()


def _kibibytes(meminfo: str, name: str) -> int | None:
    """Bytes of a row such as `MemTotal:  1024 kB`; None where the kernel tells no such row."""
    row = re.search(rf"^{name}:\s*(\d+)", meminfo, re.MULTILINE)
    return int(row[1]) * 1024 if row else None


def _first_line(path: Path) -> str | None:
    return path.read_text().strip() if path.exists() else None


def _chosen(path: Path) -> str | None:
    """The word in brackets, as in `always [madvise] never`."""
    line = _first_line(path)
    word = re.search(r"\[(\w+)\]", line or "")
    return word[1] if word else None
