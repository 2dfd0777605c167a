"""What carries out a machine's processors, a fact of every environment."""

from __future__ import annotations

from collections.abc import Mapping

from dunnage.model.value import Scalar

ACCELERATOR = "cpu.accelerator"
"""Name of the fact."""
NONE = "none"
"""The machine's own processors."""
TCG = "TCG"
"""QEMU's translator: no processor is there at all."""


def is_emulated(environment: Mapping[str, Scalar]) -> bool:
    """Whether a machine of an environment has emulated processors, as far as it is known."""
    return TCG in str(environment.get(ACCELERATOR))
