"""What carries out a machine's processors, by what kernels say."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from dunnage.hosts.accelerator import accelerator
from dunnage.hosts.machine_facts import machine_facts
from dunnage.model.accelerator import is_emulated

CPU, CLOCKS = "/proc/cpuinfo", "/sys/devices/system/clocksource/clocksource0/available_clocksource"
KIND, VENDOR = "/sys/hypervisor/type", "/sys/class/dmi/id/sys_vendor"
XEON = "processor\t: 0\nmodel name\t: Intel(R) Xeon(R) Processor\nflags\t\t: fpu vme"
GUEST = {CPU: f"{XEON} hypervisor lahf_lm\n"}


def told(files: Mapping[str, str]) -> str | None:
    return accelerator(files.get)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({CPU: f"{XEON}\n", CLOCKS: "tsc hpet acpi_pm\n"}, "none"),
        ({**GUEST, CPU: GUEST[CPU].replace("Intel(R) Xeon(R)", "QEMU TCG CPU")}, "TCG"),
        ({**GUEST, CLOCKS: "kvm-clock tsc acpi_pm\n", VENDOR: "QEMU\n"}, "KVM"),
        ({**GUEST, CLOCKS: "hyperv_clocksource_tsc_page tsc\n"}, "Hyper-V"),
        ({**GUEST, CLOCKS: "xen tsc\n"}, "Xen"),
        ({**GUEST, KIND: "xen\n"}, "Xen"),
        ({**GUEST, CLOCKS: "tsc hpet\n", VENDOR: "QEMU\n"}, "QEMU"),
        ({**GUEST, VENDOR: "VMware, Inc.\n"}, "VMware"),
        ({**GUEST, VENDOR: "innotek GmbH\n"}, "VirtualBox"),
        (GUEST, "unknown hypervisor"),
    ],
)
def test_it_is_told_from_names_clocks_flags_and_firmware(
    files: Mapping[str, str], found: str
) -> None:
    assert told(files) == found


def test_a_vendor_of_virtual_machines_sells_real_ones_too() -> None:
    assert told({CPU: f"{XEON}\n", VENDOR: "Microsoft Corporation\n"}) == "none"


def test_a_kernel_without_flags_of_x86_does_not_tell() -> None:
    assert told({CPU: "processor\t: 0\nFeatures\t: fp asimd\n"}) is None
    assert told({}) is None


def test_a_name_that_only_holds_its_letters_is_not_that_of_the_translator() -> None:
    assert told({CPU: f"{XEON}\n".replace("Xeon", "MTCGX")}) == "none"


def test_it_is_one_of_the_facts_of_a_machine() -> None:
    files = {path: text.encode() for path, text in GUEST.items()}
    assert machine_facts(files.get)["cpu.accelerator"] == "unknown hypervisor"


def test_one_emulated_host_among_several_makes_an_environment_emulated() -> None:
    assert is_emulated({"cpu.accelerator": "TCG"})
    assert is_emulated({"cpu.accelerator": "db-1: none, db-2: TCG"})
    assert not is_emulated({"cpu.accelerator": "KVM"})
    assert not is_emulated({"cpu.accelerator": None})
    assert not is_emulated({})
