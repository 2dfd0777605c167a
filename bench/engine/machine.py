"""When and on what machine something is compared."""

from __future__ import annotations

import datetime

from dunnage.hosts.machine_facts import machine_facts


def today() -> str:
    """Today's date, the processors and the kernel, in one line."""
    machine = machine_facts()
    date = datetime.datetime.now(datetime.UTC).date().isoformat()
    return (
        f"{date}, {machine['cpu.count']} processors of {machine['cpu.model']}, "
        f"Linux {machine['kernel']}"
    )
