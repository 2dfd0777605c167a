"""The machines that may be hosts: this one, and the hosts of the labs on it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from dunnage.contracts.cluster import Machine
from dunnage.errors import UnavailableError
from dunnage.hosts.standing import standing

_IDS = (Path("/etc/machine-id"), Path("/var/lib/dbus/machine-id"))
"""Files of a machine's id, in the order in which a kubelet reads them."""
_BOOT = Path("/proc/sys/kernel/random/boot_id")


def machines() -> Mapping[Machine, str]:
    """Machine → what it is called here. Labs are left out for who may not look into them."""
    own, boot = this_machine()
    found = {(own, boot): "this machine"}
    with suppress(UnavailableError):
        for lab in standing():
            for host in lab.hosts:
                shown = _read(lab.machine_id(host.name))
                found[shown, boot] = f"{host.name} of lab {lab.name}"
    return {machine: called for machine, called in found.items() if machine[0]}


def this_machine() -> Machine:
    """The machine that this process is on, as a kubelet would tell it."""
    return next(filter(None, map(_read, _IDS)), ""), _read(_BOOT)


def _read(file: Path) -> str:
    try:
        return file.read_text().strip()
    except OSError:
        return ""
