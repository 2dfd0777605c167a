"""What carries out the processors of a machine, as its kernel shows it. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from dunnage.model.accelerator import NONE, TCG

_CLOCKS = "/sys/devices/system/clocksource/clocksource0/available_clocksource"
_HYPERVISOR = "/sys/hypervisor/type"
_VENDOR = "/sys/class/dmi/id/sys_vendor"
_OF_CLOCKS: Mapping[str, str] = {"kvm-clock": "KVM", "hyperv_clocksource": "Hyper-V", "xen": "Xen"}
"""How clocks begin that only guests of a hypervisor have, and that hypervisor."""
_OF_VENDORS: Mapping[str, str] = {
    "Microsoft": "Hyper-V",
    "QEMU": "QEMU",
    "VMware": "VMware",
    "innotek": "VirtualBox",
    "Xen": "Xen",
}
"""How vendors of virtual machines begin in the tables of the firmware (DMI), and what is behind."""
_OTHER = "unknown hypervisor"


def accelerator(read: Callable[[str], str | None]) -> str | None:
    """`none`, `TCG`, or the hypervisor's name; None where a kernel does not tell if it has one.

    `read` returns the text of a file, or None. `QEMU` may be its translator as well as KVM: QEMU
    says which only in the name of its processor `max`. Only kernels for x86 tell by a flag that
    they run on a hypervisor.
    """
    processors = read("/proc/cpuinfo") or ""
    if re.search(r"^model name\s*:.*\bTCG\b", processors, re.MULTILINE):
        return TCG
    kind = (read(_HYPERVISOR) or "").strip()
    if kind:
        return kind.capitalize()
    known = (_among(_OF_CLOCKS, clock) for clock in (read(_CLOCKS) or "").split())
    if found := next(filter(None, known), ""):
        return found
    flags = re.search(r"^flags\s*:(.*)$", processors, re.MULTILINE)
    if flags is None:
        return None
    if "hypervisor" not in flags[1].split():
        return NONE
    return _among(_OF_VENDORS, read(_VENDOR) or "") or _OTHER


def _among(known: Mapping[str, str], name: str) -> str:
    """What is known of a name by how it begins; empty where nothing is."""
    return next((each for begin, each in known.items() if name.startswith(begin)), "")
