"""What is said of the CPU time of an operation, beside its bars."""

from __future__ import annotations

from dunnage.findings.cpu.bars import part_title
from dunnage.findings.cpu.shares import NETWORK_SOFT, OUTSIDE
from dunnage.model.accounting import ACCOUNTING, Accounting
from dunnage.model.analysis import Analysis

_WHERE = (
    "Network soft interrupts are below the bars, where their packets arrived. The bridge joins the "
    "hosts of the lab and belongs to none. The time is elapsed time: it holds hard interrupts that "
    "came in between, time that a hypervisor took (the counter for stolen time tells how much), "
    "and what counting takes."
)
_KEPT = {
    Accounting.CONTAINED: "This kernel counts it for the process that was interrupted. So the "
    "parts contain it already, often those of another host.",
    Accounting.BESIDE: "This kernel counts it for no process (`CONFIG_IRQ_TIME_ACCOUNTING`). So "
    "the CPU time of no host contains it, and `cpu.database` lacks the work of receiving packets.",
    Accounting.UNKNOWN: "Whether the parts contain it is not known: this kernel does not tell "
    f"where it counts it (`{ACCOUNTING}` among the facts of the machine).",
}


def charged(analysis: Analysis) -> str:
    """How to read network soft interrupts; empty where there are none."""
    ours = (share for share in analysis.shares if share.part.startswith(NETWORK_SOFT))
    accounting = next((share.accounting for share in ours if share.accounting is not None), None)
    if accounting is None:
        return ""
    sentences = f"{_WHERE} {_KEPT[accounting]}"
    outside = any(share.part == OUTSIDE for share in analysis.shares)
    if accounting is Accounting.BESIDE and outside:
        return f"{sentences} It is in the part “{part_title(OUTSIDE)}”."
    return sentences
