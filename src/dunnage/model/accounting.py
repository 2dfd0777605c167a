"""Whether the CPU time of processes contains soft interrupts, a fact of every environment."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

from dunnage.model.value import Scalar

ACCOUNTING = "kernel.soft_interrupts"
"""Name of the fact."""


class Accounting(StrEnum):
    """Where a kernel counts the time of soft interrupts."""

    CONTAINED = "contained"
    """In the time of the process that was interrupted, and so in that of its control group."""
    BESIDE = "beside"
    """Apart: the time of processes and control groups does not contain it."""
    UNKNOWN = "unknown"
    """The kernel does not tell, or hosts differ."""


def accounting_of(environment: Mapping[str, Scalar]) -> Accounting:
    """How all machines of an environment count."""
    told = environment.get(ACCOUNTING)
    return next((each for each in Accounting if each == told), Accounting.UNKNOWN)
