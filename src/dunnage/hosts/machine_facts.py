"""Facts about a machine that bear on a measurement, from files of its kernel."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

from dunnage.hosts.accelerator import accelerator
from dunnage.model.accelerator import ACCELERATOR
from dunnage.model.value import Scalar

_SYSTEM = "/sys/devices/system"


def read_here(path: str) -> str | None:
    """The text of a file of this machine; None if there is none."""
    file = Path(path)
    return file.read_text() if file.exists() else None


def machine_facts(
    read: Callable[[str], str | None] = read_here, architecture: str | None = None
) -> dict[str, Scalar]:
    """Hardware and kernel settings, of this machine or of one whose files are read otherwise.

    `architecture` is what to tell of a processor without a name; default: this machine's.
    """
    processors = read("/proc/cpuinfo") or ""
    memory = read("/proc/meminfo") or ""
    clock = read(f"{_SYSTEM}/clocksource/clocksource0/current_clocksource")
    return {
        "cpu.model": cpu_model(processors, architecture or platform.machine()),
        "cpu.count": len(re.findall(r"^processor\s*:", processors, re.MULTILINE)) or None,
        ACCELERATOR: accelerator(read),
        "cpu.governor": _stripped(read(f"{_SYSTEM}/cpu/cpu0/cpufreq/scaling_governor")),
        "memory.total": _kibibytes(memory, "MemTotal"),
        "memory.swap": _kibibytes(memory, "SwapTotal"),
        "memory.transparent_hugepages": _chosen(
            read("/sys/kernel/mm/transparent_hugepage/enabled")
        ),
        "kernel": _stripped(read("/proc/sys/kernel/osrelease")),
        "kernel.clocksource": _stripped(clock),
    }


def cpu_model(cpuinfo: str, architecture: str) -> str:
    """Name of the processor, or the architecture where the kernel tells no name."""
    named = re.search(r"^model name\s*:\s*(.+)$", cpuinfo, re.MULTILINE)
    return named[1].strip() if named else architecture


def _kibibytes(meminfo: str, name: str) -> int | None:
    """Bytes of a row such as `MemTotal:  1024 kB`; None where the kernel tells no such row."""
    row = re.search(rf"^{name}:\s*(\d+)", meminfo, re.MULTILINE)
    return int(row[1]) * 1024 if row else None


def _stripped(text: str | None) -> str | None:
    return text.strip() if text is not None else None


def _chosen(text: str | None) -> str | None:
    """The word in brackets, as in `always [madvise] never`."""
    word = re.search(r"\[(\w+)\]", text or "")
    return word[1] if word else None
