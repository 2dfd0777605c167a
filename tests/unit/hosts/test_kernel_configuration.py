"""How a kernel was built, and where it counts the time of soft interrupts by that."""

from __future__ import annotations

import gzip
from collections.abc import Mapping

import pytest

from dunnage.hosts.kernel_configuration import accounting, configuration
from dunnage.hosts.machine_facts import machine_facts, read_here
from dunnage.model.accounting import ACCOUNTING, Accounting, accounting_of

TEXT = b"#\n# CONFIG_HZ_100 is not set\nCONFIG_HZ=250\nCONFIG_IRQ_TIME_ACCOUNTING=y\n"
PACKED = {"/proc/config.gz": gzip.compress(TEXT)}
TIMED = {"CONFIG_HZ": "250", "CONFIG_IRQ_TIME_ACCOUNTING": "y"}
UNTIMED = {"CONFIG_HZ": "250"}


@pytest.mark.parametrize(
    "files",
    [
        PACKED,
        {"/boot/config-6.1": TEXT},
        {"/lib/modules/6.1/config": TEXT},
        {"/proc/config.gz": b"rubbish", "/boot/config-6.1": TEXT},
        {"/proc/config.gz": PACKED["/proc/config.gz"][:-9], "/boot/config-6.1": TEXT},
    ],
)
def test_what_is_set_is_read_from_the_kernel_or_the_file_of_its_package(
    files: Mapping[str, bytes],
) -> None:
    assert configuration(files.get, "6.1") == TIMED


def test_the_file_of_another_kernel_tells_nothing() -> None:
    assert configuration({"/boot/config-6.2": TEXT}.get, "6.1") == {}


@pytest.mark.parametrize(
    ("configured", "parameters", "clock", "found"),
    [
        (UNTIMED, "quiet", "tsc", Accounting.CONTAINED),
        (UNTIMED, "", None, Accounting.CONTAINED),
        (TIMED, "quiet", "tsc", Accounting.BESIDE),
        (TIMED, "", "arch_sys_counter", Accounting.BESIDE),
        (TIMED, "quiet tsc=noirqtime", "tsc", Accounting.CONTAINED),
        (TIMED, "", "hpet", None),
        (TIMED, "", None, None),
        ({}, "", "tsc", None),
    ],
)
def test_a_kernel_that_times_soft_interrupts_counts_them_beside_processes(
    configured: Mapping[str, str], parameters: str, clock: str | None, found: Accounting | None
) -> None:
    assert accounting(configured, parameters, clock) is found


def test_it_is_a_fact_of_the_machine() -> None:
    clock = "/sys/devices/system/clocksource/clocksource0/current_clocksource"
    files = {**PACKED, "/proc/sys/kernel/osrelease": b"6.1\n", clock: b"tsc\n"}
    assert machine_facts(files.get)[ACCOUNTING] == "beside"
    assert machine_facts({**files, "/proc/cmdline": b"tsc=noirqtime\n"}.get)[ACCOUNTING] == (
        "contained"
    )
    nothing: Mapping[str, bytes] = {}
    assert machine_facts(nothing.get)[ACCOUNTING] is None


def test_the_kernel_here_is_read_or_not_known() -> None:
    assert read_here("/proc/no-such-file") is None
    assert machine_facts()[ACCOUNTING] in (*Accounting, None)


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ("contained", Accounting.CONTAINED),
        ("beside", Accounting.BESIDE),
        (None, Accounting.UNKNOWN),
        ("db-1: contained, db-2: beside", Accounting.UNKNOWN),
    ],
)
def test_machines_that_differ_or_do_not_tell_make_it_unknown(
    told: str | None, found: Accounting
) -> None:
    assert accounting_of({ACCOUNTING: told}) is found
    assert accounting_of({}) is Accounting.UNKNOWN
