"""Facts about a machine that bear on a measurement, from files of its kernel."""

from __future__ import annotations

import platform
import re
from collections.abc import Callable
from pathlib import Path

from dunnage.hosts.accelerator import accelerator
from dunnage.hosts.kernel_configuration import accounting, configuration
from dunnage.model.accelerator import ACCELERATOR
from dunnage.model.accounting import ACCOUNTING
from dunnage.model.value import Scalar

_SYSTEM = "/sys/devices/system"


def read_here(path: str) -> bytes | None:
    """The content of a file of this machine; None if there is none that this user may read."""
    try:
        return Path(path).read_bytes()
    except (FileNotFoundError, PermissionError):
        return None


def machine_facts(
    read: Callable[[str], bytes | None] = read_here, architecture: str | None = None
) -> dict[str, Scalar]:
    """Hardware and kernel settings, of this machine or of one whose files are read otherwise.

    `architecture` is what to tell of a processor without a name; default: this machine's.
    """

    def text(path: str) -> str | None:
        content = read(path)
        return None if content is None else content.decode(errors="replace")

    processors = text("/proc/cpuinfo") or ""
    memory = text("/proc/meminfo") or ""
    clock = _stripped(text(f"{_SYSTEM}/clocksource/clocksource0/current_clocksource"))
    release = _stripped(text("/proc/sys/kernel/osrelease"))
    configured = configuration(read, release) if release else {}
    return {
        "cpu.model": cpu_model(processors, architecture or platform.machine()),
        "cpu.count": len(re.findall(r"^processor\s*:", processors, re.MULTILINE)) or None,
        ACCELERATOR: accelerator(text),
        "cpu.governor": _stripped(text(f"{_SYSTEM}/cpu/cpu0/cpufreq/scaling_governor")),
        "memory.total": _kibibytes(memory, "MemTotal"),
        "memory.swap": _kibibytes(memory, "SwapTotal"),
        "memory.transparent_hugepages": _chosen(
            text("/sys/kernel/mm/transparent_hugepage/enabled")
        ),
        "kernel": release,
        "kernel.clocksource": clock,
        ACCOUNTING: accounting(configured, text("/proc/cmdline") or "", clock),
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
