"""How a kernel was built, as it or its package tells, and what follows from it."""

from __future__ import annotations

import gzip
import re
import zlib
from collections.abc import Callable, Mapping

from dunnage.model.accounting import Accounting

_SET = re.compile(r"^(CONFIG_\w+)=(.*)$", re.MULTILINE)
_TIMED = "CONFIG_IRQ_TIME_ACCOUNTING"
_NOT_TIMED = "tsc=noirqtime"
"""The parameter of a kernel for x86 that leaves interrupts untimed all the same."""
_TIMING_CLOCKS = frozenset({"tsc", "arch_sys_counter"})
"""Clocks with which a kernel that can time interrupts does (`enable_sched_clock_irqtime`,
kernel/sched/cputime.c). With others it depends on what else the processor has."""


def configuration(read: Callable[[str], bytes | None], release: str) -> Mapping[str, str]:
    """What is set in the configuration of a kernel: name → value, such as `CONFIG_HZ` → `250`.

    `release` is as `uname -r` tells it. Empty where no configuration can be read.
    """
    packed = read("/proc/config.gz")
    if packed is not None:
        try:
            return _parsed(gzip.decompress(packed))
        except (OSError, EOFError, zlib.error):
            pass  # the file of its package may be whole
    for path in (f"/boot/config-{release}", f"/lib/modules/{release}/config"):
        if (plain := read(path)) is not None:
            return _parsed(plain)
    return {}


def accounting(
    configured: Mapping[str, str], parameters: str, clock: str | None
) -> Accounting | None:
    """Where a kernel counts the time of soft interrupts; None if that cannot be told.

    `parameters` are those that it was started with, `clock` its clock source.
    """
    if not configured:
        return None
    if configured.get(_TIMED) != "y" or _NOT_TIMED in parameters.split():
        return Accounting.CONTAINED
    return Accounting.BESIDE if clock in _TIMING_CLOCKS else None


def _parsed(content: bytes) -> Mapping[str, str]:
    return dict(_SET.findall(content.decode(errors="replace")))
