"""What parity found is readable without a manual."""

import pytest

from dunnage.report.differences import CAPABILITIES, readable, told

INHERENT = " (comes with the platform, cannot be avoided)"


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (
            "primary: limit capabilities: 000001ffffffffff, 00000000a80425fb",
            "primary: kernel capabilities: 14 where the baseline has 41 "
            "(lacks sys_admin, net_admin, sys_nice, ipc_lock and 23 more)",
        ),
        (
            "primary: limit seccomp: 0, 2",
            "primary: system-call filter (seccomp): off → on",
        ),
        ("primary: limit no_new_privileges: 0, 1", "primary: may gain privileges: yes → no"),
        ("primary: limit nofile: 1024, 1048576", "primary: limit nofile: 1024 → 1048576"),
        ("something else: a, b", "something else: a, b"),
    ],
)
def test_masks_and_modes_are_spelt_out(found: str, said: str) -> None:
    assert readable(found) == said


def test_capabilities_are_counted_by_bit() -> None:
    assert len(CAPABILITIES) == len(set(CAPABILITIES)) == 41
    assert CAPABILITIES[21] == "sys_admin"
    assert CAPABILITIES[40] == "checkpoint_restore"


def test_the_same_difference_of_two_deployments_is_told_once() -> None:
    found = told(
        [
            f"docker-host: primary: limit seccomp: 0, 2{INHERENT}",
            f"docker-bridge: primary: limit seccomp: 0, 2{INHERENT}",
            "docker-bridge: primary: argument 49: `-`, `x`",
        ]
    )
    assert [(each.sides, each.comes_with) for each in found] == [
        (("docker-host", "docker-bridge"), "platform"),
        (("docker-bridge",), ""),
    ]


def test_what_could_not_be_compared_is_marked_and_said_without_the_mark() -> None:
    text = "docker: primary: virtual machine: it does not answer (unknown, cannot be compared)"
    (found,) = told([text])
    assert found.what == "primary: virtual machine: it does not answer"
    assert (found.unknown, found.comes_with) == (True, "")
